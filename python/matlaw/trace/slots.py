"""The tensors at the boundary of a graph."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod


@dataclass(frozen=True)
class Slot:
    """One tensor at the boundary of a graph.

    :ivar name: variable name, or what the tensor is
    :ivar shape: ``(*base, *sub_batch)``, without the batch axis

    >>> Slot("stress", (6,)).size
    6
    """

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of components."""
        return prod(self.shape)


def total_size(slots: Iterable[Slot]) -> int:
    """Number of components of all slots together."""
    return sum(slot.size for slot in slots)
