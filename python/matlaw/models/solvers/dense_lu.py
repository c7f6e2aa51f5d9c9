"""Dense LU decomposition with partial pivoting."""

from __future__ import annotations

from matlaw.models.registry import register
from matlaw.models.solvers.linear_solver import LinearSolver


@register("DenseLU", section="Solvers")
class DenseLU(LinearSolver):
    """A direct solver for the dense linear system of each row."""
