"""Second-order tensors."""

from __future__ import annotations

from typing import Any, overload

import torch

from matlaw.tensors.base import Tensor, align, contract
from matlaw.tensors.functions import root
from matlaw.tensors.mandel import R2_TO_MANDEL
from matlaw.tensors.scalar import Scalar
from matlaw.tensors.sr2 import SR2
from matlaw.tensors.vec import Vec


class R2(Tensor):
    """A batch of 3x3 matrices, ``(3, 3, *sub_batch, B)``.

    >>> (2.0 * R2.identity()).trace().data.tolist()
    [6.0]
    """

    __slots__ = ()
    base_shape = (3, 3)
    base_ndim = 2

    @classmethod
    def identity(cls, *, dtype: torch.dtype = torch.float64, device: torch.device | str = "cpu") -> R2:
        """The identity, batch extent 1."""
        return cls.constant([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], dtype=dtype, device=device)

    @property
    def T(self) -> R2:
        """Transpose."""
        return R2(self.data.transpose(0, 1), self.sub_batch_ndim)

    def trace(self) -> Scalar:
        """Sum of the diagonal."""
        return Scalar(self.data[0, 0] + self.data[1, 1] + self.data[2, 2], self.sub_batch_ndim)

    def inner(self, other: R2) -> Scalar:
        """Double contraction ``A_ij B_ij``."""
        left, right, sub = align(self, other)
        return Scalar((left * right).sum((0, 1)), sub)

    def norm(self) -> Scalar:
        """Frobenius norm; its derivative at zero is zero."""
        return root(self.inner(self))

    def to_SR2(self) -> SR2:
        """Symmetric part in Mandel components."""
        return SR2(contract(R2_TO_MANDEL, self, 2), self.sub_batch_ndim)

    @overload
    def __matmul__(self, other: R2) -> R2: ...
    @overload
    def __matmul__(self, other: Vec) -> Vec: ...
    def __matmul__(self, other: Any) -> Any:
        if not isinstance(other, R2 | Vec):
            return NotImplemented
        left, right, sub = align(self, other)
        if isinstance(other, Vec):
            return Vec((left * right).sum(1), sub)
        return R2((left.unsqueeze(2) * right).sum(1), sub)
