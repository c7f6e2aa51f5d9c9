"""Complementarity as a minimum."""

from __future__ import annotations

from matlaw.models.context import Context
from matlaw.models.declaration import Input, Option, Output
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import Scalar
from matlaw.tensors.limits import minimum


@register("MinMapComplementarity")
class MinMapComplementarity(Leaf):
    r"""Minimum of two conditions, zero where both conditions and :math:`a b = 0` hold.

    .. math:: \phi = \min(a', b')

    with :math:`a' = a` for the condition :math:`a \ge 0` and :math:`a' = -a` for :math:`a \le 0`, and alike for
    :math:`b`. Source: J.-S. Pang, Newton's method for B-differentiable equations, Math. Oper. Res. 15 (1990).

    * ``a`` (Scalar, any unit): first condition, by default :math:`a \le 0` (a yield function)
    * ``b`` (Scalar, any unit): second condition, by default :math:`b \ge 0` (a flow rate)
    * ``complementarity`` (Scalar): :math:`\phi`
    """

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
        """The minimum."""
        return minimum(-a if self._flip_a else a, -b if self._flip_b else b)
