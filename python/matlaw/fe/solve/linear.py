"""One linear solve: direct, or for large systems by conjugate gradients with multigrid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import splu

from matlaw.fe.solve.conjugate_gradients import conjugate_gradients

#: by dimension: systems with more unknowns go to conjugate gradients first
DIRECT_LIMIT = {2: 40000, 3: 4000}


class SingularSystemError(Exception):
    """The matrix is singular, or the solution is not finite."""


@dataclass
class LinearSolution:
    """What a linear solve gave.

    :ivar x: the solution
    :ivar iterations: linear iterations (1 for a direct solve)
    """

    x: np.ndarray
    iterations: int


class LinearSolver:
    """Solves with the same pattern again and again.

    :param points: position of each unknown's node, ``(n, 3)``
    :param components: place of each unknown's variable among those of a node, ``(n,)``
    :param displacements: these places of the displacements
    :param tolerance: relative tolerance of the iterative solve (MOOSE's ``l_tol``)
    :param max_iterations: MOOSE's ``l_max_its``
    """

    def __init__(
        self,
        points: np.ndarray,
        components: np.ndarray,
        displacements: tuple[int, ...] = (),
        tolerance: float = 1e-5,
        max_iterations: int = 10000,
    ) -> None:
        self._points = points
        self._components = components
        self._tolerance = tolerance
        self._max_iterations = max_iterations
        self._displacements = displacements
        self.iterative = len(components) > DIRECT_LIMIT[2 if not np.any(np.diff(points[:, 2])) else 3]

    def solve(self, matrix: csr_matrix, right: np.ndarray) -> LinearSolution:
        """The solution of ``matrix x = right``.

        A matrix that is not symmetric positive definite makes conjugate gradients give up, and the direct solver takes
        over.

        :raises SingularSystemError: the system cannot be solved
        """
        if self.iterative and _symmetric(matrix):
            from matlaw.fe.solve.multigrid import MultigridPreconditioner  # PyAMG takes a while to import

            multigrid = MultigridPreconditioner(matrix, self._points, self._components, self._displacements)
            solution = conjugate_gradients(
                matrix, right, multigrid.apply, self._tolerance, min(self._max_iterations, 1000)
            )
            if solution is not None:
                return LinearSolution(*solution)
        try:
            x = splu(matrix.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.01).solve(right)
        except (RuntimeError, ValueError) as error:
            raise SingularSystemError("the tangent matrix is singular") from error
        if not np.all(np.isfinite(x)):
            raise SingularSystemError("the tangent matrix is singular")
        return LinearSolution(x, 1)


def _symmetric(matrix: csr_matrix) -> bool:
    """Symmetric to rounding, judged by the action on one vector and its transpose."""
    probe = np.cos(np.arange(matrix.shape[0], dtype=float))
    forward, backward = matrix @ probe, matrix.T @ probe
    return bool(np.linalg.norm(forward - backward) <= 1e-9 * np.linalg.norm(forward))
