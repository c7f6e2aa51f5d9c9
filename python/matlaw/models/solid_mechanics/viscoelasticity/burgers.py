"""The Burgers solid."""

from __future__ import annotations

from matlaw.models.declaration import Input, Output, Parameter
from matlaw.models.naming import DerivedOutput, NamingLeaf
from matlaw.models.registry import register
from matlaw.tensors import SR2, Scalar


@register("BurgersElement")
class BurgersElement(NamingLeaf):
    r"""Maxwell and Kelvin-Voigt elements in series.

    .. math::
        \sigma = E_M (\varepsilon - \varepsilon_{v} - \varepsilon_K), \quad
        \dot\varepsilon_{v} = \sigma / \eta_M, \quad
        \dot\varepsilon_K = (\sigma - E_K \varepsilon_K) / \eta_K

    Source: W. N. Findley, J. S. Lai, K. Onaran, Creep and Relaxation of Nonlinear Viscoelastic Materials, Dover 1989,
    section 5.6.

    * ``strain`` (SR2, -): :math:`\varepsilon`
    * ``maxwell_viscous_strain`` (SR2, -): :math:`\varepsilon_v`
    * ``kelvin_voigt_strain`` (SR2, -): :math:`\varepsilon_K`
    * ``stress`` (SR2, stress): :math:`\sigma`
    * ``maxwell_viscous_strain_rate``, ``kelvin_voigt_strain_rate`` (SR2, 1/time): by default the strains' names with
      ``_rate``
    * ``maxwell_modulus``, ``kelvin_modulus`` (Scalar, stress): :math:`E_M`, :math:`E_K`, parameters ``EM``, ``EK``
    * ``maxwell_viscosity``, ``kelvin_viscosity`` (Scalar, stress time): :math:`\eta_M`, :math:`\eta_K`, parameters
      ``etaM``, ``etaK``
    """

    strain = Input(SR2, "strain (-)")
    maxwell_viscous_strain = Input(SR2, "strain of the Maxwell dashpot (-)")
    kelvin_voigt_strain = Input(SR2, "strain of the Kelvin-Voigt element (-)")
    stress = Output(SR2, "stress (stress)")
    maxwell_viscous_strain_rate = DerivedOutput(SR2, "maxwell_viscous_strain", "_rate", "its rate (1/time)")
    kelvin_voigt_strain_rate = DerivedOutput(SR2, "kelvin_voigt_strain", "_rate", "its rate (1/time)")
    maxwell_modulus = Parameter(Scalar, "modulus of the Maxwell element (stress)", symbol="EM")
    maxwell_viscosity = Parameter(Scalar, "viscosity of the Maxwell element (stress time)", symbol="etaM")
    kelvin_modulus = Parameter(Scalar, "modulus of the Kelvin-Voigt element (stress)", symbol="EK")
    kelvin_viscosity = Parameter(Scalar, "viscosity of the Kelvin-Voigt element (stress time)", symbol="etaK")

    def forward(
        self,
        strain: SR2,
        maxwell_viscous_strain: SR2,
        kelvin_voigt_strain: SR2,
        maxwell_modulus: Scalar,
        maxwell_viscosity: Scalar,
        kelvin_modulus: Scalar,
        kelvin_viscosity: Scalar,
    ) -> tuple[SR2, SR2, SR2]:
        """The stress and the rates of both strains."""
        stress = maxwell_modulus * (strain - maxwell_viscous_strain - kelvin_voigt_strain)
        kelvin_rate = (stress - kelvin_modulus * kelvin_voigt_strain) / kelvin_viscosity
        return stress, stress / maxwell_viscosity, kelvin_rate
