"""Control of some components by one variable and of the others by another."""

from __future__ import annotations

import torch

from matlaw.models.context import Context
from matlaw.models.declaration import Input, Option, Output
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import SR2
from matlaw.tensors.base import with_sub_batch_ndim


@register("MixedControlSetup")
class MixedControlSetup(Leaf):
    r"""Component by component, which of two tensors is given and which is left.

    .. math:: y_i = \begin{cases} a_i & c_i > c^* \\ b_i & \text{else} \end{cases}, \quad z_i = a_i + b_i - y_i

    For a material point that is driven by strain in some directions and by stress in the others, let ``x_above`` be the
    stress and ``x_below`` the strain, each under control where the signal says so. Source: Mandel components as in
    J. Mandel, Cours de mecanique des milieux continus, Gauthier-Villars 1966.

    * ``control`` (SR2, -): :math:`c`
    * ``x_above``, ``x_below`` (SR2, any unit): :math:`a`, :math:`b`
    * ``y``, ``z`` (SR2, any unit): the selected and the other components
    * ``threshold`` (-): :math:`c^*`
    """

    control = Input(SR2, "control signal (-)")
    x_above = Input(SR2, "taken where the signal is above the threshold")
    x_below = Input(SR2, "taken elsewhere")
    y = Output(SR2, "the components that are taken")
    z = Output(SR2, "the other components")
    threshold = Option("float", "threshold of the signal (-)", required=False, default="0.5")

    def setup(self, context: Context) -> None:
        """Reads the threshold."""
        super().setup(context)
        self._threshold: float = context.option("threshold")

    def forward(self, control: SR2, x_above: SR2, x_below: SR2) -> tuple[SR2, SR2]:
        """The taken and the other components."""
        sub = max(v.sub_batch_ndim for v in (control, x_above, x_below))
        signal, above, below = (with_sub_batch_ndim(v, sub) for v in (control, x_above, x_below))
        mask = signal > self._threshold
        return SR2(torch.where(mask, above, below), sub), SR2(torch.where(mask, below, above), sub)
