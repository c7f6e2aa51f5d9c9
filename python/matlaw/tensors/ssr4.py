"""Fourth-order tensors with both minor symmetries."""

from __future__ import annotations

from typing import Any, overload

import torch

from matlaw.tensors.base import Tensor, align
from matlaw.tensors.scalar import Scalar
from matlaw.tensors.sr2 import SR2

_VOL = [[1.0 / 3.0 if i < 3 and j < 3 else 0.0 for j in range(6)] for i in range(6)]
_SYM = [[1.0 if i == j else 0.0 for j in range(6)] for i in range(6)]
_DEV = [[_SYM[i][j] - _VOL[i][j] for j in range(6)] for i in range(6)]


class SSR4(Tensor):
    """A batch of linear maps of symmetric tensors, ``(6, 6, *sub_batch, B)`` in Mandel components.

    >>> C = SSR4.isotropic(Scalar.constant(2.0), Scalar.constant(1.0))  # bulk and shear modulus
    >>> (C @ SR2.identity()).data[:, 0].tolist()
    [6.0, 6.0, 6.0, 0.0, 0.0, 0.0]
    """

    __slots__ = ()
    base_shape = (6, 6)
    base_ndim = 2

    @classmethod
    def identity_sym(cls, *, dtype: torch.dtype = torch.float64, device: torch.device | str = "cpu") -> SSR4:
        """Maps a symmetric tensor to itself."""
        return cls.constant(_SYM, dtype=dtype, device=device)

    @classmethod
    def identity_vol(cls, *, dtype: torch.dtype = torch.float64, device: torch.device | str = "cpu") -> SSR4:
        """Maps a symmetric tensor to its volumetric part."""
        return cls.constant(_VOL, dtype=dtype, device=device)

    @classmethod
    def identity_dev(cls, *, dtype: torch.dtype = torch.float64, device: torch.device | str = "cpu") -> SSR4:
        """Maps a symmetric tensor to its deviator."""
        return cls.constant(_DEV, dtype=dtype, device=device)

    @classmethod
    def isotropic(cls, bulk_modulus: Scalar, shear_modulus: Scalar) -> SSR4:
        """``3 K I_vol + 2 G I_dev``."""
        kw: dict[str, Any] = {"dtype": bulk_modulus.dtype, "device": bulk_modulus.device}
        return 3.0 * bulk_modulus * cls.identity_vol(**kw) + 2.0 * shear_modulus * cls.identity_dev(**kw)

    @property
    def T(self) -> SSR4:
        """Major transpose."""
        return SSR4(self.data.transpose(0, 1), self.sub_batch_ndim)

    @overload
    def __matmul__(self, other: SR2) -> SR2: ...
    @overload
    def __matmul__(self, other: SSR4) -> SSR4: ...
    def __matmul__(self, other: Any) -> Any:
        if not isinstance(other, SR2 | SSR4):
            return NotImplemented
        left, right, sub = align(self, other)
        if isinstance(other, SR2):
            return SR2((left * right).sum(1), sub)
        return SSR4((left.unsqueeze(2) * right).sum(1), sub)
