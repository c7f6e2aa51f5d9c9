"""Symmetric second-order tensors in Mandel components."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from matlaw.tensors.base import Tensor, align, contract
from matlaw.tensors.functions import root
from matlaw.tensors.mandel import MANDEL_TO_R2
from matlaw.tensors.scalar import Scalar

if TYPE_CHECKING:
    from matlaw.tensors.r2 import R2
    from matlaw.tensors.ssr4 import SSR4

_UNIT = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]


class SR2(Tensor):
    """A batch of symmetric 3x3 tensors, ``(6, *sub_batch, B)``: xx, yy, zz, sqrt2 yz, sqrt2 xz, sqrt2 xy.

    In these components the double contraction is the plain dot product.

    >>> SR2.identity().trace().data.tolist()
    [3.0]
    """

    __slots__ = ()
    base_shape = (6,)
    base_ndim = 1

    @classmethod
    def identity(cls, *, dtype: torch.dtype = torch.float64, device: torch.device | str = "cpu") -> SR2:
        """The identity, batch extent 1."""
        return cls.constant(_UNIT, dtype=dtype, device=device)

    def trace(self) -> Scalar:
        """Sum of the diagonal."""
        return Scalar(self.data[:3].sum(0), self.sub_batch_ndim)

    def volumetric(self) -> SR2:
        """``tr(A) / 3`` times the identity."""
        return self.trace() / 3.0 * SR2.identity(dtype=self.dtype, device=self.device)

    def deviator(self) -> SR2:
        """What is left without the volumetric part; trace-free."""
        return self - self.volumetric()

    def inner(self, other: SR2) -> Scalar:
        """Double contraction ``A_ij B_ij``."""
        left, right, sub = align(self, other)
        return Scalar((left * right).sum(0), sub)

    def norm(self) -> Scalar:
        """Frobenius norm; its derivative at zero is zero."""
        return root(self.inner(self))

    def outer(self, other: SR2) -> SSR4:
        """Dyadic product ``A_ij B_kl``."""
        from matlaw.tensors.ssr4 import SSR4

        left, right, sub = align(self, other)
        return SSR4(left.unsqueeze(1) * right, sub)

    def to_R2(self) -> R2:
        """The full 3x3 matrix."""
        from matlaw.tensors.r2 import R2

        return R2(contract(MANDEL_TO_R2, self, 1), self.sub_batch_ndim)
