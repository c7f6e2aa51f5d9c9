"""Composition of rotations and their exponential map."""

from __future__ import annotations

import torch

from matlaw.tensors.base import align
from matlaw.tensors.functions import where
from matlaw.tensors.mrp import MRP
from matlaw.tensors.scalar import Scalar
from matlaw.tensors.wr2 import WR2

#: Below this square of the angle the series is exact to rounding, its next term included.
_SMALL = 1e-3


def compose(a: MRP, b: MRP) -> MRP:
    r"""The rotation ``b`` followed by ``a``: :math:`R(c) = R(a) R(b)`.

    .. math:: c = \frac{(1 - b \cdot b) a + (1 - a \cdot a) b + 2 a \times b}
        {1 + (a \cdot a) (b \cdot b) - 2 a \cdot b}

    Source: M. D. Shuster, A survey of attitude representations, J. Astronaut. Sci. 41 (1993), with the sign of the
    cross product for active rotations.

    >>> quarter = MRP.constant([0.0, 0.0, 0.41421356237309503])  # 90 degrees about z
    >>> round(compose(quarter, quarter).data[2].item(), 12)  # 180 degrees
    1.0
    """
    left, right, sub = align(a, b)
    cross = torch.roll(left, -1, 0) * torch.roll(right, 1, 0) - torch.roll(left, 1, 0) * torch.roll(right, -1, 0)
    aa, bb = a.inner(a), b.inner(b)
    return ((1.0 - bb) * a + (1.0 - aa) * b + 2.0 * MRP(cross, sub)) / (1.0 + aa * bb - 2.0 * a.inner(b))


def exponential(w: WR2) -> MRP:
    r"""The rotation by the length of an axial vector, in radians, about it.

    .. math:: r = \tan(\theta / 4) \, w / \theta, \quad \theta = \lVert w \rVert

    Source: as for :func:`compose`. The factor is a function of :math:`\theta^2`, smooth at zero, where its series takes
    over.
    """
    square = Scalar((w.data * w.data).sum(0), w.sub_batch_ndim)
    small = square < _SMALL
    x = square / 16.0
    series = 0.25 * (1.0 + x * (1.0 / 3.0 + x * (2.0 / 15.0 + x * (17.0 / 315.0))))
    angle = where(small, 1.0, square).map(torch.sqrt)
    quarter = 0.25 * angle
    ratio = quarter.map(torch.sin) / (quarter.map(torch.cos) * angle)
    return MRP(w.data, w.sub_batch_ndim) * where(small, series, ratio)
