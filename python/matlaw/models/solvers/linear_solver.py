"""What the linear solvers of an input file have in common. The solvers themselves are part of the runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from matlaw.models.context import Context

if TYPE_CHECKING:
    from matlaw.models.common.nonlinear_system import NonlinearSystem


class LinearSolver:
    """Base of the linear solvers.

    :cvar iterative: True for a Krylov solver
    """

    iterative: ClassVar[bool] = False

    def __init__(self, context: Context | None = None) -> None:
        self.name = context.name if context else type(self).__name__
        self.location = context.location if context else ""

    def check(self, system: NonlinearSystem) -> str:
        """Why the solver does not fit a system of equations; an empty text when it does."""
        return ""


def linear_solver(context: Context, option: str) -> LinearSolver | None:
    """The linear solver that an option names; None when it is not given.

    :raises InputFileError: there is no such object, or it is no linear solver
    """
    name = context.option(option)
    if not name:
        return None
    solver = context.object("Solvers", name, option)
    if not isinstance(solver, LinearSolver):
        raise context.error(f"'{name}' is not a linear solver", option)
    return solver
