"""Complementarity conditions as equations."""

from __future__ import annotations

from matlaw.models.context import Context
from matlaw.models.declaration import Input, Option, Output
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import Scalar
from matlaw.tensors.functions import root


class Complementarity(Leaf):
    """Two inequalities, each ``>= 0`` or ``<= 0``, that hold with one of them as an equation."""

    a = Input(Scalar, "first condition")
    b = Input(Scalar, "second condition")
    complementarity = Output(Scalar, "zero when both conditions hold")
    a_inequality = Option("str", "LE: a <= 0, GE: a >= 0", required=False, default="LE", choices=("LE", "GE"))
    b_inequality = Option("str", "LE: b <= 0, GE: b >= 0", required=False, default="GE", choices=("LE", "GE"))

    def setup(self, context: Context) -> None:
        """Reads the directions of the inequalities."""
        super().setup(context)
        self._flip_a: bool = context.option("a_inequality") == "LE"
        self._flip_b: bool = context.option("b_inequality") == "LE"

    def forward(self, a: Scalar, b: Scalar) -> Scalar:
        """The function that is zero, of the conditions turned to ``>= 0``."""
        return self.function(-a if self._flip_a else a, -b if self._flip_b else b)

    def function(self, a: Scalar, b: Scalar) -> Scalar:
        """Zero where ``a >= 0``, ``b >= 0`` and ``a b = 0``."""
        raise NotImplementedError


@register("FBComplementarity")
class FBComplementarity(Complementarity):
    r"""Fischer-Burmeister function, zero where both conditions and :math:`a b = 0` hold.

    .. math:: \phi = a' + b' - \sqrt{a'^2 + b'^2}

    with :math:`a' = a` for the condition :math:`a \ge 0` and :math:`a' = -a` for :math:`a \le 0`, and alike for
    :math:`b`. At :math:`a = b = 0` the derivatives of the root are taken as zero, an element of the generalised
    Jacobian's neighbourhood that keeps Newton's method regular. Source: A. Fischer, A special Newton-type
    optimization method, Optimization 24 (1992).

    * ``a`` (Scalar, any unit): first condition, by default :math:`a \le 0` (a yield function)
    * ``b`` (Scalar, any unit): second condition, by default :math:`b \ge 0` (a flow rate)
    * ``complementarity`` (Scalar): :math:`\phi`
    """

    def function(self, a: Scalar, b: Scalar) -> Scalar:
        """The Fischer-Burmeister function."""
        return a + b - root(a * a + b * b)
