"""Weighted sums of variables."""

from __future__ import annotations

from typing import Any

from matlaw.models.context import Context
from matlaw.models.declaration import Input, Output, Parameter
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import SR2, Scalar, Tensor


class LinearCombination(Leaf):
    r"""Weighted sum of variables of one type.

    .. math:: u = \sum_i w_i v_i + c

    * ``from`` (any unit): the variables :math:`v_i`
    * ``to``: the sum :math:`u`
    * ``weights`` (Scalar): :math:`w_i`, parameters ``weight_0``, ``weight_1`` ...; a single one serves all variables
    * ``offset`` (Scalar): :math:`c`, added to every component
    """

    def setup(self, context: Context) -> None:
        """Binds the variables and checks the number of weights."""
        super().setup(context)
        terms, weights = context.option("from"), context.option("weights")
        if not terms:
            raise context.error("expected at least one variable", "from")
        if len(set(terms)) != len(terms):
            raise context.error(f"a variable appears twice: {' '.join(terms)}; add up its weights", "from")
        if len(weights) not in (1, len(terms)):
            raise context.error(f"expected 1 or {len(terms)} weights, got {len(weights)}", "weights")

    def forward(self, from_: list[Any], weights: list[Scalar], offset: Scalar) -> Tensor:
        """The weighted sum."""
        if len(weights) == 1:
            weights = weights * len(from_)
        total = from_[0] * weights[0]
        for term, weight in zip(from_[1:], weights[1:], strict=True):
            total = total + term * weight
        return total + offset


def _family(kind: type[Tensor]) -> type[LinearCombination]:
    """The linear combination of one tensor type, registered as ``<Type>LinearCombination``."""
    members = {
        "__doc__": LinearCombination.__doc__,
        "__module__": __name__,
        "from_": Input(kind, "the variables", many=True),
        "to": Output(kind, "the sum"),
        "weights": Parameter(Scalar, "weights", symbol="weight", required=False, default="1", many=True),
        "offset": Parameter(Scalar, "constant that is added", required=False, default="0"),
    }
    name = f"{kind.__name__}LinearCombination"
    return register(name)(type(name, (LinearCombination,), members))


ScalarLinearCombination = _family(Scalar)
SR2LinearCombination = _family(SR2)
