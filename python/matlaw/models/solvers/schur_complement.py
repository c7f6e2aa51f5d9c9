"""Elimination of one group of unknowns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matlaw.models.context import Context
from matlaw.models.declaration import Option
from matlaw.models.registry import register
from matlaw.models.solvers.dense_lu import DenseLU
from matlaw.models.solvers.linear_solver import LinearSolver, linear_solver

if TYPE_CHECKING:
    from matlaw.models.common.nonlinear_system import NonlinearSystem


@register("SchurComplement", section="Solvers")
class SchurComplement(LinearSolver):
    r"""A direct solver that eliminates the primary group ``p`` of a system with two groups, ``p`` and ``s``.

    .. math::

        (A_{ss} - A_{sp} A_{pp}^{-1} A_{ps})\, x_s = b_s - A_{sp} A_{pp}^{-1} b_p, \qquad
        x_p = A_{pp}^{-1} (b_p - A_{ps} x_s)

    Where ``A_pp`` falls apart into uncoupled blocks (the grains of a polycrystal), a compiled law eliminates them one
    by one. Source: F. Zhang (ed.), The Schur Complement and Its Applications, chapter 0.

    :ivar residual_group: group of residuals that are the rows of ``A_pp``
    :ivar unknown_group: group of unknowns that are its columns
    """

    residual_primary_group = Option("int", "rows of the primary block", required=False, default="0")
    unknown_primary_group = Option("int", "columns of the primary block", required=False, default="0")
    primary_solver = Option("str", "solver of the primary block")
    schur_solver = Option("str", "solver of the Schur complement")

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        for option in ("residual_primary_group", "unknown_primary_group"):
            if context.option(option) not in (0, 1):
                raise context.error(f"expected 0 or 1, as there are two groups, got {context.option(option)}", option)
        self.residual_group: int = context.option("residual_primary_group")
        self.unknown_group: int = context.option("unknown_primary_group")
        for option in ("primary_solver", "schur_solver"):
            solver = linear_solver(context, option)
            if not isinstance(solver, DenseLU):
                raise context.error(
                    f"'{context.option(option)}' is a {type(solver).__name__}, but the two blocks of a SchurComplement "
                    "are assembled and solved with pivots, row by row; another solver within it saves nothing. Give a "
                    "DenseLU solver",
                    option,
                )

    def check(self, system: NonlinearSystem) -> str:
        """Why the solver does not fit a system of equations; an empty text when it does."""
        groups = system.groups
        if len(groups) != 2:
            return (
                f"it needs two groups of unknowns, separated by a semicolon, but '{system.name}' "
                f"({system.location}) has {len(groups)}"
            )
        return ""

    def primary(self, group_sizes: list[int]) -> tuple[range, range]:
        """Rows and columns of ``A_pp``.

        :param group_sizes: number of components of each of the two groups
        :raises ValueError: it is not square
        """
        starts = [0, group_sizes[0]]
        if group_sizes[self.residual_group] != group_sizes[self.unknown_group]:
            raise ValueError(
                f"the primary block of solver '{self.name}' ({self.location}) is not square: "
                f"{group_sizes[self.residual_group]} rows, {group_sizes[self.unknown_group]} columns"
            )
        size = group_sizes[self.unknown_group]
        first_row, first_column = starts[self.residual_group], starts[self.unknown_group]
        return range(first_row, first_row + size), range(first_column, first_column + size)
