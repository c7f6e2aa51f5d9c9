"""Linearisation of a driving force at zero rate."""

from __future__ import annotations

import torch

from matlaw.models.common.inner import InnerModel
from matlaw.models.context import Context
from matlaw.models.declaration import Option, Output
from matlaw.models.model import Overrides, Values
from matlaw.models.registry import register
from matlaw.models.variable import Variable
from matlaw.tensors import Scalar, Tensor


@register("RateCondensation")
class RateCondensation(InnerModel):
    r"""Trial value and slope of a driving force as a function of its rate.

    .. math:: b = f(0), \quad A = -\left.\frac{\partial f}{\partial \dot\gamma}\right|_{\dot\gamma = 0}

    Together they replace :math:`f` by :math:`b - A \dot\gamma`, for :class:`CoordinateDescentPredictor`. Source:
    linearised return mapping, J. C. Simo, T. J. R. Hughes, Computational Inelasticity, Springer 1998, section 3.3.

    * ``model``: evaluates :math:`f`; its inputs other than the rate are inputs
    * ``rate``, ``driving_force``: the input (Scalar, 1/time) and the output (Scalar) of that model
    * ``coupling``, ``trial_driving_force`` (Scalar): :math:`A`, :math:`b`
    """

    model = Option("str", "the model of the driving force")
    rate = Option("str", "its input that is the rate")
    driving_force = Option("str", "its output that is the driving force")
    coupling = Output(Scalar, "negative slope at zero rate")
    trial_driving_force = Output(Scalar, "driving force at zero rate")

    def setup(self, context: Context) -> None:
        """Finds the model."""
        self.find_inner(context, "model")
        self.find_variable(context, "rate", self.inner.inputs, "input")
        self.find_variable(context, "driving_force", self.inner.outputs, "output")
        self._rate: str = context.option("rate")
        self._force: str = context.option("driving_force")
        for name, variable in self.inner.inputs.items():
            if name != self._rate:
                self.add_input(name, variable, context)
        for option in ("coupling", "trial_driving_force"):
            self.add_output(context.option(option) or option, Variable(Scalar), context, option)

    def run(self, values: Values, overrides: Overrides) -> dict[str, Tensor]:
        """The negative slope and the trial value."""

        def force(rate: torch.Tensor) -> torch.Tensor:
            return self.inner.run({**values, self._rate: Scalar(rate)}, overrides)[self._force].data

        zero = self.zero_rate([values[name] for name in self.inputs])
        trial, slope = self.value_and_slope(force, zero)
        return dict(zip(self.outputs, (Scalar(-slope), Scalar(trial)), strict=True))
