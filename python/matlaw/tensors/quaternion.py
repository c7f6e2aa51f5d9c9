"""Quaternions."""

from __future__ import annotations

from matlaw.tensors.base import Tensor


class Quaternion(Tensor):
    """A batch of quaternions ``(w, x, y, z)``, ``(4, *sub_batch, B)``."""

    __slots__ = ()
    base_shape = (4,)
    base_ndim = 1
