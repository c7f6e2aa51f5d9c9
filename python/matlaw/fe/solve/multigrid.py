"""Smoothed aggregation multigrid (Vanek, Mandel and Brezina, 1996) as a preconditioner, by PyAMG."""

from __future__ import annotations

import numpy as np
import pyamg
from scipy.sparse import csr_matrix


class MultigridPreconditioner:
    """One symmetric V-cycle.

    Aggregation has to know what a smooth error looks like. For displacements these are the motions of a rigid body; for
    any other variable the constant.

    :param matrix: symmetric
    :param points: position of each unknown's node, ``(n, 3)``
    :param components: place of each unknown's variable among those of a node, ``(n,)``
    :param displacements: these places of the displacements
    """

    def __init__(
        self, matrix: csr_matrix, points: np.ndarray, components: np.ndarray, displacements: tuple[int, ...]
    ) -> None:
        smooth = near_null_space(points, components, displacements)
        self._levels = pyamg.smoothed_aggregation_solver(
            matrix,
            B=smooth,
            strength=("symmetric", {"theta": 0.0}),
            smooth=("jacobi", {"omega": 4.0 / 3.0, "weighting": "local"}),
            presmoother=("gauss_seidel", {"sweep": "symmetric"}),
            postsmoother=("gauss_seidel", {"sweep": "symmetric"}),
            max_coarse=500,
            coarse_solver="splu",
        )
        self._operator = self._levels.aspreconditioner(cycle="V")

    def apply(self, residual: np.ndarray) -> np.ndarray:
        """An approximate solution."""
        return np.asarray(self._operator.matvec(residual))


def near_null_space(points: np.ndarray, components: np.ndarray, displacements: tuple[int, ...]) -> np.ndarray:
    """Rigid motions of the displacements and constants of all other variables, ``(n, modes)``."""
    centred = points - points.mean(axis=0)
    scale = max(float(np.abs(centred).max()), 1e-300)
    x = centred / scale
    modes = [(components == place).astype(float) for place in dict.fromkeys(components.tolist())]
    for a in range(len(displacements)):
        for b in range(a + 1, len(displacements)):
            turn = np.where(components == displacements[a], x[:, b], 0.0)
            modes.append(turn - np.where(components == displacements[b], x[:, a], 0.0))
    return np.stack(modes, axis=1)
