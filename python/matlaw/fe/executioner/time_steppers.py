"""How long the next step is, with MOOSE's rules."""

from __future__ import annotations

import math
from typing import ClassVar

from matlaw.errors import FatalError
from matlaw.fe.input.parameters import Parameter, Values
from matlaw.fe.input.registry import MooseObject, register

_POSITIVE = (lambda value: value > 0.0, "positive")

_COMMON: dict[str, Parameter] = {
    "dt": Parameter("real", required=True, check=_POSITIVE),
    "cutback_factor_at_failure": Parameter("real", 0.5, check=(lambda value: 0.0 < value < 1.0, "between 0 and 1")),
}


class SmallestStepFailedError(FatalError):
    """A step failed and cannot be cut further."""


class TimeStepper(MooseObject):
    """Proposes step sizes.

    :ivar dt: the size of the last attempt
    """

    def __init__(self, values: Values) -> None:
        super().__init__(values)
        self.dt = float(values["dt"])

    def first(self) -> float:
        """Size of the first step."""
        return float(self.values["dt"])

    def next(self) -> float:
        """Size of the step after one that was accepted."""
        raise NotImplementedError

    def failed(self, dtmin: float) -> float:
        """Size of the next attempt after one that failed.

        :raises SmallestStepFailedError: the step is as small as allowed
        """
        if self.dt <= dtmin:
            raise SmallestStepFailedError("Solve failed and timestep already at or below dtmin, cannot continue!")
        return max(self.values["cutback_factor_at_failure"] * self.dt, dtmin)

    def accepted(self, newton_iterations: int, linear_iterations: int) -> None:
        """The last attempt was accepted."""


@register("TimeStepper", "ConstantDT")
class ConstantDT(TimeStepper):
    """Always ``dt``, but for growing back after a cut."""

    parameters: ClassVar = {
        **_COMMON,
        "growth_factor": Parameter("real", 2.0, check=(lambda value: value >= 1.0, "at least 1")),
    }

    def next(self) -> float:
        """``dt``, or less while growing back."""
        return min(float(self.values["dt"]), self.values["growth_factor"] * self.dt)


@register("TimeStepper", "IterationAdaptiveDT")
class IterationAdaptiveDT(TimeStepper):
    """Grows the step when Newton converges in few iterations and shrinks it when it needs many.

    The step after one that was cut does not grow.
    """

    parameters: ClassVar = {
        **_COMMON,
        "optimal_iterations": Parameter("int", check=_POSITIVE),
        "iteration_window": Parameter("int"),
        "linear_iteration_ratio": Parameter("int", 25),
        "growth_factor": Parameter("real", 2.0, check=(lambda value: value >= 1.0, "at least 1")),
        "cutback_factor": Parameter("real", 0.5, check=(lambda value: 0.0 < value <= 1.0, "above 0 and at most 1")),
    }

    def __init__(self, values: Values) -> None:
        super().__init__(values)
        self._optimal: int | None = values["optimal_iterations"]
        for name in ("iteration_window", "linear_iteration_ratio"):
            if self._optimal is None and values.given(name):
                raise values.error("needs 'optimal_iterations'", name)
        if self._optimal is not None:
            self._window = (
                values["iteration_window"] if values.given("iteration_window") else math.ceil(self._optimal / 5)
            )
        self._cut = False
        self._iterations = (0, 0)

    def failed(self, dtmin: float) -> float:
        """Size of the next attempt after one that failed."""
        self._cut = True
        return super().failed(dtmin)

    def accepted(self, newton_iterations: int, linear_iterations: int) -> None:
        """Note how hard the step was."""
        self._iterations = (newton_iterations, linear_iterations)

    def next(self) -> float:
        """Size of the next step."""
        may_grow, self._cut = not self._cut, False
        growth, cutback = self.values["growth_factor"], self.values["cutback_factor"]
        if self._optimal is None:
            return self.dt * growth if may_grow else self.dt
        newton, linear = self._iterations
        ratio = self.values["linear_iteration_ratio"]
        few = max(self._optimal - self._window, 0)
        many = self._optimal + self._window
        if may_grow and newton < few and linear < ratio * few:
            return self.dt * growth
        if newton > many or linear > ratio * many:
            return self.dt * cutback
        return self.dt
