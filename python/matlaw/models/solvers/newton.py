"""What an input file says of a Newton solver. The solver itself is part of the runtime."""

from __future__ import annotations

from typing import Any

from matlaw.models.context import Context
from matlaw.models.declaration import Option
from matlaw.models.registry import register
from matlaw.models.solvers.dense_lu import DenseLU
from matlaw.models.solvers.line_search import LineSearch
from matlaw.models.solvers.linear_solver import LinearSolver, linear_solver


@register("Newton", section="Solvers")
class Newton:
    """Newton's method: a row has converged when ``|r| < abs_tol`` or ``|r| < rel_tol |r0|``.

    :ivar abs_tol: tolerance for the norm of a row's residual
    :ivar rel_tol: tolerance for that norm relative to the initial one
    :ivar max_its: largest number of iterations
    :ivar substep_del_tol: a row converges by ``rel_tol`` only after a step ``|du| < substep_del_tol (|u| + abs_tol)``:
        it has settled, and is not just below a huge initial residual. Without substepping the square root of this will
        do where the residual fell to a hundredth in that step, for Newton's method then converges quadratically
    :ivar linear_solver: how the linear systems are solved
    :ivar line_search: how far a row goes along its step; here always all of it
    """

    linear_solver_ = Option("str", "the linear solver", required=False)
    abs_tol_ = Option("float", "absolute tolerance", required=False, default="1e-10")
    rel_tol_ = Option("float", "relative tolerance", required=False, default="1e-08")
    max_its_ = Option("int", "largest number of iterations", required=False, default="25")
    substep_del_tol_ = Option(
        "float",
        "rel_tol counts only after a Newton step below this, relative to the unknowns",
        required=False,
        default="1e-06",
    )

    def __init__(self, context: Context) -> None:
        self.name = context.name
        self.location = context.location
        self.abs_tol: float = context.option("abs_tol")
        self.rel_tol: float = context.option("rel_tol")
        self.max_its: int = context.option("max_its")
        for option in ("abs_tol", "rel_tol", "max_its"):
            if not context.option(option) >= 0:
                raise context.error(f"expected a number that is not negative, got {context.option(option)}", option)
        self.substep_del_tol: float = context.option("substep_del_tol")
        if not self.substep_del_tol > 0:
            raise context.error(f"expected a number above 0, got {self.substep_del_tol}", "substep_del_tol")
        self.linear_solver: LinearSolver = linear_solver(context, "linear_solver") or DenseLU()
        self.line_search = LineSearch()

    def as_config(self) -> dict[str, Any]:
        """Under the names that the runtime has for these settings."""
        return {
            "atol": float(self.abs_tol),
            "rtol": float(self.rel_tol),
            "miters": int(self.max_its),
            **self.line_search.as_config(),
            "substep_del_tol": float(self.substep_del_tol),
        }
