"""Determinant and inverse of 3x3 matrices, through cofactors."""

from __future__ import annotations

import torch

from matlaw.tensors.r2 import R2
from matlaw.tensors.scalar import Scalar


def cofactors(a: R2) -> R2:
    """``cof_ij = a_(i+1)(j+1) a_(i+2)(j+2) - a_(i+1)(j+2) a_(i+2)(j+1)``, indices modulo 3."""
    x = a.data

    def shifted(rows: int, columns: int) -> torch.Tensor:
        return torch.roll(x, (-rows, -columns), (0, 1))

    return R2(shifted(1, 1) * shifted(2, 2) - shifted(1, 2) * shifted(2, 1), a.sub_batch_ndim)


def determinant(a: R2) -> Scalar:
    """Determinant.

    >>> determinant(R2.constant([[2.0, 0.0, 0.0], [0.0, 3.0, 1.0], [0.0, 1.0, 1.0]])).data.tolist()
    [4.0]
    """
    return Scalar((a.data[0] * cofactors(a).data[0]).sum(0), a.sub_batch_ndim)


def inverse(a: R2) -> R2:
    """Inverse; infinite or NaN where the matrix is singular.

    >>> inverse(R2.constant([[2.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 1.0]])).data[..., 0].diagonal().tolist()
    [0.5, 0.25, 1.0]
    """
    cof = cofactors(a)
    return cof.T / Scalar((a.data[0] * cof.data[0]).sum(0), a.sub_batch_ndim)
