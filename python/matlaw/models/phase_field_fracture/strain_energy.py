"""Elastic energy, split into a part that drives a crack and one that does not."""

from __future__ import annotations

from matlaw.models.context import Context
from matlaw.models.declaration import Input, Option, Output
from matlaw.models.registry import register
from matlaw.models.solid_mechanics.elasticity.coefficients import ElasticConstants
from matlaw.models.solid_mechanics.elasticity.isotropic_moduli import SYMBOLS
from matlaw.tensors import SR2, Scalar
from matlaw.tensors.functions import macaulay


@register("LinearIsotropicStrainEnergyDensity")
class LinearIsotropicStrainEnergyDensity(ElasticConstants):
    r"""Energy density of an isotropic solid.

    * ``NONE``: :math:`\psi_+ = \tfrac12 K (\mathrm{tr} \, \varepsilon)^2 + G e : e`, :math:`\psi_- = 0`, with the
      deviator :math:`e`
    * ``VOLDEV``: :math:`\psi_+ = \tfrac12 K \langle \mathrm{tr} \, \varepsilon \rangle^2 + G e : e`,
      :math:`\psi_- = \tfrac12 K \langle -\mathrm{tr} \, \varepsilon \rangle^2`

    Source: H. Amor, J.-J. Marigo, C. Maurini, Regularized formulation of the variational brittle fracture with
    unilateral contact, J. Mech. Phys. Solids 57 (2009). The spectral split (``SPECTRAL``) is refused.

    * ``strain`` (SR2, -): :math:`\varepsilon`
    * ``active_strain_energy_density``, ``inactive_strain_energy_density`` (Scalar, stress): :math:`\psi_+`,
      :math:`\psi_-`
    * ``coefficients`` (Scalar): two elastic constants (stress, or - for Poisson's ratio)
    """

    strain = Input(SR2, "elastic strain (-)")
    active_strain_energy_density = Output(Scalar, "energy that drives a crack (stress)")
    inactive_strain_energy_density = Output(Scalar, "energy that does not (stress)")
    coefficients = Option("list", "two elastic constants")
    coefficient_types = Option("list", "what the two constants are", choices=tuple(SYMBOLS))
    decomposition = Option(
        "str", "how to split the energy", required=False, default="NONE", choices=("NONE", "VOLDEV", "SPECTRAL")
    )

    def setup(self, context: Context) -> None:
        """Reads the split."""
        super().setup(context)
        self._split: str = context.option("decomposition")
        if self._split == "SPECTRAL":
            raise context.error("the spectral decomposition is not supported yet; take VOLDEV", "decomposition")

    def forward(self, strain: SR2, constants: list[Scalar]) -> tuple[Scalar, Scalar]:
        """Both energy densities."""
        K, G = self.bulk_and_shear(constants)
        trace, deviator = strain.trace(), strain.deviator()
        shear = G * deviator.inner(deviator)
        if self._split == "NONE":
            return 0.5 * K * trace * trace + shear, 0.0 * trace
        opening, closing = macaulay(trace), macaulay(-trace)
        return 0.5 * K * opening * opening + shear, 0.5 * K * closing * closing
