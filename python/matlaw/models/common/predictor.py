"""Initial guesses of unknowns from their last values."""

from __future__ import annotations

from matlaw.models.common.extrapolation import ExtrapolationPredictor
from matlaw.models.model import Overrides, Values
from matlaw.models.registry import register
from matlaw.models.variable import old
from matlaw.tensors import Tensor
from matlaw.tensors.functions import where


@register("ConstantExtrapolationPredictor")
class ConstantExtrapolationPredictor(ExtrapolationPredictor):
    """Each unknown ``x`` starts from its old value ``x~1``.

    * ``unknowns_SR2``, ``unknowns_Scalar``, ``unknowns_MRP``, ``unknowns_R2``: the unknowns, by type
    * ``cold``: pairs ``unknown:variable`` for a step without history
    * ``time``: only used by ``cold``
    """

    def run(self, values: Values, overrides: Overrides) -> dict[str, Tensor]:
        """The old values."""
        guesses = {name: values[old(name)] for name in self.outputs}
        if self.cold:
            _, t1, t2 = (values[name].data for name in self.times)
            for unknown, name in self.cold.items():
                guesses[unknown] = where(t1 == t2, values[name], guesses[unknown])
        return guesses
