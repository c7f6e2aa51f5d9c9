"""Skew-symmetric second-order tensors."""

from __future__ import annotations

from matlaw.tensors.base import Tensor, contract
from matlaw.tensors.r2 import R2

#: ``(3, 3, 3)``: half of the skew-symmetric matrix of each axis, axis first.
_HALF = [
    [[0.0, 0.0, 0.0], [0.0, 0.0, -0.5], [0.0, 0.5, 0.0]],
    [[0.0, 0.0, 0.5], [0.0, 0.0, 0.0], [-0.5, 0.0, 0.0]],
    [[0.0, -0.5, 0.0], [0.5, 0.0, 0.0], [0.0, 0.0, 0.0]],
]
#: ``(3, 3, 3)``: the skew-symmetric matrix of each axis, axis last.
_TO_MATRIX = [[[2.0 * _HALF[axis][i][j] for axis in range(3)] for j in range(3)] for i in range(3)]


class WR2(Tensor):
    """A batch of skew-symmetric 3x3 tensors as axial vectors ``w``, ``(3, *sub_batch, B)``: ``W v = w x v``.

    >>> WR2.constant([1.0, 2.0, 3.0]).to_R2().data[..., 0].tolist()
    [[0.0, -3.0, 2.0], [3.0, 0.0, -1.0], [-2.0, 1.0, 0.0]]
    """

    __slots__ = ()
    base_shape = (3,)
    base_ndim = 1

    def to_R2(self) -> R2:
        """The full matrix."""
        return R2(contract(_TO_MATRIX, self, 1), self.sub_batch_ndim)

    @classmethod
    def from_R2(cls, a: R2) -> WR2:
        """The skew-symmetric part of a matrix."""
        return cls(contract(_HALF, a, 2), a.sub_batch_ndim)
