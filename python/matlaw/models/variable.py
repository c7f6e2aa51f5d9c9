"""What a model says of a variable at its boundary."""

from __future__ import annotations

from dataclasses import dataclass

from matlaw.tensors import Tensor


@dataclass(frozen=True)
class Variable:
    """A variable: its tensor type and the extents of its sub-batch axes."""

    type: type[Tensor]
    sub_batch_shape: tuple[int, ...] = ()

    @property
    def sub_batch_ndim(self) -> int:
        """Number of sub-batch axes."""
        return len(self.sub_batch_shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """``(*base, *sub_batch)``."""
        return (*self.type.base_shape, *self.sub_batch_shape)

    @property
    def size(self) -> int:
        """Number of components of one row."""
        size = 1
        for extent in self.shape:
            size *= extent
        return size


def old(name: str) -> str:
    """The name of a variable's value at the previous accepted step.

    >>> old("plastic_strain")
    'plastic_strain~1'
    """
    return f"{name}~1"


def newer(name: str) -> str | None:
    """The variable whose value an old value had one step later; None when it is no old value.

    >>> newer("strain~2"), newer("strain~1"), newer("strain")
    ('strain~1', 'strain', None)
    """
    current, _, age = name.rpartition("~")
    if not current or not age.isdecimal() or int(age) < 1:
        return None
    return current if int(age) == 1 else f"{current}~{int(age) - 1}"
