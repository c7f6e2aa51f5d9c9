"""The elasticity tensor of a cubic crystal."""

from __future__ import annotations

from typing import Any

from matlaw.models.context import Context
from matlaw.models.declaration import Option
from matlaw.models.naming import OwnNameOutput
from matlaw.models.registry import register
from matlaw.models.solid_mechanics.elasticity.coefficients import ElasticConstants
from matlaw.models.solid_mechanics.elasticity.isotropic_moduli import SYMBOLS, bulk_and_shear
from matlaw.tensors import SSR4, Scalar

_SHEAR = "SHEAR_MODULUS"
#: Deviators along the axes of the crystal, and shears in its planes.
_TETRAGONAL = [[(i == j) - 1.0 / 3.0 if i < 3 and j < 3 else 0.0 for j in range(6)] for i in range(6)]
_PLANE_SHEAR = [[1.0 if i == j and i > 2 else 0.0 for j in range(6)] for i in range(6)]


@register("CubicElasticityTensor")
class CubicElasticityTensor(ElasticConstants):
    r"""Elasticity tensor of a cubic crystal in its own axes.

    .. math::
        C_{11} = K + \tfrac43 G', \quad C_{12} = K - \tfrac23 G', \quad C_{44} = G

    The shear modulus is that of the planes of the cube, :math:`C_{44}`. The two other constants are those along an edge
    of the cube, where :math:`E`, :math:`\nu`, :math:`K`, :math:`\lambda = C_{12}` and :math:`M = C_{11}` depend on
    each other as in an isotropic solid whose shear modulus is :math:`G' = (C_{11} - C_{12}) / 2`. Source: J. F. Nye,
    Physical Properties of Crystals, Oxford 1985, chapter 8.

    * ``C`` (SSR4, stress): by default named like the model
    * ``coefficients`` (Scalar): the shear modulus and two other constants, in any order
    """

    count = 3

    C = OwnNameOutput(SSR4, "elasticity tensor (stress)")
    coefficients = Option("list", "three elastic constants")
    coefficient_types = Option("list", "what the three constants are", choices=tuple(SYMBOLS))

    def setup(self, context: Context) -> None:
        """Makes sure that the shear modulus is there."""
        super().setup(context)
        if _SHEAR not in self.types:
            raise context.error(
                f"one of the three must be {_SHEAR}: no other constant holds C44 of a cubic crystal",
                "coefficient_types",
            )

    def forward(self, constants: list[Scalar]) -> SSR4:
        """The tensor."""
        given = dict(zip(self.types, constants, strict=True))
        G = given.pop(_SHEAR)
        (a, first), (b, second) = given.items()
        K, tetragonal = bulk_and_shear((a, b), (first, second))
        kw: dict[str, Any] = {"dtype": G.dtype, "device": G.device}
        edges = 3.0 * K * SSR4.identity_vol(**kw) + 2.0 * tetragonal * SSR4.constant(_TETRAGONAL, **kw)
        return edges + 2.0 * G * SSR4.constant(_PLANE_SHEAR, **kw)
