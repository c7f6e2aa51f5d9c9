"""Elastic constants given as a list of values and a list of what they are."""

from __future__ import annotations

from typing import ClassVar

from matlaw.models.context import Context
from matlaw.models.declaration import Parameter
from matlaw.models.naming import NamingLeaf
from matlaw.models.solid_mechanics.elasticity.isotropic_moduli import SYMBOLS, bulk_and_shear
from matlaw.tensors import Scalar


class ElasticConstants(NamingLeaf):
    """A model with the options ``coefficients`` and ``coefficient_types``.

    ``forward`` receives the constants as the list ``constants``; the parameters are named by :data:`SYMBOLS`.

    :cvar count: how many constants there are
    :ivar types: their types, in the order in which the block gives them
    """

    count: ClassVar[int] = 2

    def setup(self, context: Context) -> None:
        """Binds the constants as parameters."""
        super().setup(context)
        count = {2: "two", 3: "three"}[self.count]
        tokens, types = context.option("coefficients"), context.option("coefficient_types")
        if len(types) != self.count or len(set(types)) != self.count:
            raise context.error(
                f"expected {count} different coefficient types, got {len(types)}: {' '.join(types)}. The types "
                f"are: {', '.join(SYMBOLS)}",
                "coefficient_types",
            )
        if len(tokens) != self.count:
            raise context.error(f"expected {count} coefficients, got {len(tokens)}", "coefficients")
        self.types: tuple[str, ...] = tuple(types)
        self._many.add("constants")
        for kind, token in zip(types, tokens, strict=True):
            parameter = Parameter(Scalar, symbol=SYMBOLS[kind])
            parameter.attribute, parameter.option = "constants", "coefficients"
            self.bind_parameter(parameter, parameter.symbol, token, context)

    def bulk_and_shear(self, constants: list[Scalar]) -> tuple[Scalar, Scalar]:
        """Bulk and shear modulus from two constants, in the order of :attr:`types`."""
        first, second = constants
        return bulk_and_shear((self.types[0], self.types[1]), (first, second))
