"""How long the next step is, with MOOSE's rules."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from matlaw.errors import FatalError
from matlaw.fe.functions.functions import function_from
from matlaw.fe.input.parameters import Parameter, Values, required
from matlaw.fe.input.registry import MooseObject, register

if TYPE_CHECKING:
    from matlaw.fe.problem import Problem

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
        self.dt = float(values.get("dt") or 0.0)

    def link(self, problem: Problem) -> None:
        """Find the functions and postprocessors that it uses."""

    def first(self, time: float) -> float:
        """Size of the first step, from ``time``."""
        return float(self.values["dt"])

    def next(self, time: float) -> float:
        """Size of the step from ``time``, after one that was accepted."""
        raise NotImplementedError

    def rejects(self, problem: Problem) -> str:
        """Why a converged step is not accepted all the same; nothing when it is."""
        return ""

    def save(self) -> dict[str, float]:
        """What has to survive a restart."""
        return {"dt": self.dt}

    def restore(self, saved: Mapping[str, float]) -> None:
        """Take back what :meth:`save` returned."""
        self.dt = float(saved["dt"])

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

    def next(self, time: float) -> float:
        """``dt``, or less while growing back."""
        return min(float(self.values["dt"]), self.values["growth_factor"] * self.dt)


@register("TimeStepper", "IterationAdaptiveDT")
class IterationAdaptiveDT(TimeStepper):
    """Grows the step when Newton converges in few iterations and shrinks it when it needs many.

    The step after one that was cut does not grow, and none is longer than the values of
    ``timestep_limiting_postprocessor``.
    """

    parameters: ClassVar = {
        **_COMMON,
        "optimal_iterations": Parameter("int", check=_POSITIVE),
        "iteration_window": Parameter("int"),
        "linear_iteration_ratio": Parameter("int", 25),
        "growth_factor": Parameter("real", 2.0, check=(lambda value: value >= 1.0, "at least 1")),
        "cutback_factor": Parameter("real", 0.5, check=(lambda value: 0.0 < value <= 1.0, "above 0 and at most 1")),
        "timestep_limiting_postprocessor": Parameter("strings", []),
        "reject_large_step": Parameter("bool", False),
        "reject_large_step_threshold": Parameter("real", 0.1),
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

    def link(self, problem: Problem) -> None:
        """Find the postprocessors."""
        for name in self.values["timestep_limiting_postprocessor"]:
            if name not in problem.postprocessors:
                known = ", ".join(problem.postprocessors) or "none"
                raise self.values.error(
                    f"no postprocessor '{name}'; there are: {known}", "timestep_limiting_postprocessor"
                )
        self._problem = problem

    def _limit(self) -> float:
        names = self.values["timestep_limiting_postprocessor"]
        return min((self._problem.postprocessors[name].value(self._problem) for name in names), default=math.inf)

    def rejects(self, problem: Problem) -> str:
        """A step longer than the limit of its own end, where ``reject_large_step`` says so."""
        if not self.values["reject_large_step"]:
            return ""
        limit = self._limit()
        if self.dt <= limit * (1.0 + self.values["reject_large_step_threshold"]):
            return ""
        return f"longer than the limit of {limit:g} (reject_large_step)"

    def save(self) -> dict[str, float]:
        """What has to survive a restart."""
        newton, linear = self._iterations
        return {"dt": self.dt, "cut": float(self._cut), "newton": float(newton), "linear": float(linear)}

    def restore(self, saved: Mapping[str, float]) -> None:
        """Take back what :meth:`save` returned."""
        super().restore(saved)
        self._cut = bool(saved["cut"])
        self._iterations = (int(saved["newton"]), int(saved["linear"]))

    def next(self, time: float) -> float:
        """Size of the next step."""
        dt = self._by_iterations()
        return min(dt, self._limit()) if self.values["timestep_limiting_postprocessor"] else dt

    def _by_iterations(self) -> float:
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


@register("TimeStepper", "FunctionDT")
class FunctionDT(TimeStepper):
    """A function of the time at the beginning of the step."""

    parameters: ClassVar = {
        "function": required(),
        "growth_factor": Parameter("real", math.inf, check=(lambda value: value >= 1.0, "at least 1")),
        "min_dt": Parameter("real", 0.0),
        "cutback_factor_at_failure": _COMMON["cutback_factor_at_failure"],
    }

    def link(self, problem: Problem) -> None:
        """Find the function."""
        self._function = function_from(self.values, "function", problem.functions)

    def _value(self, time: float) -> float:
        dt = float(self._function.value(time, np.zeros((1, 3)))[0])
        if not dt > 0.0:
            raise self.values.error(f"it gives {dt:g} at time {time:g}: a step has a positive length", "function")
        return max(dt, float(self.values["min_dt"]))

    def first(self, time: float) -> float:
        """The function's value."""
        return self._value(time)

    def next(self, time: float) -> float:
        """The function's value, at most ``growth_factor`` times the last step."""
        return min(self._value(time), float(self.values["growth_factor"]) * self.dt)


@register("TimeStepper", "TimeSequenceStepper")
class TimeSequenceStepper(TimeStepper):
    """Steps that end at given times, then at the end; one that fails is cut, and its time is reached by several."""

    parameters: ClassVar = {
        "time_sequence": required("reals"),
        "use_last_dt_after_last_t": Parameter("bool", False),
        "cutback_factor_at_failure": _COMMON["cutback_factor_at_failure"],
    }

    def __init__(self, values: Values) -> None:
        super().__init__(values)
        self._times = list(values["time_sequence"])
        if any(b <= a for a, b in pairwise(self._times)):
            raise values.error("the times must increase", "time_sequence")

    def first(self, time: float) -> float:
        """To the first time of the sequence after ``time``."""
        return self.next(time)

    def next(self, time: float) -> float:
        """To the next time of the sequence; without one, to the end."""
        later = [t for t in self._times if t > time + 1e-12 * max(1.0, abs(time))]
        if later:
            return float(later[0] - time)
        if self.values["use_last_dt_after_last_t"] and len(self._times) > 1:
            return float(self._times[-1] - self._times[-2])
        return math.inf
