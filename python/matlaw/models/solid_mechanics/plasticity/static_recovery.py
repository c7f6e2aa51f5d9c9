"""Static recovery of hardening variables."""

from __future__ import annotations

from matlaw.models.declaration import Input, Parameter
from matlaw.models.naming import DerivedOutput, NamingLeaf
from matlaw.models.registry import register
from matlaw.tensors import SR2, Scalar
from matlaw.tensors.functions import abs
from matlaw.tensors.powers import norm_power


@register("PowerLawIsotropicHardeningStaticRecovery")
class PowerLawIsotropicHardeningStaticRecovery(NamingLeaf):
    r"""Power law recovery of isotropic hardening.

    .. math:: \dot k = -\left(\frac{|k|}{\tau}\right)^{n-1} \frac{k}{\tau}

    Source: J. L. Chaboche, A review of some plasticity and viscoplasticity constitutive theories, Int. J. Plast. 24
    (2008), section 3.

    * ``isotropic_hardening`` (Scalar, stress): :math:`k`
    * ``isotropic_hardening_rate`` (Scalar, stress/time): by default ``<isotropic_hardening>_rate``
    * ``tau`` (Scalar, stress, scaled by time): :math:`\tau`
    * ``n`` (Scalar, -): exponent
    """

    isotropic_hardening = Input(Scalar, "isotropic hardening (stress)")
    isotropic_hardening_rate = DerivedOutput(Scalar, "isotropic_hardening", "_rate", "its rate (stress/time)")
    tau = Parameter(Scalar, "recovery coefficient")
    n = Parameter(Scalar, "recovery exponent (-)")

    def forward(self, isotropic_hardening: Scalar, tau: Scalar, n: Scalar) -> Scalar:
        """The rate of the hardening."""
        k = isotropic_hardening / tau
        return -(norm_power(abs(k), n - 1.0) * k)


@register("PowerLawKinematicHardeningStaticRecovery")
class PowerLawKinematicHardeningStaticRecovery(NamingLeaf):
    r"""Power law recovery of a back stress.

    .. math:: \dot X = -\left(\frac{\lVert X \rVert}{\tau}\right)^{n-1} \frac{X}{\tau}

    Source: J. L. Chaboche, A review of some plasticity and viscoplasticity constitutive theories, Int. J. Plast. 24
    (2008), section 3.

    * ``back_stress`` (SR2, stress): :math:`X`
    * ``back_stress_rate`` (SR2, stress/time): by default ``<back_stress>_rate``
    * ``tau`` (Scalar, stress, scaled by time): :math:`\tau`
    * ``n`` (Scalar, -): exponent
    """

    back_stress = Input(SR2, "back stress (stress)")
    back_stress_rate = DerivedOutput(SR2, "back_stress", "_rate", "its rate (stress/time)")
    tau = Parameter(Scalar, "recovery coefficient")
    n = Parameter(Scalar, "recovery exponent (-)")

    def forward(self, back_stress: SR2, tau: Scalar, n: Scalar) -> SR2:
        """The rate of the back stress."""
        scaled = back_stress / tau
        return -(norm_power(scaled.norm(), n - 1.0) * scaled)
