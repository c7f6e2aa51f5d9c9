"""How much of an opening is shear."""

from __future__ import annotations

from matlaw.models.declaration import Input, Output
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import Scalar
from matlaw.tensors.functions import where


@register("ModeMixity")
class ModeMixity(Leaf):
    r"""Ratio of tangential to normal separation.

    .. math:: \beta = \delta_s / \delta_n \text{ for } \delta_n > 0, \text{ else } 0

    Source: P. P. Camanho, C. G. Davila, Mixed-mode decohesion finite elements for the simulation of delamination in
    composite materials, NASA/TM-2002-211737.

    * ``normal_separation`` (Scalar, length): :math:`\delta_n`
    * ``tangential_separation`` (Scalar, length): :math:`\delta_s`, its magnitude
    * ``mode_mixity`` (Scalar, -): :math:`\beta`
    """

    normal_separation = Input(Scalar, "normal separation (length)")
    tangential_separation = Input(Scalar, "magnitude of the tangential separation (length)")
    mode_mixity = Output(Scalar, "mode mixity (-)")

    def forward(self, normal_separation: Scalar, tangential_separation: Scalar) -> Scalar:
        """The mode mixity."""
        opens = normal_separation > 0.0
        return where(opens, tangential_separation / where(opens, normal_separation, 1.0), 0.0)
