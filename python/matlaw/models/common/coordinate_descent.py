"""Initial guess of a rate from a scalar equation."""

from __future__ import annotations

import torch

from matlaw.models.common.inner import InnerModel
from matlaw.models.context import Context
from matlaw.models.declaration import Input, Option, Output
from matlaw.models.model import Overrides, Values
from matlaw.models.registry import register
from matlaw.models.variable import Variable
from matlaw.tensors import Scalar, Tensor


@register("CoordinateDescentPredictor")
class CoordinateDescentPredictor(InnerModel):
    r"""The rate at which a rate law and a linear driving force agree.

    .. math:: \dot\gamma = r(\tau), \quad \tau + A \, r(\tau) = b

    The driving force :math:`\tau` is bracketed by 0 and :math:`b`, since :math:`A` is not negative and :math:`r` has
    the sign of :math:`\tau`; the bracket is halved and the result polished by Newton steps that stay inside. Source: W.
    H. Press et al., Numerical Recipes, 3rd ed., section 9.4. With one coordinate a single sweep is exact, so ``sweeps``
    has no effect; several coordinates on sub-batch axes are not supported.

    * ``rate_law``: model of :math:`r`; its other inputs are inputs
    * ``driving_force_input``: the input of that model that is :math:`\tau`
    * ``coupling``, ``trial_driving_force`` (Scalar): :math:`A`, :math:`b`, as :class:`RateCondensation` gives them
    * ``rate`` (Scalar, 1/time): :math:`\dot\gamma`
    """

    rate_law = Option("str", "the model of the rate")
    driving_force_input = Option("str", "its input that is the driving force")
    coupling = Input(Scalar, "slope of the driving force")
    trial_driving_force = Input(Scalar, "driving force at zero rate")
    rate = Output(Scalar, "the rate (1/time)")
    sweeps = Option("int", "sweeps over the coordinates", required=False, default="16")
    bisections = Option("int", "halvings of the bracket", required=False, default="16")
    polish = Option("int", "Newton steps after the halvings", required=False, default="3")

    def setup(self, context: Context) -> None:
        """Finds the rate law."""
        self.find_inner(context, "rate_law")
        self.find_variable(context, "driving_force_input", self.inner.inputs, "input")
        if len(self.inner.outputs) != 1:
            raise context.error(f"the rate law must have one output, not {', '.join(self.inner.outputs)}", "rate_law")
        [(self._rate, found)] = self.inner.outputs.items()
        if found.shape:
            raise context.error(f"the rate must be a Scalar, but it is {found.type.__name__}", "rate_law")
        for option in ("sweeps", "bisections", "polish"):
            if context.option(option) < 0:
                raise context.error(f"expected no negative number, got {context.option(option)}", option)
        self._bisections: int = context.option("bisections")
        self._polish: int = context.option("polish")
        self._force: str = context.option("driving_force_input")
        self._coupling: str = context.option("coupling") or "coupling"
        self._trial: str = context.option("trial_driving_force") or "trial_driving_force"
        self.add_input(self._coupling, Variable(Scalar), context, "coupling")
        self.add_input(self._trial, Variable(Scalar), context, "trial_driving_force")
        for name, variable in self.inner.inputs.items():
            if name != self._force:
                self.add_input(name, variable, context, "rate_law")
        self.add_output(context.option("rate") or "rate", Variable(Scalar), context, "rate")

    def run(self, values: Values, overrides: Overrides) -> dict[str, Tensor]:
        """The rate."""
        A, b = values[self._coupling].data, values[self._trial].data

        def law(force: torch.Tensor) -> torch.Tensor:
            return self.inner.run({**values, self._force: Scalar(force)}, overrides)[self._rate].data

        zero = self.zero_rate([values[name] for name in self.inputs])
        low, high = torch.minimum(b, zero), torch.maximum(b, zero)
        for _ in range(self._bisections):
            middle = 0.5 * (low + high)
            above = middle + A * law(middle) > b
            low, high = torch.where(above, low, middle), torch.where(above, middle, high)
        force = 0.5 * (low + high)
        for _ in range(self._polish):
            rate, slope = self.value_and_slope(law, force)
            force = torch.minimum(torch.maximum(force - (force + A * rate - b) / (1.0 + A * slope), low), high)
        [name] = self.outputs
        return {name: Scalar(law(force))}
