"""Initial guess of a rate from a scalar equation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import torch

from matlaw.models.common.inner import InnerModel
from matlaw.models.context import Context
from matlaw.models.declaration import Input, Option, Output
from matlaw.models.model import Overrides, Values
from matlaw.models.provenance import observed
from matlaw.models.registry import register
from matlaw.models.variable import Variable
from matlaw.tensors import Scalar, Tensor
from matlaw.tensors.sub_batch import slice_last

#: So many brackets take less time than the calls that halve them.
_FEW: Final = 1024


@register("CoordinateDescentPredictor")
class CoordinateDescentPredictor(InnerModel):
    r"""The rates at which a rate law and linear driving forces agree.

    .. math:: \dot\gamma_i = r(\tau_i), \quad \tau_i + \sum_j A_{ij} \, r(\tau_j) = b_i

    One coordinate is solved for after the other, with the others held, again and again: these are the steps of
    Gauss and Seidel, which descend where :math:`A` is symmetric and positive semi-definite. For each, the driving force
    :math:`\tau_i` is bracketed by 0 and what the others leave of :math:`b_i`, since :math:`A_{ii}` is not negative and
    :math:`r` has the sign of :math:`\tau`; the bracket is halved and the result polished by Newton steps that stay
    inside. Source: W. H. Press et al., Numerical Recipes, 3rd ed., section 9.4; J. M. Ortega, W. C. Rheinboldt,
    Iterative Solution of Nonlinear Equations, SIAM 2000, chapter 14.

    * ``rate_law``: model of :math:`r`; its other inputs are inputs
    * ``driving_force_input``: the input of that model that is :math:`\tau`
    * ``coupling``, ``trial_driving_force`` (Scalar): :math:`A`, :math:`b`, with the sub-batch axes ``(m, m)`` and
      ``(m,)`` for ``m`` coordinates; with axes alike, every entry is a system of its own with one coordinate
    * ``rate`` (Scalar, 1/time): :math:`\dot\gamma`, with the axes of :math:`b`
    * ``sweeps``: how often each of several coordinates is solved for
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
        self._sweeps: int = context.option("sweeps")
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
        """The rates."""
        A, b = values[self._coupling], values[self._trial]
        [name] = self.outputs
        if A.sub_batch_ndim == b.sub_batch_ndim:
            return {name: Scalar(self._rate_of(A.data, b.data, values, overrides), b.sub_batch_ndim)}
        shape = b.sub_batch_shape
        if A.sub_batch_ndim != b.sub_batch_ndim + 1 or not shape or A.sub_batch_shape[-2:] != (shape[-1], shape[-1]):
            raise ValueError(
                f"expected sub-batch axes (m, m) of '{self._coupling}' and (m,) of '{self._trial}', got "
                f"{A.sub_batch_shape} and {shape}"
            )
        count = shape[-1]
        slices = [_coordinate(values, i, count) for i in range(count)]
        zero = torch.zeros_like(b.data[..., :1, :] * A.data[..., 0, :1, :])
        rates = [zero] * count
        for _ in range(self._sweeps):
            for i in range(count):
                row, own = A.data[..., i, :, :], A.data[..., i, i : i + 1, :]
                relaxed = (row * torch.cat(rates, -2)).sum(-2, keepdim=True) - own * rates[i]
                rates[i] = self._rate_of(own, b.data[..., i : i + 1, :] - relaxed, slices[i], overrides)
        return {name: Scalar(torch.cat(rates, -2), b.sub_batch_ndim)}

    def _rate_of(self, A: torch.Tensor, b: torch.Tensor, values: Values, overrides: Overrides) -> torch.Tensor:
        """The rate of one coordinate, with data alike in all axes."""

        def law(force: torch.Tensor) -> torch.Tensor:
            given = {**values, self._force: Scalar(force, force.ndim - 1)}
            return self.inner.run(given, overrides)[self._rate].data

        zero = self.zero_rate([values[name] for name in self.inputs])
        low, high = torch.minimum(b, zero), torch.maximum(b, zero)
        left = self._bisections
        while left:
            halvings = min(left, _halvings_at_once(low))
            low, high = _narrowed(lambda force: force + A * law(force), b, low, high, 2**halvings)
            left -= halvings
        force = 0.5 * (low + high)
        for _ in range(self._polish):
            rate, slope = self.value_and_slope(law, force)
            force = torch.minimum(torch.maximum(force - (force + A * rate - b) / (1.0 + A * slope), low), high)
        return law(force)


def _halvings_at_once(x: torch.Tensor) -> int:
    """How many halvings one evaluation stands for: where calls take longer than what they compute, several."""
    return 1 if observed() or x.numel() > _FEW else 4


def _narrowed(
    function: Callable[[torch.Tensor], torch.Tensor],
    value: torch.Tensor,
    low: torch.Tensor,
    high: torch.Tensor,
    parts: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The part of a bracket in which a growing function reaches a value."""
    if parts == 2:
        middle = 0.5 * (low + high)
        above = function(middle) > value
        return torch.where(above, low, middle), torch.where(above, middle, high)
    inner = torch.arange(1, parts, dtype=low.dtype, device=low.device).reshape(-1, *(1,) * low.ndim)
    width = (high - low) / parts
    low = low + (function(low + width * inner) <= value).sum(0) * width
    return low, low + width


def _coordinate(values: Values, i: int, count: int) -> dict[str, Tensor]:
    """Values for one coordinate only, where they have one for each."""
    return {
        name: slice_last(v, i, i + 1, name) if v.sub_batch_shape[-1:] == (count,) else v for name, v in values.items()
    }
