"""Linear isotropic elasticity."""

from __future__ import annotations

from matlaw.models.context import Context
from matlaw.models.declaration import Declaration, Input, Option, Output
from matlaw.models.registry import register
from matlaw.models.solid_mechanics.elasticity.coefficients import ElasticConstants
from matlaw.models.solid_mechanics.elasticity.isotropic_moduli import SYMBOLS
from matlaw.models.variable import Variable
from matlaw.tensors import SR2, Scalar


@register("LinearIsotropicElasticity")
class LinearIsotropicElasticity(ElasticConstants):
    r"""Hooke's law of an isotropic solid.

    .. math:: \sigma = 3 K \, \mathrm{vol}(\varepsilon) + 2 G \, \mathrm{dev}(\varepsilon)

    with bulk modulus :math:`K` and shear modulus :math:`G` from any two elastic constants. Source: L. D. Landau,
    E. M. Lifshitz, Theory of Elasticity, 3rd ed., section 4.

    * ``strain`` (SR2, -): elastic strain
    * ``stress`` (SR2, stress): stress
    * ``coefficients`` (Scalar): two elastic constants (stress, or - for Poisson's ratio)

    With ``compliance`` the model maps stress to strain. With ``rate_form`` it relates the rates; the names of both
    variables get the suffix ``_rate``.
    """

    strain = Input(SR2, "elastic strain (-)")
    stress = Output(SR2, "stress (stress)")
    compliance = Option("bool", "map stress to strain", required=False, default="False")
    rate_form = Option("bool", "relate rates; both names get the suffix _rate", required=False, default="False")
    coefficients = Option("list", "two elastic constants")
    coefficient_types = Option("list", "what the two constants are", choices=tuple(SYMBOLS))

    def bind(self, declaration: Declaration, context: Context) -> None:
        """Swaps the roles of strain and stress for the compliance, and renames them for the rate form."""
        if not isinstance(declaration, Input | Output):
            return
        name = context.option(declaration.option) or declaration.option
        if context.option("rate_form"):
            name += "_rate"
        if isinstance(declaration, Input) is not context.option("compliance"):
            self.add_input(name, Variable(SR2), context, declaration.option)
            self._arguments["given"] = [name]
        else:
            self.add_output(name, Variable(SR2), context, declaration.option)
        self._compliance: bool = context.option("compliance")

    def forward(self, given: SR2, constants: list[Scalar]) -> SR2:
        """Stress from strain, or strain from stress."""
        K, G = self.bulk_and_shear(constants)
        # 2 G for the deviator and 3 K for the volumetric part, or their reciprocals: what the second has more than the
        # first acts on the trace alone.
        shear, bulk = 2.0 * G, 3.0 * K
        if self._compliance:
            shear, bulk = 1.0 / shear, 1.0 / bulk
        return (shear * given).add_spherical((bulk - shear) * (1.0 / 3.0) * given.trace())
