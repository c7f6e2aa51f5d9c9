"""Preconditioned conjugate gradients that notice when they are not applicable."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_matrix


def conjugate_gradients(
    matrix: csr_matrix,
    right: np.ndarray,
    precondition: Callable[[np.ndarray], np.ndarray],
    tolerance: float,
    max_iterations: int,
) -> tuple[np.ndarray, int] | None:
    """Solve a symmetric positive definite system.

    :param tolerance: on the residual's norm, relative to that of ``right``
    :returns: the solution and the iterations; None when a direction of no positive curvature is met or
        the iterations do not suffice
    """
    x = np.zeros_like(right)
    residual = right.copy()
    goal = tolerance * np.linalg.norm(right)
    if np.linalg.norm(residual) <= goal:
        return x, 0
    z = precondition(residual)
    direction = z.copy()
    rho = float(residual @ z)
    for iteration in range(1, max_iterations + 1):
        product = matrix @ direction
        curvature = float(direction @ product)
        if not curvature > 0.0 or not rho > 0.0:
            return None
        step = rho / curvature
        x += step * direction
        residual -= step * product
        if np.linalg.norm(residual) <= goal:
            return x, iteration
        z = precondition(residual)
        rho, rho_old = float(residual @ z), rho
        direction *= rho / rho_old
        direction += z
    return None
