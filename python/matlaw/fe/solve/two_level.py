"""A preconditioner with two levels: damped Jacobi on the mesh, a direct solve on a coarse background grid."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix, identity
from scipy.sparse.linalg import splu

#: nodes of the background grid, about; fewer for a small mesh
_COARSE_NODES = 400


class TwoLevelPreconditioner:
    """Symmetric: smoothing, coarse correction, smoothing.

    The coarse space are trilinear hat functions of a regular grid over the bounding box, one set per displacement
    component: it needs coordinates only, so any mesh will do.

    :param points: position of each unknown's node, ``(n, 3)``
    :param components: displacement component of each unknown, ``(n,)``
    """

    def __init__(self, points: np.ndarray, components: np.ndarray) -> None:
        self._prolongation = _hat_functions(points, components)
        self._restriction = self._prolongation.T.tocsr()
        self._smoothing: list[np.ndarray] = []
        start = np.random.default_rng(0).standard_normal(len(components))
        self._start = start / np.linalg.norm(start)

    def update(self, matrix: csr_matrix) -> None:
        """Take in new values of the matrix."""
        self._matrix = matrix
        diagonal = matrix.diagonal()
        inverse = 1.0 / np.where(diagonal > 0.0, diagonal, 1.0)
        largest = 1.15 * self._largest_eigenvalue(matrix, np.sqrt(inverse))
        # two Chebyshev steps on the upper part of the spectrum, as two damped Jacobi steps
        low, high = largest / 8.0, largest
        middle, radius = 0.5 * (high + low), 0.5 * (high - low)
        roots = [middle + radius * np.cos(np.pi * (2 * k + 1) / 4) for k in range(2)]
        self._smoothing = [inverse / root for root in roots]
        coarse = (self._restriction @ (matrix @ self._prolongation)).tocsc()
        # where the mesh is coarser than the grid, hats can depend on each other: keep the matrix regular
        coarse += 1e-10 * coarse.diagonal().max() * identity(coarse.shape[0], format="csc")
        self._coarse = splu(coarse, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.01)

    def _largest_eigenvalue(self, matrix: csr_matrix, scale: np.ndarray) -> float:
        """Largest eigenvalue of the diagonally scaled matrix by power iterations.

        They start from the same vector every time: a solve must not depend on the ones before it.
        """
        x = self._start
        largest = 1.0
        for _ in range(12):
            y = scale * (matrix @ (scale * x))
            largest = float(np.linalg.norm(y))
            x = y / largest
        return largest

    def apply(self, residual: np.ndarray) -> np.ndarray:
        """An approximate solution."""
        first, second = self._smoothing
        x = first * residual
        x += second * (residual - self._matrix @ x)
        left = residual - self._matrix @ x
        x += self._prolongation @ self._coarse.solve(self._restriction @ left)
        x += second * (residual - self._matrix @ x)
        x += first * (residual - self._matrix @ x)
        return x


def _hat_functions(points: np.ndarray, components: np.ndarray) -> csr_matrix:
    low, high = points.min(axis=0), points.max(axis=0)
    extent = np.where(high > low, high - low, 1.0)
    spacing = (np.prod(extent) / min(_COARSE_NODES, max(len(points) / 60.0, 8.0))) ** (1.0 / 3.0)
    cells = np.clip(np.round(extent / spacing).astype(int), 1, 40)
    scaled = (points - low) / extent * cells
    corner = np.minimum(scaled.astype(int), cells - 1)
    fraction = scaled - corner
    shape = cells + 1
    rows, columns, values = [], [], []
    for offset in np.ndindex(2, 2, 2):
        weight = np.prod(np.where(np.array(offset) == 1, fraction, 1.0 - fraction), axis=1)
        node = np.ravel_multi_index((corner + offset).T, shape)
        rows.append(np.arange(len(points)))
        columns.append(3 * node + components)
        values.append(weight)
    prolongation = csr_matrix(
        (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))),
        shape=(len(points), 3 * int(np.prod(shape))),
    )
    prolongation.eliminate_zeros()
    # hats that no unknown sees would make the coarse matrix singular
    return prolongation[:, np.flatnonzero(prolongation.getnnz(axis=0) > 0)].tocsr()
