"""Saturating isotropic hardening as a rate."""

from __future__ import annotations

from matlaw.models.declaration import Input, Parameter
from matlaw.models.naming import DerivedOutput, NamingLeaf
from matlaw.models.registry import register
from matlaw.tensors import Scalar


@register("SlopeSaturationVoceIsotropicHardening")
class SlopeSaturationVoceIsotropicHardening(NamingLeaf):
    r"""Voce hardening in rate form, given by initial slope and saturation.

    .. math:: \dot k = \theta_0 \left(1 - \frac{k}{R}\right) \dot\gamma

    Source: the derivative of the law of E. Voce, J. Inst. Metals 74 (1948), with :math:`\theta_0 = R d`.

    * ``flow_rate`` (Scalar, 1/time): :math:`\dot\gamma`
    * ``isotropic_hardening`` (Scalar, stress): :math:`k`
    * ``isotropic_hardening_rate`` (Scalar, stress/time): by default ``<isotropic_hardening>_rate``
    * ``saturated_hardening`` (Scalar, stress): :math:`R`, parameter ``R``
    * ``initial_hardening_rate`` (Scalar, stress): :math:`\theta_0`, parameter ``theta0``
    """

    flow_rate = Input(Scalar, "flow rate (1/time)")
    isotropic_hardening = Input(Scalar, "isotropic hardening (stress)")
    isotropic_hardening_rate = DerivedOutput(Scalar, "isotropic_hardening", "_rate", "its rate (stress/time)")
    saturated_hardening = Parameter(Scalar, "hardening at large strain (stress)", symbol="R")
    initial_hardening_rate = Parameter(Scalar, "initial slope (stress)", symbol="theta0")

    def forward(
        self,
        flow_rate: Scalar,
        isotropic_hardening: Scalar,
        saturated_hardening: Scalar,
        initial_hardening_rate: Scalar,
    ) -> Scalar:
        """The rate of the hardening."""
        return initial_hardening_rate * (1.0 - isotropic_hardening / saturated_hardening) * flow_rate
