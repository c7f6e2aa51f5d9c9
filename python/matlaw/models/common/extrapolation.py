"""Extrapolation of unknowns from earlier steps."""

from __future__ import annotations

from matlaw.models.context import Context, ParameterSlot
from matlaw.models.declaration import Option
from matlaw.models.model import Model
from matlaw.models.variable import Variable, old
from matlaw.tensors import MRP, R2, SR2, Scalar, Tensor

_KINDS: dict[str, type[Tensor]] = {
    "unknowns_SR2": SR2,
    "unknowns_Scalar": Scalar,
    "unknowns_MRP": MRP,
    "unknowns_R2": R2,
}


class ExtrapolationPredictor(Model):
    """The base of predictors that start each unknown ``x`` from ``x~1``.

    With ``cold``, an unknown starts from another variable on a step without history, one before which time stood still:
    ``<time>~1`` equals ``<time>~2``.

    :ivar cold: variable from which an unknown starts on such a step
    """

    unknowns_SR2 = Option("list", "unknowns of type SR2", required=False)  # noqa: N815
    unknowns_Scalar = Option("list", "unknowns of type Scalar", required=False)  # noqa: N815
    unknowns_MRP = Option("list", "unknowns of type MRP", required=False)  # noqa: N815
    unknowns_R2 = Option("list", "unknowns of type R2", required=False)  # noqa: N815
    cold_ = Option("list", "unknown:variable pairs for a step without history", required=False)
    time_ = Option("str", "time", required=False, default="t")

    def setup(self, context: Context) -> None:
        """Pairs every unknown with its old value."""
        for option, kind in _KINDS.items():
            for name in context.option(option):
                self.add_input(old(name), Variable(kind), context, option)
                self.add_output(name, Variable(kind), context, option)
        if not self.outputs:
            raise context.error(f"expected at least one unknown in one of {', '.join(_KINDS)}")
        self.times: tuple[str, str, str] = (lambda t: (t, old(t), f"{t}~2"))(context.option("time"))
        self.cold: dict[str, str] = {}
        for pair in context.option("cold"):
            unknown, separator, name = pair.partition(":")
            if not separator or not name:
                raise context.error(f"expected unknown:variable, got '{pair}'", "cold")
            if unknown not in self.outputs:
                raise context.unknown("unknown", unknown, list(self.outputs), "cold")
            self.cold[unknown] = name
        if self.cold:
            self.add_times(context)
        for unknown, name in self.cold.items():
            self.add_input(name, self.outputs[unknown], context, "cold")

    def add_times(self, context: Context) -> None:
        """Declares time, its old and its older value as inputs."""
        for name in self.times:
            self.add_input(name, Variable(Scalar), context, "time")

    def relative_parameters(self) -> dict[str, ParameterSlot]:
        """None."""
        return {}
