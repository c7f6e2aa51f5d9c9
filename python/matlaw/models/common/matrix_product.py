"""Products of matrices."""

from __future__ import annotations

from matlaw.models.context import Context
from matlaw.models.declaration import Input, Option, Output
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import R2
from matlaw.tensors.inverse import inverse


@register("R2Multiplication")
class R2Multiplication(Leaf):
    r"""Product of two matrices, each of which may be inverted and transposed first.

    .. math:: C = A B

    * ``A``, ``B`` (R2, any unit): the factors
    * ``to`` (R2): the product
    """

    A = Input(R2, "left factor")
    B = Input(R2, "right factor")
    to = Output(R2, "the product")
    invert_A = Option("bool", "invert A", required=False, default="False")  # noqa: N815
    invert_B = Option("bool", "invert B", required=False, default="False")  # noqa: N815
    transpose_A = Option("bool", "transpose A", required=False, default="False")  # noqa: N815
    transpose_B = Option("bool", "transpose B", required=False, default="False")  # noqa: N815

    def setup(self, context: Context) -> None:
        """Reads what happens to the factors."""
        super().setup(context)
        self._a: tuple[bool, bool] = (context.option("invert_A"), context.option("transpose_A"))
        self._b: tuple[bool, bool] = (context.option("invert_B"), context.option("transpose_B"))

    def forward(self, A: R2, B: R2) -> R2:
        """The product."""
        return _prepared(A, *self._a) @ _prepared(B, *self._b)


def _prepared(a: R2, invert: bool, transpose: bool) -> R2:
    a = inverse(a) if invert else a
    return a.T if transpose else a
