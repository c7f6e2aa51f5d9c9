"""Growth of precipitates."""

from __future__ import annotations

from matlaw.models.context import Context
from matlaw.models.declaration import Input, Output, Parameter
from matlaw.models.kwn.species import SpeciesLeaf
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import Scalar


@register("ProjectedDiffusivitySum")
class ProjectedDiffusivitySum(SpeciesLeaf):
    r"""Resistance of several diffusing species.

    .. math:: S = \sum_i \frac{(\Delta x_i)^2}{x_i D_i}

    Source: J. Svoboda, F. D. Fischer, P. Fratzl, E. Kozeschnik, Modelling of kinetics in multi-component
    multi-phase systems with spherical precipitates I, Mater. Sci. Eng. A 385 (2004).

    * ``far_field_concentrations`` (Scalar, -): :math:`x_i`
    * ``projected_diffusivity_sum`` (Scalar, time/length^2): :math:`S`
    * ``concentration_differences`` (Scalar, -): :math:`\Delta x_i`, parameters ``dx_0``, ``dx_1`` ...
    * ``diffusivities`` (Scalar, length^2/time): :math:`D_i`, parameters ``D_0``, ``D_1`` ...
    """

    far_field_concentrations = Input(Scalar, "concentrations far away (-)", many=True)
    projected_diffusivity_sum = Output(Scalar, "resistance to diffusion (time/length^2)")
    concentration_differences = Parameter(
        Scalar, "differences between precipitate and matrix (-)", symbol="dx", many=True
    )
    diffusivities = Parameter(Scalar, "diffusivities (length^2/time)", symbol="D", many=True)

    def setup(self, context: Context) -> None:
        """Checks the number of species."""
        super().setup(context)
        self.check_lengths(context, "far_field_concentrations", "concentration_differences", "diffusivities")

    def forward(
        self,
        far_field_concentrations: list[Scalar],
        concentration_differences: list[Scalar],
        diffusivities: list[Scalar],
    ) -> Scalar:
        """The sum."""
        terms = [
            dx * dx / (x * D)
            for x, dx, D in zip(far_field_concentrations, concentration_differences, diffusivities, strict=True)
        ]
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return total


@register("RateLimitedPrecipitateGrowthRate")
class RateLimitedPrecipitateGrowthRate(Leaf):
    r"""Growth limited by the diffusion of one species.

    .. math:: \dot R = \frac{D}{R} \frac{x - x_{eq}}{\Delta x}

    Source: C. Zener, Theory of growth of spherical precipitates from solid solution, J. Appl. Phys. 20 (1949).

    * ``current_concentration`` (Scalar, -): :math:`x`
    * ``growth_rate`` (Scalar, length/time): :math:`\dot R`
    * ``radius`` (Scalar, length): :math:`R`, parameter ``R``
    * ``equilibrium_concentration`` (Scalar, -): :math:`x_{eq}`, parameter ``x_eq``
    * ``concentration_difference`` (Scalar, -): :math:`\Delta x`, parameter ``dx``
    * ``diffusivity`` (Scalar, length^2/time): :math:`D`, parameter ``D``
    """

    current_concentration = Input(Scalar, "concentration in solution (-)")
    growth_rate = Output(Scalar, "growth rate of each size (length/time)")
    radius = Parameter(Scalar, "radius of each size (length)", symbol="R")
    equilibrium_concentration = Parameter(Scalar, "concentration at equilibrium (-)", symbol="x_eq")
    concentration_difference = Parameter(Scalar, "difference between precipitate and matrix (-)", symbol="dx")
    diffusivity = Parameter(Scalar, "diffusivity (length^2/time)", symbol="D")

    def forward(
        self,
        current_concentration: Scalar,
        radius: Scalar,
        equilibrium_concentration: Scalar,
        concentration_difference: Scalar,
        diffusivity: Scalar,
    ) -> Scalar:
        """The growth rate."""
        surplus = (current_concentration - equilibrium_concentration) / concentration_difference
        return diffusivity * surplus / radius


@register("SFFKPrecipitationGrowthRate")
class SFFKPrecipitationGrowthRate(Leaf):
    r"""Growth by the principle of maximum dissipation.

    .. math:: \dot R = \frac{\Delta g}{R \, R_g T S}

    Source: as for :class:`ProjectedDiffusivitySum`, which gives :math:`S`.

    * ``projected_diffusivity_sum`` (Scalar, time/length^2): :math:`S`
    * ``temperature`` (Scalar, temperature): :math:`T`
    * ``growth_rate`` (Scalar, length/time): :math:`\dot R`
    * ``radius`` (Scalar, length): :math:`R`, parameter ``R``
    * ``gibbs_free_energy_difference`` (Scalar, energy/amount): :math:`\Delta g`, parameter ``dg``
    * ``gas_constant`` (Scalar, energy/amount/temperature): :math:`R_g`, parameter ``R_g``
    """

    projected_diffusivity_sum = Input(Scalar, "resistance to diffusion (time/length^2)")
    temperature = Input(Scalar, "temperature (temperature)")
    growth_rate = Output(Scalar, "growth rate of each size (length/time)")
    radius = Parameter(Scalar, "radius of each size (length)", symbol="R")
    gibbs_free_energy_difference = Parameter(Scalar, "driving free energy (energy/amount)", symbol="dg")
    gas_constant = Parameter(Scalar, "gas constant (energy/amount/temperature)", symbol="R_g")

    def forward(
        self,
        projected_diffusivity_sum: Scalar,
        temperature: Scalar,
        radius: Scalar,
        gibbs_free_energy_difference: Scalar,
        gas_constant: Scalar,
    ) -> Scalar:
        """The growth rate."""
        return gibbs_free_energy_difference / (gas_constant * temperature * projected_diffusivity_sum * radius)
