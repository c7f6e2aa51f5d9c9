"""Radial return with scalar unknowns only."""

from __future__ import annotations

from matlaw.models.context import Context
from matlaw.models.declaration import Input, Option, Output
from matlaw.models.registry import register
from matlaw.models.solid_mechanics.elasticity.coefficients import ElasticConstants
from matlaw.models.solid_mechanics.elasticity.isotropic_moduli import SYMBOLS
from matlaw.models.variable import old
from matlaw.tensors import Scalar


@register("LinearIsotropicElasticJ2TrialStressUpdate")
class LinearIsotropicElasticJ2TrialStressUpdate(ElasticConstants):
    r"""Von Mises stress at the end of a step, from that of an elastic step.

    .. math:: \bar\sigma = \bar\sigma^{tr} - 3 G (\bar\varepsilon_p - \bar\varepsilon_{p,n})

    Source: J. C. Simo, T. J. R. Hughes, Computational Inelasticity, Springer 1998, section 3.3.

    * ``elastic_trial_stress`` (Scalar, stress): :math:`\bar\sigma^{tr}`
    * ``equivalent_plastic_strain`` (Scalar, -): :math:`\bar\varepsilon_p`; its old value is
      ``<equivalent_plastic_strain>~1``
    * ``updated_trial_stress`` (Scalar, stress): :math:`\bar\sigma`
    * ``coefficients`` (Scalar): two elastic constants (stress, or - for Poisson's ratio)
    """

    elastic_trial_stress = Input(Scalar, "von Mises stress of an elastic step (stress)")
    equivalent_plastic_strain = Input(Scalar, "equivalent plastic strain (-)")
    updated_trial_stress = Output(Scalar, "von Mises stress (stress)")
    coefficients = Option("list", "two elastic constants")
    coefficient_types = Option("list", "what the two constants are", choices=tuple(SYMBOLS))

    def setup(self, context: Context) -> None:
        """Adds the old plastic strain."""
        super().setup(context)
        [name] = self._arguments["equivalent_plastic_strain"]
        self.add_input(old(str(name)), self.inputs[str(name)], context, "equivalent_plastic_strain")
        self._arguments["old_strain"] = [old(str(name))]

    def forward(
        self,
        elastic_trial_stress: Scalar,
        equivalent_plastic_strain: Scalar,
        old_strain: Scalar,
        constants: list[Scalar],
    ) -> Scalar:
        """The von Mises stress."""
        _, G = self.bulk_and_shear(constants)
        return elastic_trial_stress - 3.0 * G * (equivalent_plastic_strain - old_strain)
