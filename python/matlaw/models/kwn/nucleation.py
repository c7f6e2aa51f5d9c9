"""Classical nucleation. Source of all: K. C. Russell, Nucleation in solids, Adv. Colloid Interface Sci. 13 (1980)."""

from __future__ import annotations

import math

from matlaw.models.declaration import Input, Output, Parameter
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import Scalar
from matlaw.tensors.functions import exp, sqrt


@register("NucleationBarrierAndCriticalRadius")
class NucleationBarrierAndCriticalRadius(Leaf):
    r"""Size from which a spherical nucleus grows, and the work to get there.

    .. math:: r = \frac{2 \gamma V_m}{\Delta g}, \quad G = \frac{16}{3} \pi \frac{\gamma^3 V_m^2}{\Delta g^2}

    * ``nucleation_barrier`` (Scalar, energy): :math:`G`
    * ``critical_radius`` (Scalar, length): :math:`r`
    * ``surface_energy`` (Scalar, energy/area): :math:`\gamma`, parameter ``gamma``
    * ``total_gibbs_free_energy_difference`` (Scalar, energy/amount): :math:`\Delta g`, parameter ``dg_total``
    * ``molar_volume`` (Scalar, volume/amount): :math:`V_m`, parameter ``V_m``
    """

    nucleation_barrier = Output(Scalar, "work of nucleation (energy)")
    critical_radius = Output(Scalar, "critical radius (length)")
    surface_energy = Parameter(Scalar, "surface energy (energy/area)", symbol="gamma")
    total_gibbs_free_energy_difference = Parameter(Scalar, "driving free energy (energy/amount)", symbol="dg_total")
    molar_volume = Parameter(Scalar, "molar volume (volume/amount)", symbol="V_m")

    def forward(
        self, surface_energy: Scalar, total_gibbs_free_energy_difference: Scalar, molar_volume: Scalar
    ) -> tuple[Scalar, Scalar]:
        """Barrier and radius."""
        ratio = surface_energy * molar_volume / total_gibbs_free_energy_difference
        return (16.0 / 3.0 * math.pi) * surface_energy * ratio * ratio, 2.0 * ratio


@register("ZeldovichFactor")
class ZeldovichFactor(Leaf):
    r"""Share of critical nuclei that go on to grow.

    .. math:: Z = \frac{V_m}{2 \pi N_a r^2} \sqrt{\frac{\gamma}{k T}}

    * ``critical_radius`` (Scalar, length): :math:`r`
    * ``temperature`` (Scalar, temperature): :math:`T`
    * ``zeldovich_factor`` (Scalar, -): :math:`Z`
    * ``surface_energy`` (Scalar, energy/area): :math:`\gamma`, parameter ``gamma``
    * ``molar_volume`` (Scalar, volume/amount): :math:`V_m`, parameter ``V_m``
    * ``avogadro_number`` (Scalar, 1/amount): :math:`N_a`, parameter ``N_a``
    * ``boltzmann_constant`` (Scalar, energy/temperature): :math:`k`, parameter ``k``
    """

    critical_radius = Input(Scalar, "critical radius (length)")
    temperature = Input(Scalar, "temperature (temperature)")
    zeldovich_factor = Output(Scalar, "Zeldovich factor (-)")
    surface_energy = Parameter(Scalar, "surface energy (energy/area)", symbol="gamma")
    molar_volume = Parameter(Scalar, "molar volume (volume/amount)", symbol="V_m")
    avogadro_number = Parameter(Scalar, "Avogadro's number (1/amount)", symbol="N_a")
    boltzmann_constant = Parameter(Scalar, "Boltzmann's constant (energy/temperature)", symbol="k")

    def forward(
        self,
        critical_radius: Scalar,
        temperature: Scalar,
        surface_energy: Scalar,
        molar_volume: Scalar,
        avogadro_number: Scalar,
        boltzmann_constant: Scalar,
    ) -> Scalar:
        """The factor."""
        area = (2.0 * math.pi) * avogadro_number * critical_radius * critical_radius
        return molar_volume / area * sqrt(surface_energy / (boltzmann_constant * temperature))


@register("KineticFactor")
class KineticFactor(Leaf):
    r"""Rate at which solutes attach to a critical nucleus.

    .. math:: \beta = 4 \pi \left(\frac{N_a}{V_m}\right)^{4/3} \frac{r^2}{S}

    * ``critical_radius`` (Scalar, length): :math:`r`
    * ``projected_diffusivity_sum`` (Scalar, time/length^2): :math:`S`
    * ``kinetic_factor`` (Scalar, 1/time): :math:`\beta`
    * ``molar_volume`` (Scalar, volume/amount): :math:`V_m`, parameter ``V_m``
    * ``avogadro_number`` (Scalar, 1/amount): :math:`N_a`, parameter ``N_a``
    """

    critical_radius = Input(Scalar, "critical radius (length)")
    projected_diffusivity_sum = Input(Scalar, "resistance to diffusion (time/length^2)")
    kinetic_factor = Output(Scalar, "rate of attachment (1/time)")
    molar_volume = Parameter(Scalar, "molar volume (volume/amount)", symbol="V_m")
    avogadro_number = Parameter(Scalar, "Avogadro's number (1/amount)", symbol="N_a")

    def forward(
        self,
        critical_radius: Scalar,
        projected_diffusivity_sum: Scalar,
        molar_volume: Scalar,
        avogadro_number: Scalar,
    ) -> Scalar:
        """The factor."""
        density = (avogadro_number / molar_volume) ** (4.0 / 3.0)
        return (4.0 * math.pi) * density * critical_radius * critical_radius / projected_diffusivity_sum


@register("NucleationFluxMagnitude")
class NucleationFluxMagnitude(Leaf):
    r"""Nuclei that appear in a volume and time.

    .. math:: J = Z \beta N_0 \exp\left(-\frac{G}{k T}\right)

    * ``zeldovich_factor`` (Scalar, -): :math:`Z`
    * ``kinetic_factor`` (Scalar, 1/time): :math:`\beta`
    * ``nucleation_barrier`` (Scalar, energy): :math:`G`
    * ``temperature`` (Scalar, temperature): :math:`T`
    * ``nucleation_flux_magnitude`` (Scalar, 1/volume/time): :math:`J`
    * ``nucleation_site_density`` (Scalar, 1/volume): :math:`N_0`, parameter ``N0``
    * ``boltzmann_constant`` (Scalar, energy/temperature): :math:`k`, parameter ``k``
    """

    zeldovich_factor = Input(Scalar, "Zeldovich factor (-)")
    kinetic_factor = Input(Scalar, "rate of attachment (1/time)")
    nucleation_barrier = Input(Scalar, "work of nucleation (energy)")
    temperature = Input(Scalar, "temperature (temperature)")
    nucleation_flux_magnitude = Output(Scalar, "rate of nucleation (1/volume/time)")
    nucleation_site_density = Parameter(Scalar, "density of sites (1/volume)", symbol="N0")
    boltzmann_constant = Parameter(Scalar, "Boltzmann's constant (energy/temperature)", symbol="k")

    def forward(
        self,
        zeldovich_factor: Scalar,
        kinetic_factor: Scalar,
        nucleation_barrier: Scalar,
        temperature: Scalar,
        nucleation_site_density: Scalar,
        boltzmann_constant: Scalar,
    ) -> Scalar:
        """The rate."""
        activated = exp(-nucleation_barrier / (boltzmann_constant * temperature))
        return zeldovich_factor * kinetic_factor * nucleation_site_density * activated
