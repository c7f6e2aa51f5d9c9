"""The tensors at the boundary of a graph."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import Any


@dataclass(frozen=True)
class Slot:
    """One tensor at the boundary of a graph.

    :ivar name: variable name, or what the tensor is
    :ivar shape: ``(*base, *sub_batch)``, without the batch axis
    :ivar sub_batch_ndim: how many of these are sub-batch axes
    :ivar shared: one value for all rows, whose batch axis has extent 1: a weight

    >>> Slot("stress", (6,)).size
    6
    """

    name: str
    shape: tuple[int, ...]
    sub_batch_ndim: int = 0
    shared: bool = False

    @property
    def sub_batch_shape(self) -> tuple[int, ...]:
        """Extents of the sub-batch axes."""
        return self.shape[len(self.shape) - self.sub_batch_ndim :]

    def site_axis(self, sites: int) -> int | None:
        """Position of the axis of sites: the first sub-batch axis, if that has the given extent, which is above 1."""
        axis = len(self.shape) - self.sub_batch_ndim
        return axis if sites > 1 and self.sub_batch_ndim and self.shape[axis] == sites else None

    def batched_shape(self, rows: Any) -> tuple[Any, ...]:
        """The shape with the batch axis, for so many rows."""
        return (*self.shape, 1 if self.shared else rows)

    @property
    def size(self) -> int:
        """Number of components."""
        return prod(self.shape)


def total_size(slots: Iterable[Slot]) -> int:
    """Number of components of all slots together."""
    return sum(slot.size for slot in slots)
