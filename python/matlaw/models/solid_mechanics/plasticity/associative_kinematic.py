"""Kinematic hardening along the gradient of the yield function."""

from __future__ import annotations

from matlaw.models.declaration import Input, Output
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import SR2, Scalar


@register("AssociativeKinematicPlasticHardening")
class AssociativeKinematicPlasticHardening(Leaf):
    r"""Associative kinematic hardening.

    .. math:: \dot K_p = -\dot\gamma \, \partial f / \partial X

    Source: J. C. Simo, T. J. R. Hughes, Computational Inelasticity, Springer 1998, section 2.2.

    * ``flow_rate`` (Scalar, 1/time): :math:`\dot\gamma`
    * ``kinematic_hardening_direction`` (SR2, -): :math:`\partial f / \partial X`
    * ``kinematic_plastic_strain_rate`` (SR2, 1/time): :math:`\dot K_p`
    """

    flow_rate = Input(Scalar, "flow rate (1/time)")
    kinematic_hardening_direction = Input(SR2, "derivative of the yield function by the back stress (-)")
    kinematic_plastic_strain_rate = Output(SR2, "rate of kinematic plastic strain (1/time)")

    def forward(self, flow_rate: Scalar, kinematic_hardening_direction: SR2) -> SR2:
        """The rate of kinematic plastic strain."""
        return -flow_rate * kinematic_hardening_direction
