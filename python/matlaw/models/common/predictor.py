"""Initial guesses of unknowns."""

from __future__ import annotations

from matlaw.models.context import Context, ParameterSlot
from matlaw.models.declaration import Option
from matlaw.models.model import Model, Overrides, Values
from matlaw.models.registry import register
from matlaw.models.variable import Variable, old
from matlaw.tensors import R2, SR2, Scalar, Tensor


@register("ConstantExtrapolationPredictor")
class ConstantExtrapolationPredictor(Model):
    """Each unknown ``x`` starts from its old value ``x~1``."""

    unknowns_SR2 = Option("list", "unknowns of type SR2", required=False)  # noqa: N815
    unknowns_Scalar = Option("list", "unknowns of type Scalar", required=False)  # noqa: N815
    unknowns_MRP = Option("list", "unknowns of type MRP", required=False)  # noqa: N815
    unknowns_R2 = Option("list", "unknowns of type R2", required=False)  # noqa: N815
    cold = Option("list", "unknown:variable pairs for a step without history", required=False)
    time = Option("str", "time; only used by cold", required=False, default="t")

    def setup(self, context: Context) -> None:
        """Pairs every unknown with its old value."""
        for option in ("cold", "unknowns_MRP"):
            if context.option(option):
                raise context.error(f"option '{option}' is not supported yet", option)
        kinds: dict[str, type[Tensor]] = {"unknowns_SR2": SR2, "unknowns_Scalar": Scalar, "unknowns_R2": R2}
        for option, kind in kinds.items():
            for name in context.option(option):
                self.add_input(old(name), Variable(kind), context, option)
                self.add_output(name, Variable(kind), context, option)
        if not self.outputs:
            raise context.error(f"expected at least one unknown in one of {', '.join(kinds)}")

    def relative_parameters(self) -> dict[str, ParameterSlot]:
        """None."""
        return {}

    def run(self, values: Values, overrides: Overrides) -> dict[str, Tensor]:
        """The old values."""
        return {name: values[old(name)] for name in self.outputs}
