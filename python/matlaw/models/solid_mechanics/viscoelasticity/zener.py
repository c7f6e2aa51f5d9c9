"""The standard linear solid."""

from __future__ import annotations

from matlaw.models.declaration import Input, Output, Parameter
from matlaw.models.naming import DerivedOutput, NamingLeaf
from matlaw.models.registry import register
from matlaw.tensors import SR2, Scalar


@register("ZenerElement")
class ZenerElement(NamingLeaf):
    r"""Spring in parallel with a Maxwell element.

    .. math::
        \sigma = E_\infty \varepsilon + E_M (\varepsilon - \varepsilon_v), \quad
        \dot\varepsilon_v = \frac{E_M}{\eta_M} (\varepsilon - \varepsilon_v)

    Source: C. Zener, Elasticity and Anelasticity of Metals, Chicago 1948, chapter 5.

    * ``strain`` (SR2, -): :math:`\varepsilon`
    * ``viscous_strain`` (SR2, -): :math:`\varepsilon_v`
    * ``stress`` (SR2, stress): :math:`\sigma`
    * ``viscous_strain_rate`` (SR2, 1/time): by default ``<viscous_strain>_rate``
    * ``equilibrium_modulus`` (Scalar, stress): :math:`E_\infty`, parameter ``Einf``
    * ``maxwell_modulus`` (Scalar, stress): :math:`E_M`, parameter ``EM``
    * ``maxwell_viscosity`` (Scalar, stress time): :math:`\eta_M`, parameter ``etaM``
    """

    strain = Input(SR2, "strain (-)")
    viscous_strain = Input(SR2, "strain of the dashpot (-)")
    stress = Output(SR2, "stress (stress)")
    viscous_strain_rate = DerivedOutput(SR2, "viscous_strain", "_rate", "rate of the viscous strain (1/time)")
    equilibrium_modulus = Parameter(Scalar, "modulus of the single spring (stress)", symbol="Einf")
    maxwell_modulus = Parameter(Scalar, "modulus of the Maxwell element (stress)", symbol="EM")
    maxwell_viscosity = Parameter(Scalar, "viscosity of the Maxwell element (stress time)", symbol="etaM")

    def forward(
        self,
        strain: SR2,
        viscous_strain: SR2,
        equilibrium_modulus: Scalar,
        maxwell_modulus: Scalar,
        maxwell_viscosity: Scalar,
    ) -> tuple[SR2, SR2]:
        """The stress and the rate of the viscous strain."""
        overstress = maxwell_modulus * (strain - viscous_strain)
        return equilibrium_modulus * strain + overstress, overstress / maxwell_viscosity
