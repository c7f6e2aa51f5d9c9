"""Back stresses that are internal variables themselves."""

from __future__ import annotations

from matlaw.models.declaration import Input, Parameter
from matlaw.models.naming import DerivedOutput, NamingLeaf
from matlaw.models.registry import register
from matlaw.tensors import SR2, Scalar
from matlaw.tensors.powers import norm_power


@register("FredrickArmstrongPlasticHardening")
class FredrickArmstrongPlasticHardening(NamingLeaf):
    r"""Kinematic hardening with dynamic recovery.

    .. math:: \dot X = \left(\tfrac23 C N - g X\right) \dot\gamma

    Source: C. O. Frederick, P. J. Armstrong, A mathematical representation of the multiaxial Bauschinger effect,
    Mater. High Temp. 24 (2007), report of 1966.

    * ``flow_rate`` (Scalar, 1/time): :math:`\dot\gamma`
    * ``flow_direction`` (SR2, -): :math:`N`
    * ``back_stress`` (SR2, stress): :math:`X`
    * ``back_stress_rate`` (SR2, stress/time): :math:`\dot X`, by default ``<back_stress>_rate``
    * ``C`` (Scalar, stress): hardening modulus
    * ``g`` (Scalar, -): dynamic recovery
    """

    flow_rate = Input(Scalar, "flow rate (1/time)")
    flow_direction = Input(SR2, "flow direction (-)")
    back_stress = Input(SR2, "back stress (stress)")
    back_stress_rate = DerivedOutput(SR2, "back_stress", "_rate", "rate of the back stress (stress/time)")
    C = Parameter(Scalar, "hardening modulus (stress)")
    g = Parameter(Scalar, "dynamic recovery (-)")

    def forward(self, flow_rate: Scalar, flow_direction: SR2, back_stress: SR2, C: Scalar, g: Scalar) -> SR2:
        """The rate of the back stress."""
        return flow_rate * ((2.0 / 3.0) * C * flow_direction - g * back_stress)


@register("ChabochePlasticHardening")
class ChabochePlasticHardening(NamingLeaf):
    r"""Kinematic hardening with dynamic and static recovery.

    .. math:: \dot X = \left(\tfrac23 C N - g X\right) \dot\gamma - A \lVert X \rVert^{a - 1} X

    Source: J. L. Chaboche, A review of some plasticity and viscoplasticity constitutive theories, Int. J. Plast. 24
    (2008), section 3.

    * ``flow_rate`` (Scalar, 1/time): :math:`\dot\gamma`
    * ``flow_direction`` (SR2, -): :math:`N`
    * ``back_stress`` (SR2, stress): :math:`X`
    * ``back_stress_rate`` (SR2, stress/time): :math:`\dot X`, by default ``<back_stress>_rate``
    * ``C`` (Scalar, stress): hardening modulus
    * ``g`` (Scalar, -): dynamic recovery
    * ``A`` (Scalar, stress^(1-a)/time): static recovery
    * ``a`` (Scalar, -): exponent of the static recovery
    """

    flow_rate = Input(Scalar, "flow rate (1/time)")
    flow_direction = Input(SR2, "flow direction (-)")
    back_stress = Input(SR2, "back stress (stress)")
    back_stress_rate = DerivedOutput(SR2, "back_stress", "_rate", "rate of the back stress (stress/time)")
    C = Parameter(Scalar, "hardening modulus (stress)")
    g = Parameter(Scalar, "dynamic recovery (-)")
    A = Parameter(Scalar, "static recovery (stress^(1-a)/time)")
    a = Parameter(Scalar, "exponent of the static recovery (-)")

    def forward(
        self, flow_rate: Scalar, flow_direction: SR2, back_stress: SR2, C: Scalar, g: Scalar, A: Scalar, a: Scalar
    ) -> SR2:
        """The rate of the back stress."""
        dynamic = flow_rate * ((2.0 / 3.0) * C * flow_direction - g * back_stress)
        return dynamic - A * norm_power(back_stress.norm(), a - 1.0) * back_stress
