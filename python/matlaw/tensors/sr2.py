"""Symmetric second-order tensors in Mandel components."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from matlaw.tensors.base import Tensor, align, contract
from matlaw.tensors.functions import root, where
from matlaw.tensors.mandel import MANDEL_TO_R2
from matlaw.tensors.scalar import Scalar

if TYPE_CHECKING:
    from matlaw.tensors.r2 import R2
    from matlaw.tensors.ssr4 import SSR4

_UNIT = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]


def _diagonal(like: Tensor) -> torch.Tensor:
    """Which of the six components are on the diagonal, ``(6, *sub_batch, B)`` with extents of 1."""
    return torch.tensor([x == 1.0 for x in _UNIT], device=like.device).reshape(6, *[1] * (like.sub_batch_ndim + 1))


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

    @classmethod
    def spherical(cls, a: Scalar) -> SR2:
        """``a`` times the identity."""
        return cls(torch.where(_diagonal(a), a.data, 0.0), a.sub_batch_ndim)

    def add_spherical(self, a: Scalar) -> SR2:
        """``a`` times the identity added; the components off the diagonal take no part."""
        own, added, sub = align(self, a)
        return SR2(torch.where(_diagonal(Scalar(added, sub)), own + added, own), sub)

    def trace(self) -> Scalar:
        """Sum of the diagonal."""
        return Scalar(self.data[:3].sum(0), self.sub_batch_ndim)

    def volumetric(self) -> SR2:
        """``tr(A) / 3`` times the identity."""
        return SR2.spherical(self.trace() * (1.0 / 3.0))

    def deviator(self) -> SR2:
        """What is left without the volumetric part; trace-free."""
        return self.add_spherical(self.trace() * (-1.0 / 3.0))

    def inner(self, other: SR2) -> Scalar:
        """Double contraction ``A_ij B_ij``."""
        left, right, sub = align(self, other)
        return Scalar((left * right).sum(0), sub)

    def norm(self) -> Scalar:
        """Frobenius norm; its derivative at zero is zero."""
        return root(self.inner(self))

    def inverse_norm(self) -> Scalar:
        """``1 / |A|``; zero, as its derivatives, for norms up to 1e-11.

        Derivatives need the third power, which overflows in single precision below that.
        """
        norm = self.norm()
        is_large = norm > 1e-11  # not from finfo: laws are recorded once for all precisions
        return where(is_large, 1.0 / where(is_large, norm, 1.0), 0.0)

    def outer(self, other: SR2) -> SSR4:
        """Dyadic product ``A_ij B_kl``."""
        from matlaw.tensors.ssr4 import SSR4

        left, right, sub = align(self, other)
        return SSR4(left.unsqueeze(1) * right, sub)

    def to_R2(self) -> R2:
        """The full 3x3 matrix."""
        from matlaw.tensors.r2 import R2

        return R2(contract(MANDEL_TO_R2, self, 1), self.sub_batch_ndim)
