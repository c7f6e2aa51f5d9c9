"""Norms of several scalars."""

from __future__ import annotations

from matlaw.models.context import Context
from matlaw.models.declaration import Input, Output, Parameter
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import Scalar
from matlaw.tensors.functions import abs
from matlaw.tensors.powers import norm_power


@register("ScalarPNorm")
class ScalarPNorm(Leaf):
    r"""Weighted p-norm.

    .. math:: y = \left(\sum_i w_i |x_i|^p\right)^{1/p}

    At zero the norm is zero, and so are its derivatives. Source: e.g. G. H. Golub, C. F. Van Loan, Matrix Computations,
    4th ed., section 2.2.

    * ``from`` (Scalar, any unit): :math:`x_i`
    * ``to`` (Scalar, the same unit): :math:`y`
    * ``exponent`` (Scalar, -): :math:`p`, parameter ``p``
    * ``weights`` (Scalar, -): :math:`w_i`, parameters ``weight_0``, ``weight_1`` ...; a single one serves all
    """

    from_ = Input(Scalar, "the scalars", many=True)
    to = Output(Scalar, "their norm")
    exponent = Parameter(Scalar, "exponent (-)", symbol="p")
    weights = Parameter(Scalar, "weights (-)", symbol="weight", required=False, default="1", many=True)

    def setup(self, context: Context) -> None:
        """Checks the number of weights."""
        super().setup(context)
        terms, weights = context.option("from"), context.option("weights")
        if not terms:
            raise context.error("expected at least one variable", "from")
        if len(weights) not in (1, len(terms)):
            raise context.error(f"expected 1 or {len(terms)} weights, got {len(weights)}", "weights")

    def forward(self, from_: list[Scalar], exponent: Scalar, weights: list[Scalar]) -> Scalar:
        """The norm."""
        powers = [norm_power(abs(x), exponent) for x in from_]
        if len(weights) == 1:
            weights = weights * len(powers)
        total = weights[0] * powers[0]
        for weight, power in zip(weights[1:], powers[1:], strict=True):
            total = total + weight * power
        return norm_power(total, 1.0 / exponent)
