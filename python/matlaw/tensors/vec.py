"""Vectors."""

from __future__ import annotations

from matlaw.tensors.base import Tensor, align
from matlaw.tensors.functions import root
from matlaw.tensors.scalar import Scalar


class Vec(Tensor):
    """A batch of vectors of three components, ``(3, *sub_batch, B)``.

    >>> Vec.constant([3.0, 0.0, 4.0]).norm().data.tolist()
    [5.0]
    """

    __slots__ = ()
    base_shape = (3,)
    base_ndim = 1

    def inner(self, other: Vec) -> Scalar:
        """Dot product."""
        left, right, sub = align(self, other)
        return Scalar((left * right).sum(0), sub)

    def norm(self) -> Scalar:
        """Euclidean norm; its derivative at zero is zero."""
        return root(self.inner(self))
