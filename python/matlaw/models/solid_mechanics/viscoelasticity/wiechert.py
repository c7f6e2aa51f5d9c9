"""The generalised Maxwell solid with two branches."""

from __future__ import annotations

from matlaw.models.declaration import Input, Output, Parameter
from matlaw.models.naming import DerivedOutput, NamingLeaf
from matlaw.models.registry import register
from matlaw.tensors import SR2, Scalar


@register("WiechertElement")
class WiechertElement(NamingLeaf):
    r"""Spring in parallel with two Maxwell elements.

    .. math::
        \sigma = E_\infty \varepsilon + \sum_{i=1}^2 E_i (\varepsilon - \varepsilon_{v,i}), \quad
        \dot\varepsilon_{v,i} = \frac{E_i}{\eta_i} (\varepsilon - \varepsilon_{v,i})

    Source: E. Wiechert, Gesetze der elastischen Nachwirkung für constante Temperatur, Ann. Phys. 286 (1893).

    * ``strain`` (SR2, -): :math:`\varepsilon`
    * ``viscous_strain_1``, ``viscous_strain_2`` (SR2, -): :math:`\varepsilon_{v,i}`
    * ``stress`` (SR2, stress): :math:`\sigma`
    * ``viscous_strain_1_rate``, ``viscous_strain_2_rate`` (SR2, 1/time): by default the strains' names with ``_rate``
    * ``equilibrium_modulus`` (Scalar, stress): :math:`E_\infty`, parameter ``Einf``
    * ``modulus_1``, ``modulus_2`` (Scalar, stress): :math:`E_i`, parameters ``E1``, ``E2``
    * ``viscosity_1``, ``viscosity_2`` (Scalar, stress time): :math:`\eta_i`, parameters ``eta1``, ``eta2``
    """

    strain = Input(SR2, "strain (-)")
    viscous_strain_1 = Input(SR2, "strain of the first dashpot (-)")
    viscous_strain_2 = Input(SR2, "strain of the second dashpot (-)")
    stress = Output(SR2, "stress (stress)")
    viscous_strain_1_rate = DerivedOutput(SR2, "viscous_strain_1", "_rate", "its rate (1/time)")
    viscous_strain_2_rate = DerivedOutput(SR2, "viscous_strain_2", "_rate", "its rate (1/time)")
    equilibrium_modulus = Parameter(Scalar, "modulus of the single spring (stress)", symbol="Einf")
    modulus_1 = Parameter(Scalar, "modulus of the first branch (stress)", symbol="E1")
    viscosity_1 = Parameter(Scalar, "viscosity of the first branch (stress time)", symbol="eta1")
    modulus_2 = Parameter(Scalar, "modulus of the second branch (stress)", symbol="E2")
    viscosity_2 = Parameter(Scalar, "viscosity of the second branch (stress time)", symbol="eta2")

    def forward(
        self,
        strain: SR2,
        viscous_strain_1: SR2,
        viscous_strain_2: SR2,
        equilibrium_modulus: Scalar,
        modulus_1: Scalar,
        viscosity_1: Scalar,
        modulus_2: Scalar,
        viscosity_2: Scalar,
    ) -> tuple[SR2, SR2, SR2]:
        """The stress and the rates of the viscous strains."""
        first = modulus_1 * (strain - viscous_strain_1)
        second = modulus_2 * (strain - viscous_strain_2)
        return equilibrium_modulus * strain + first + second, first / viscosity_1, second / viscosity_2
