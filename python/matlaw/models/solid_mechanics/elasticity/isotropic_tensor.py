"""The elasticity tensor of an isotropic solid."""

from __future__ import annotations

from matlaw.models.declaration import Option
from matlaw.models.naming import OwnNameOutput
from matlaw.models.registry import register
from matlaw.models.solid_mechanics.elasticity.coefficients import ElasticConstants
from matlaw.models.solid_mechanics.elasticity.isotropic_moduli import SYMBOLS
from matlaw.tensors import SSR4, Scalar


@register("IsotropicElasticityTensor")
class IsotropicElasticityTensor(ElasticConstants):
    r"""Isotropic elasticity tensor.

    .. math:: C = 3 K I_\mathrm{vol} + 2 G I_\mathrm{dev}

    with bulk modulus :math:`K` and shear modulus :math:`G` from any two elastic constants. Source: L. D. Landau,
    E. M. Lifshitz, Theory of Elasticity, 3rd ed., section 4.

    * ``C`` (SSR4, stress): by default named like the model
    * ``coefficients`` (Scalar): two elastic constants (stress, or - for Poisson's ratio)
    """

    C = OwnNameOutput(SSR4, "elasticity tensor (stress)")
    coefficients = Option("list", "two elastic constants")
    coefficient_types = Option("list", "what the two constants are", choices=tuple(SYMBOLS))

    def forward(self, constants: list[Scalar]) -> SSR4:
        """The tensor."""
        return SSR4.isotropic(*self.bulk_and_shear(constants))
