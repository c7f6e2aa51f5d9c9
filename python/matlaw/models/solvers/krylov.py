"""Iterative linear solvers that never assemble the matrix of a Newton step."""

from __future__ import annotations

from typing import Any, ClassVar

from matlaw.models.context import Context
from matlaw.models.declaration import Option
from matlaw.models.registry import register
from matlaw.models.solvers.linear_solver import LinearSolver
from matlaw.models.solvers.preconditioners import NoPreconditioner, Preconditioner

CACHE_STRATEGIES = ("none", "chord", "max_its")


class Krylov(LinearSolver):
    """Base of the iterative solvers: a row of ``A x = b`` is solved when ``|b - A x|`` has fallen to a tolerance.

    A row that uses up its iterations, or gains nothing any more while its residual is large, does not converge.

    :ivar max_its: most iterations of one solve
    :ivar abs_tol: absolute tolerance; 0 for none
    :ivar rel_tol: tolerance relative to ``|b|``
    :ivar preconditioner: which part of ``A`` preconditions, from the right
    :ivar cache_strategy: when it is built: in every Newton iteration (``none``), in the first one only (``chord``), or
        after a solve of more than ``cache_max_its`` iterations (``max_its``)
    """

    iterative = True
    method: ClassVar[str]

    max_its_ = Option("int", "most iterations in a Newton step", required=False, default="1000")
    abs_tol_ = Option("float", "absolute tolerance, 0 for none", required=False, default="0.0")
    rel_tol_ = Option("float", "tolerance relative to the right-hand side", required=False, default="0.0001")
    preconditioner_ = Option("str", "the preconditioner", required=False)
    cache_strategy_ = Option(
        "str", "when the preconditioner is built again", required=False, default="none", choices=CACHE_STRATEGIES
    )
    cache_max_its_ = Option(
        "int", "iterations after which strategy max_its builds it again", required=False, default="10"
    )

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.max_its: int = self._at_least(context, "max_its", 1)
        self.abs_tol: float = self._at_least(context, "abs_tol", 0)
        self.rel_tol: float = self._at_least(context, "rel_tol", 0)
        if not self.rel_tol < 1:
            raise context.error(f"expected a number below 1, got {self.rel_tol}", "rel_tol")
        if self.rel_tol == 0 and self.abs_tol == 0:
            raise context.error("abs_tol and rel_tol cannot both be 0", "rel_tol")
        self.cache_strategy: str = context.option("cache_strategy")
        if self.cache_strategy not in CACHE_STRATEGIES:
            raise context.unknown("cache strategy", self.cache_strategy, list(CACHE_STRATEGIES), "cache_strategy")
        self.cache_max_its: int = self._at_least(context, "cache_max_its", 0)
        name = context.option("preconditioner")
        preconditioner = context.object("Solvers", name, "preconditioner") if name else NoPreconditioner()
        if not isinstance(preconditioner, Preconditioner):
            raise context.error(f"'{name}' is not a preconditioner", "preconditioner")
        self.preconditioner: Preconditioner = preconditioner
        self.restart = 40

    @staticmethod
    def _at_least(context: Context, option: str, least: int) -> Any:
        value = context.option(option)
        if not least <= value < float("inf"):
            raise context.error(f"expected a number of {least} or more, got {value}", option)
        return value

    def settings(self) -> dict[str, Any]:
        """Under the names that the runtime and metadata.json have for them."""
        return {
            "method": self.method,
            "restart": self.restart,
            "max_its": self.max_its,
            "abs_tol": float(self.abs_tol),
            "rel_tol": float(self.rel_tol),
            "cache_strategy": self.cache_strategy,
            "cache_max_its": self.cache_max_its,
        }


@register("GMRES", section="Solvers")
class GMRES(Krylov):
    """Restarted GMRES. Source: Y. Saad and M. H. Schultz, SIAM J. Sci. Stat. Comput. 7 (1986) 856.

    :ivar restart: size of the basis after which it starts anew
    """

    method = "gmres"
    restart_ = Option("int", "size of the basis after which it starts anew", required=False, default="40")

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.restart = self._at_least(context, "restart", 1)


@register("BiCGStab", section="Solvers")
class BiCGStab(Krylov):
    """BiCGStab. Source: H. A. van der Vorst, SIAM J. Sci. Stat. Comput. 13 (1992) 631."""

    method = "bicgstab"
