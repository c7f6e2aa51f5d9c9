"""Crystal directions and planes."""

from __future__ import annotations

from matlaw.tensors.base import Tensor


class MillerIndex(Tensor):
    """A batch of Miller indices ``(h, k, l)``, ``(3, *sub_batch, B)``."""

    __slots__ = ()
    base_shape = (3,)
    base_ndim = 1
    integers = True
