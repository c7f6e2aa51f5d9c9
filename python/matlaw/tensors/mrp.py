"""Rotations as modified Rodrigues parameters."""

from __future__ import annotations

from matlaw.tensors.base import Tensor, align
from matlaw.tensors.r2 import R2
from matlaw.tensors.scalar import Scalar
from matlaw.tensors.wr2 import WR2


class MRP(Tensor):
    r"""A batch of rotations as modified Rodrigues parameters :math:`r = n \tan(\theta / 4)`, ``(3, *sub_batch, B)``.

    Source: M. D. Shuster, A survey of attitude representations, J. Astronaut. Sci. 41 (1993).

    >>> MRP.constant([0.0, 0.0, 0.0]).to_R2().data[..., 0].diagonal().tolist()
    [1.0, 1.0, 1.0]
    """

    __slots__ = ()
    base_shape = (3,)
    base_ndim = 1

    def inner(self, other: MRP) -> Scalar:
        """Dot product of the parameters."""
        left, right, sub = align(self, other)
        return Scalar((left * right).sum(0), sub)

    def to_R2(self) -> R2:
        r"""The rotation matrix.

        .. math:: R = I + \frac{4 (1 - r \cdot r) [r]_\times + 8 [r]_\times^2}{(1 + r \cdot r)^2}
        """
        square = self.inner(self)
        skew = WR2(self.data, self.sub_batch_ndim).to_R2()
        change = (4.0 * (1.0 - square) * skew + 8.0 * (skew @ skew)) / ((1.0 + square) * (1.0 + square))
        return change + R2.identity(dtype=self.dtype, device=self.device)
