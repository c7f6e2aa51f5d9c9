"""The batch axes of a call, for models whose rows depend on each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matlaw.models.model import Model


@dataclass(frozen=True)
class BatchAxes:
    """What a call has for batch axes. Models see them as one, the last.

    :ivar shape: their extents
    :ivar reduced: the axis that each model reduces
    """

    shape: tuple[int, ...]
    reduced: Mapping[Model, int]


_axes: ContextVar[BatchAxes | None] = ContextVar("matlaw batch axes", default=None)


@contextmanager
def call_with(axes: BatchAxes) -> Iterator[None]:
    """Within this, models are evaluated for a batch with these axes."""
    token = _axes.set(axes)
    try:
        yield
    finally:
        _axes.reset(token)


def batch_axes() -> BatchAxes | None:
    """The batch axes of the call, or None where a model is evaluated by itself: its rows are one axis then."""
    return _axes.get()
