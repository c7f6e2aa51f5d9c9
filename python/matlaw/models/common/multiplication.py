"""Products of scalars."""

from __future__ import annotations

from matlaw.models.context import Context
from matlaw.models.declaration import Input, Option, Output, Parameter
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import Scalar

_TRUTH = {"true": True, "on": True, "yes": True, "false": False, "off": False, "no": False}


@register("ScalarMultiplication")
class ScalarMultiplication(Leaf):
    r"""Product of scalars or of their reciprocals.

    .. math:: y = s \prod_i x_i^{\pm 1}

    * ``from`` (Scalar, any units): :math:`x_i`
    * ``to`` (Scalar): :math:`y`
    * ``scaling`` (Scalar): :math:`s`
    * ``reciprocal``: for each variable whether it divides; a single value serves all
    """

    from_ = Input(Scalar, "the factors", many=True)
    to = Output(Scalar, "the product")
    scaling = Parameter(Scalar, "constant factor", required=False, default="1")
    reciprocal = Option("list", "whether each variable divides", required=False, default="False")

    def setup(self, context: Context) -> None:
        """Reads which variables divide."""
        super().setup(context)
        words, count = context.option("reciprocal"), len(context.option("from"))
        if not count:
            raise context.error("expected at least one variable", "from")
        wrong = [word for word in words if word.lower() not in _TRUTH]
        if wrong or len(words) not in (1, count):
            raise context.error(f"expected 1 or {count} of true and false, got '{' '.join(words)}'", "reciprocal")
        truths = [_TRUTH[word.lower()] for word in words]
        self._divides = truths * count if len(truths) == 1 else truths

    def forward(self, from_: list[Scalar], scaling: Scalar) -> Scalar:
        """The product."""
        product = scaling
        for factor, divides in zip(from_, self._divides, strict=True):
            product = product / factor if divides else product * factor
        return product
