"""Initial guesses of unknowns from their last two values."""

from __future__ import annotations

import torch

from matlaw.models.common.extrapolation import ExtrapolationPredictor
from matlaw.models.context import Context
from matlaw.models.model import Overrides, Values
from matlaw.models.registry import register
from matlaw.models.variable import old
from matlaw.tensors import Scalar, Tensor
from matlaw.tensors.functions import where


@register("LinearExtrapolationPredictor")
class LinearExtrapolationPredictor(ExtrapolationPredictor):
    r"""Each unknown goes on at the rate of the last step.

    .. math:: u = u_n + (u_n - u_{n-1}) \frac{t - t_n}{t_n - t_{n-1}}

    On a step without history, :math:`t_n = t_{n-1}`, an unknown starts from :math:`u_n`, or from the variable that
    ``cold`` names. Source: E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, Springer 1996, section
    IV.8.

    * ``unknowns_SR2``, ``unknowns_Scalar``, ``unknowns_MRP``, ``unknowns_R2``: the unknowns, by type; their earlier
      values are ``<unknown>~1`` and ``<unknown>~2``
    * ``time``: its earlier values are ``<time>~1`` and ``<time>~2``
    * ``cold``: pairs ``unknown:variable`` for a step without history
    """

    def setup(self, context: Context) -> None:
        """Adds times and older values."""
        super().setup(context)
        self.add_times(context)
        for name, variable in self.outputs.items():
            self.add_input(f"{name}~2", variable, context)

    def run(self, values: Values, overrides: Overrides) -> dict[str, Tensor]:
        """The extrapolated values."""
        t, t1, t2 = (values[name].data for name in self.times)
        still = t1 == t2
        ratio = Scalar(torch.where(still, 0.0, (t - t1) / torch.where(still, 1.0, t1 - t2)))
        guesses: dict[str, Tensor] = {}
        for name in self.outputs:
            last = values[old(name)]
            guesses[name] = last + (last - values[f"{name}~2"]) * ratio
            if name in self.cold:
                guesses[name] = where(still, values[self.cold[name]], guesses[name])
        return guesses
