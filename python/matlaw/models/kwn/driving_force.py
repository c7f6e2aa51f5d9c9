"""Free energies that drive precipitation."""

from __future__ import annotations

from matlaw.models.context import Context
from matlaw.models.declaration import Input, Output, Parameter
from matlaw.models.kwn.species import SpeciesLeaf
from matlaw.models.registry import register
from matlaw.tensors import Scalar
from matlaw.tensors.functions import log


@register("ChemicalGibbsFreeEnergyDifference")
class ChemicalGibbsFreeEnergyDifference(SpeciesLeaf):
    r"""Free energy of the transfer of solutes at given chemical potentials.

    .. math:: \Delta g = \sum_i \Delta x_i (\mu_i - \mu_i^{eq})

    Source: J. W. Christian, The Theory of Transformations in Metals and Alloys, Pergamon 2002, chapter 10.

    * ``concentration_differences`` (Scalar, -): :math:`\Delta x_i`
    * ``chemical_gibbs_free_energy`` (Scalar, energy/amount): :math:`\Delta g`
    * ``chemical_potentials`` (Scalar, energy/amount): :math:`\mu_i`, parameters ``mu_0``, ``mu_1`` ...
    * ``equilibrium_potentials`` (Scalar, energy/amount): :math:`\mu_i^{eq}`, parameters ``mu_eq_0``, ``mu_eq_1`` ...
    """

    concentration_differences = Input(Scalar, "differences of concentration (-)", many=True)
    chemical_gibbs_free_energy = Output(Scalar, "difference of the free energy (energy/amount)")
    chemical_potentials = Parameter(Scalar, "potentials in the matrix (energy/amount)", symbol="mu", many=True)
    equilibrium_potentials = Parameter(Scalar, "potentials at equilibrium (energy/amount)", symbol="mu_eq", many=True)

    def setup(self, context: Context) -> None:
        """Checks the number of species."""
        super().setup(context)
        self.check_lengths(context, "concentration_differences", "chemical_potentials", "equilibrium_potentials")

    def forward(
        self,
        concentration_differences: list[Scalar],
        chemical_potentials: list[Scalar],
        equilibrium_potentials: list[Scalar],
    ) -> Scalar:
        """The free energy."""
        terms = [
            x * (mu - eq)
            for x, mu, eq in zip(concentration_differences, chemical_potentials, equilibrium_potentials, strict=True)
        ]
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return total


@register("IdealSolutionVolumetricDrivingForce")
class IdealSolutionVolumetricDrivingForce(SpeciesLeaf):
    r"""Free energy of precipitation from an ideal solution.

    .. math:: \Delta g = R T \sum_k w_k \ln(c_k / c_k^{eq})

    Source: H. I. Aaronson, M. Enomoto, J. K. Lee, Mechanisms of Diffusional Phase Transformations, CRC 2010, chapter 2.

    * ``temperature`` (Scalar, temperature): :math:`T`
    * ``current_concentrations`` (Scalar, -): :math:`c_k`
    * ``driving_force`` (Scalar, energy/amount): :math:`\Delta g`
    * ``gas_constant`` (Scalar, energy/amount/temperature): :math:`R`, parameter ``R_g``
    * ``equilibrium_concentrations`` (Scalar, -): :math:`c_k^{eq}`, parameters ``x_eq_0``, ``x_eq_1`` ...
    * ``weights`` (Scalar, -): :math:`w_k`, parameters ``w_0``, ``w_1`` ...; a single one serves all species
    """

    temperature = Input(Scalar, "temperature (temperature)")
    current_concentrations = Input(Scalar, "concentrations in solution (-)", many=True)
    driving_force = Output(Scalar, "free energy of precipitation (energy/amount)")
    gas_constant = Parameter(Scalar, "gas constant (energy/amount/temperature)", symbol="R_g")
    equilibrium_concentrations = Parameter(Scalar, "concentrations at equilibrium (-)", symbol="x_eq", many=True)
    weights = Parameter(Scalar, "weights (-)", symbol="w", required=False, default="1", many=True)

    def setup(self, context: Context) -> None:
        """Checks the number of species."""
        super().setup(context)
        self.check_lengths(context, "current_concentrations", "equilibrium_concentrations")
        if len(context.option("weights")) != 1:
            self.check_lengths(context, "current_concentrations", "weights")

    def forward(
        self,
        temperature: Scalar,
        current_concentrations: list[Scalar],
        gas_constant: Scalar,
        equilibrium_concentrations: list[Scalar],
        weights: list[Scalar],
    ) -> Scalar:
        """The free energy."""
        if len(weights) == 1:
            weights = weights * len(current_concentrations)
        terms = [
            w * log(c / eq)
            for w, c, eq in zip(weights, current_concentrations, equilibrium_concentrations, strict=True)
        ]
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return gas_constant * temperature * total
