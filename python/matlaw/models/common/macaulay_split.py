"""Positive and negative part."""

from __future__ import annotations

from matlaw.models.declaration import Input, Output
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import Scalar
from matlaw.tensors.functions import macaulay


@register("MacaulaySplit")
class MacaulaySplit(Leaf):
    r"""A scalar as the sum of its positive and its negative part.

    .. math:: x_+ = \max(x, 0), \quad x_- = x - x_+

    Source: W. H. Macaulay, Note on the deflection of beams, Messenger Math. 48 (1919).

    * ``from`` (Scalar, any unit): :math:`x`
    * ``to_positive``, ``to_negative`` (Scalar, the same unit): :math:`x_+`, :math:`x_-`
    """

    from_ = Input(Scalar, "the scalar")
    to_positive = Output(Scalar, "its positive part")
    to_negative = Output(Scalar, "its negative part")

    def forward(self, from_: Scalar) -> tuple[Scalar, Scalar]:
        """Both parts."""
        positive = macaulay(from_)
        return positive, from_ - positive
