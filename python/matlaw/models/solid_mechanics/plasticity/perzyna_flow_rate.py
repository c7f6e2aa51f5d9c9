"""Perzyna's viscoplastic flow rate."""

from __future__ import annotations

from matlaw.models.declaration import Input, Output, Parameter
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import Scalar
from matlaw.tensors.functions import macaulay_power


@register("PerzynaPlasticFlowRate")
class PerzynaPlasticFlowRate(Leaf):
    r"""Power law of the overstress.

    .. math:: \dot\gamma = \left\langle f / \eta \right\rangle^n

    Source: P. Perzyna, Fundamental problems in viscoplasticity, Adv. Appl. Mech. 9 (1966).

    * ``yield_function`` (Scalar, stress): :math:`f`
    * ``flow_rate`` (Scalar, 1/time): :math:`\dot\gamma`
    * ``reference_stress`` (Scalar, stress): :math:`\eta`, parameter ``eta``
    * ``exponent`` (Scalar, -): :math:`n`, parameter ``n``
    """

    yield_function = Input(Scalar, "yield function (stress)")
    flow_rate = Output(Scalar, "flow rate (1/time)")
    reference_stress = Parameter(Scalar, "overstress at unit flow rate (stress)", symbol="eta")
    exponent = Parameter(Scalar, "exponent (-)", symbol="n")

    def forward(self, yield_function: Scalar, reference_stress: Scalar, exponent: Scalar) -> Scalar:
        """The flow rate."""
        return macaulay_power(yield_function / reference_stress, exponent)
