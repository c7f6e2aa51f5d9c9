"""Complementarity as a minimum."""

from __future__ import annotations

from matlaw.models.common.complementarity import Complementarity
from matlaw.models.registry import register
from matlaw.tensors import Scalar
from matlaw.tensors.limits import minimum


@register("MinMapComplementarity")
class MinMapComplementarity(Complementarity):
    r"""Minimum of two conditions, zero where both conditions and :math:`a b = 0` hold.

    .. math:: \phi = \min(a', b')

    with :math:`a' = a` for the condition :math:`a \ge 0` and :math:`a' = -a` for :math:`a \le 0`, and alike for
    :math:`b`. Source: J.-S. Pang, Newton's method for B-differentiable equations, Math. Oper. Res. 15 (1990).

    * ``a`` (Scalar, any unit): first condition, by default :math:`a \le 0` (a yield function)
    * ``b`` (Scalar, any unit): second condition, by default :math:`b \ge 0` (a flow rate)
    * ``complementarity`` (Scalar): :math:`\phi`
    """

    def function(self, a: Scalar, b: Scalar) -> Scalar:
        """The minimum."""
        return minimum(a, b)
