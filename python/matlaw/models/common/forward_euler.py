"""Explicit time integration."""

from __future__ import annotations

from typing import Any, ClassVar

from matlaw.models.context import Context
from matlaw.models.declaration import Input, Option, Output
from matlaw.models.family import member
from matlaw.models.model import Leaf
from matlaw.models.variable import Variable, old
from matlaw.tensors import R2, SR2, Scalar, Tensor


class ForwardEulerTimeIntegration(Leaf):
    r"""Explicit Euler rule.

    .. math:: v = v_n + (t - t_n) \dot v

    Source: E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, Springer 1993, section I.7.

    * ``variable`` (any unit): :math:`v`
    * ``time`` (Scalar, time): :math:`t`; its old value is ``<time>~1``
    * ``rate`` (unit/time): :math:`\dot v`, by default ``<variable>_rate``
    * ``old_variable``: :math:`v_n`, by default ``<variable>~1``
    """

    kind: ClassVar[type[Tensor]]

    rate = Option("str", "name of the rate", required=False)
    old_variable_ = Option("str", "name of the old value", required=False)

    def setup(self, context: Context) -> None:
        """Adds the old values and the rate."""
        super().setup(context)
        [variable] = self.outputs
        [time] = self._arguments["time"]
        for attribute, name, option, kind in (
            ("variable_old", context.option("old_variable") or old(variable), "old_variable", self.kind),
            ("time_old", old(str(time)), "time", Scalar),
            ("rate", context.option("rate") or f"{variable}_rate", "rate", self.kind),
        ):
            self.add_input(name, Variable(kind), context, option)
            self._arguments[attribute] = [name]

    def forward(self, variable_old: Any, time: Scalar, time_old: Scalar, rate: Any) -> Tensor:
        """The value at the end of the step."""
        return variable_old + rate * (time - time_old)


def _family(kind: type[Tensor]) -> type[ForwardEulerTimeIntegration]:
    return member(
        ForwardEulerTimeIntegration,
        f"{kind.__name__}ForwardEulerTimeIntegration",
        kind,
        variable=Output(kind, "the variable"),
        time=Input(Scalar, "time (time)", required=False, default="t"),
    )


ScalarForwardEulerTimeIntegration = _family(Scalar)
SR2ForwardEulerTimeIntegration = _family(SR2)
R2ForwardEulerTimeIntegration = _family(R2)
