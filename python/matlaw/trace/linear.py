"""How the linear systems of an implicit segment are solved: what the runtime and metadata.json are told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from matlaw.errors import CompileError
from matlaw.models.solvers import Krylov, LinearSolver, SchurComplement

if TYPE_CHECKING:
    from matlaw.models import NonlinearSystem

#: Rows and columns of a square part of a matrix, by number.
Block = tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True)
class LinearSolve:
    """A linear solver applied to a system.

    :ivar primary: rows and columns that a direct solver eliminates first; None for one dense system
    :ivar elimination: the uncoupled blocks that these fall into; a single one when nothing is known of the matrix. Of
        a dense system the parts that do not touch each other, all of it, if there are such
    :ivar krylov: settings of an iterative solver; None for a direct one
    :ivar preconditioner: first component and size of the blocks that precondition an iterative solver
    """

    primary: tuple[range, range] | None = None
    elimination: tuple[Block, ...] = ()
    krylov: dict[str, Any] | None = field(default=None)
    preconditioner: tuple[tuple[int, int], ...] = ()

    @property
    def kind(self) -> str:
        """``direct`` or ``krylov``."""
        return "direct" if self.krylov is None else "krylov"

    def as_options(self) -> dict[str, Any]:
        """Arguments of ``matlaw._core.newton`` and ``matlaw._core.solve_linear``."""
        return {
            "elimination": self.elimination,
            "krylov": self.krylov,
            "preconditioner_blocks": self.preconditioner,
        }

    def structure_entry(self) -> dict[str, Any]:
        """The blocks as metadata.json has them; nothing where there are none."""
        entry: dict[str, Any] = {}
        if self.elimination:
            entry["elimination"] = [{"rows": list(r), "columns": list(c)} for r, c in self.elimination]
        if self.preconditioner:
            entry["preconditioner"] = [{"offset": offset, "size": size} for offset, size in self.preconditioner]
        return entry


def linear_solve(
    solver: LinearSolver, system: NonlinearSystem, pattern: Sequence[Sequence[bool]] | None = None
) -> LinearSolve:
    """A linear solver applied to a system of equations.

    :param solver: the solver
    :param system: the equations, whose variables have their final shapes
    :param pattern: which entries ``[row][column]`` of the matrix may differ from zero; None: all
    :raises CompileError: the solver does not fit the system
    """
    sizes = {name: variable.size for name, variable in system.unknown_variables.items()}
    if isinstance(solver, Krylov):
        blocks = solver.preconditioner.blocks(list(sizes.values()))
        return LinearSolve(krylov=solver.settings(), preconditioner=tuple(blocks))
    if not isinstance(solver, SchurComplement):
        return LinearSolve(elimination=_separate(sum(sizes.values()), pattern))
    try:
        rows, columns = solver.primary([sum(sizes[name] for name in group) for group in system.groups])
    except ValueError as e:
        raise CompileError(str(e)) from e
    whole: Block = (tuple(rows), tuple(columns))
    blocks_ = uncoupled(whole, pattern) if pattern is not None else (whole,)
    return LinearSolve(primary=(rows, columns), elimination=blocks_)


#: From so many unknowns on a matrix is looked at for parts that do not touch each other.
_WORTH_SEPARATING = 8


def _separate(n: int, pattern: Sequence[Sequence[bool]] | None) -> tuple[Block, ...]:
    """The parts that a whole matrix falls into, such as the grains of a polycrystal; none where it hardly does."""
    if pattern is None or n < _WORTH_SEPARATING:
        return ()
    parts = uncoupled((tuple(range(n)), tuple(range(n))), pattern)
    return parts if max(len(rows) for rows, _ in parts) <= n // 2 else ()


def uncoupled(block: Block, pattern: Sequence[Sequence[bool]]) -> tuple[Block, ...]:
    """The parts that a square block of a matrix falls into, as rows and columns can be sorted.

    :param block: rows and columns
    :param pattern: which entries ``[row][column]`` of the whole matrix may differ from zero
    :returns: the parts, each square; the block itself when it has a row or column of zeros or a part that is not square
        (it is singular then, and one solve says so)

    >>> uncoupled(((0, 1), (0, 1)), [[True, False], [False, True]])
    (((0,), (0,)), ((1,), (1,)))
    """
    rows, columns = block
    parent = list(range(len(rows) + len(columns)))

    def root(k: int) -> int:
        while parent[k] != k:
            parent[k] = parent[parent[k]]
            k = parent[k]
        return k

    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            if pattern[row][column]:
                parent[root(i)] = root(len(rows) + j)
    parts: dict[int, tuple[list[int], list[int]]] = {}
    for i, row in enumerate(rows):
        parts.setdefault(root(i), ([], []))[0].append(row)
    for j, column in enumerate(columns):
        parts.setdefault(root(len(rows) + j), ([], []))[1].append(column)
    if any(len(r) != len(c) for r, c in parts.values()):
        return (block,)
    return tuple((tuple(r), tuple(c)) for r, c in parts.values())
