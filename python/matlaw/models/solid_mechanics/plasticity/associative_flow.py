"""Evolution of the internal variables along the gradient of the yield function."""

from __future__ import annotations

from matlaw.models.declaration import Input, Output
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import SR2, Scalar


@register("AssociativePlasticFlow")
class AssociativePlasticFlow(Leaf):
    r"""Associative flow rule.

    .. math:: \dot\varepsilon_p = \dot\gamma \, \partial f / \partial \sigma

    Source: J. C. Simo, T. J. R. Hughes, Computational Inelasticity, Springer 1998, section 2.2.

    * ``flow_rate`` (Scalar, 1/time): :math:`\dot\gamma`
    * ``flow_direction`` (SR2, -): :math:`\partial f / \partial \sigma`
    * ``plastic_strain_rate`` (SR2, 1/time): :math:`\dot\varepsilon_p`
    """

    flow_rate = Input(Scalar, "flow rate (1/time)")
    flow_direction = Input(SR2, "flow direction (-)")
    plastic_strain_rate = Output(SR2, "rate of plastic strain (1/time)")

    def forward(self, flow_rate: Scalar, flow_direction: SR2) -> SR2:
        """The rate of plastic strain."""
        return flow_rate * flow_direction


@register("AssociativeIsotropicPlasticHardening")
class AssociativeIsotropicPlasticHardening(Leaf):
    r"""Associative isotropic hardening.

    .. math:: \dot{\bar\varepsilon}_p = -\dot\gamma \, \partial f / \partial k

    Source: J. C. Simo, T. J. R. Hughes, Computational Inelasticity, Springer 1998, section 2.2.

    * ``flow_rate`` (Scalar, 1/time): :math:`\dot\gamma`
    * ``isotropic_hardening_direction`` (Scalar, -): :math:`\partial f / \partial k`
    * ``equivalent_plastic_strain_rate`` (Scalar, 1/time): :math:`\dot{\bar\varepsilon}_p`
    """

    flow_rate = Input(Scalar, "flow rate (1/time)")
    isotropic_hardening_direction = Input(Scalar, "derivative of the yield function by the hardening (-)")
    equivalent_plastic_strain_rate = Output(Scalar, "rate of equivalent plastic strain (1/time)")

    def forward(self, flow_rate: Scalar, isotropic_hardening_direction: Scalar) -> Scalar:
        """The rate of equivalent plastic strain."""
        return -flow_rate * isotropic_hardening_direction
