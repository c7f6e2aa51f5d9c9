"""Preconditioners of the iterative linear solvers: which blocks of the matrix they invert."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from matlaw.models.context import Context
from matlaw.models.registry import register


class Preconditioner:
    """Base of the preconditioners: ``M`` is made of square blocks on the diagonal of ``A``.

    A block that is singular in a row of the batch preconditions nothing there.
    """

    def __init__(self, context: Context | None = None) -> None:
        self.name = context.name if context else type(self).__name__
        self.location = context.location if context else ""

    def blocks(self, sizes: Sequence[int]) -> list[tuple[int, int]]:
        """First component and size of each block.

        :param sizes: number of components of each unknown
        """
        raise NotImplementedError


@register("NoPreconditioner", section="Solvers")
class NoPreconditioner(Preconditioner):
    """No preconditioner: ``M = I``."""

    def blocks(self, sizes: Sequence[int]) -> list[tuple[int, int]]:
        """None."""
        return []


@register("JacobiPreconditioner", section="Solvers")
class JacobiPreconditioner(Preconditioner):
    """The diagonal of the matrix.

    >>> JacobiPreconditioner().blocks([2, 1])
    [(0, 1), (1, 1), (2, 1)]
    """

    def blocks(self, sizes: Sequence[int]) -> list[tuple[int, int]]:
        """One for each component."""
        return [(k, 1) for k in range(sum(sizes))]


@register("BlockJacobiPreconditioner", section="Solvers")
class BlockJacobiPreconditioner(Preconditioner):
    """The block on the diagonal of each unknown.

    >>> BlockJacobiPreconditioner().blocks([2, 1])
    [(0, 2), (2, 1)]
    """

    def blocks(self, sizes: Sequence[int]) -> list[tuple[int, int]]:
        """One for each unknown."""
        return list(zip(accumulate(sizes, initial=0), sizes, strict=False))


@register("FullPreconditioner", section="Solvers")
class FullPreconditioner(Preconditioner):
    """The matrix itself. Together with a cache strategy that is a modified Newton method: decompose once, use often.

    >>> FullPreconditioner().blocks([2, 1])
    [(0, 3)]
    """

    def blocks(self, sizes: Sequence[int]) -> list[tuple[int, int]]:
        """A single one."""
        return [(0, sum(sizes))]
