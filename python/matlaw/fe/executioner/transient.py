"""The ``[Executioner]``: marches through time, cuts a step that fails, and tries it again from the old state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from matlaw.fe.executioner.newton import Newton, NewtonResult, Tolerances
from matlaw.fe.executioner.time_steppers import SmallestStepFailedError, TimeStepper
from matlaw.fe.input.parameters import Parameter, Values
from matlaw.fe.input.registry import MooseObject, check_fields, create, register
from matlaw.fe.input.tree import Block
from matlaw.fe.law import StepFailedError
from matlaw.fe.problem import Problem
from matlaw.fe.solve.linear import LinearSolver


@register("Predictor", "SimplePredictor")
class SimplePredictor(MooseObject):
    """Extrapolates the last step's displacement to the new one."""

    parameters: ClassVar = {"scale": Parameter("real", required=True)}


@register("Executioner", "Transient")
class Transient(MooseObject):
    """Parameters of the time loop and of Newton's method, with MOOSE's defaults."""

    parameters: ClassVar = {
        "start_time": Parameter("real", 0.0),
        "end_time": Parameter("real", 1.0e30),
        "dt": Parameter("real", 1.0),
        "dtmin": Parameter("real", 1.0e-12),
        "dtmax": Parameter("real", 1.0e30),
        "num_steps": Parameter("int", 4294967295),
        "timestep_tolerance": Parameter("real", 1.0e-12),
        "nl_rel_tol": Parameter("real", 1.0e-8),
        "nl_abs_tol": Parameter("real", 1.0e-50),
        "nl_max_its": Parameter("int", 50),
        "nl_div_tol": Parameter("real", 1.0e10),
        "l_tol": Parameter("real", 1.0e-5),
        "l_max_its": Parameter("int", 10000),
        "l_abs_tol": Parameter("real", 1.0e-50, ignored=True),
        "nl_max_funcs": Parameter("int", 10000, ignored=True),
        "line_search": Parameter("string", "default", choices=("default", "none", "basic", "bt")),
        "solve_type": Parameter("string", "NEWTON", choices=("NEWTON", "PJFNK", "LINEAR"), ignored=True),
        "petsc_options": Parameter("strings", ignored=True),
        "petsc_options_iname": Parameter("strings", ignored=True),
        "petsc_options_value": Parameter("strings", ignored=True),
        "automatic_scaling": Parameter("bool", ignored=True),
        "verbose": Parameter("bool", False, ignored=True),
    }


@dataclass
class StepRecord:
    """One accepted step, for the table.

    :ivar cutbacks: failed attempts before it, with the size tried and the reason
    """

    number: int
    time: float
    dt: float
    newton_iterations: int
    linear_iterations: int
    norms: list[float]
    cutbacks: list[tuple[float, str]]


@dataclass
class Progress:
    """How far a run is, and what its next step follows from.

    :ivar velocity: rate of the values in the last step, ``(n_dofs,)``
    :ivar stepper: state of the time stepper
    """

    time: float
    number: int
    velocity: np.ndarray
    stepper: dict[str, float] = field(default_factory=dict)


class TimeLoop:
    """Runs a problem from start to end.

    :param block: the ``[Executioner]`` block
    :param announce: called with the step number, time and size before an attempt
    :param iteration: called with the iteration, residual norm and linear iterations
    :param rejected: called with the result and the size of an attempt that failed
    :param accepted: called with the record of an accepted step
    """

    def __init__(
        self,
        block: Block,
        shared: Block | None,
        announce: Callable[[int, float, float], None],
        iteration: Callable[[int, float, int], None],
        rejected: Callable[[NewtonResult, float], None],
        accepted: Callable[[StepRecord], None],
    ) -> None:
        self.options: Values = create("Executioner", block, shared).values
        for name, below in block.blocks.items():
            if name not in ("TimeStepper", "Predictor"):
                raise below.error("not available here; [Executioner] can hold [TimeStepper] and [Predictor]")
        self.stepper = self._stepper(block)
        predictor = block.blocks.get("Predictor")
        self.scale = create("Predictor", predictor).values["scale"] if predictor is not None else 0.0
        self._announce, self._iteration = announce, iteration
        self._rejected, self._accepted = rejected, accepted
        self.end_time = float(self.options["end_time"])

    @property
    def start_time(self) -> float:
        """Time of the initial state."""
        return float(self.options["start_time"])

    def _stepper(self, block: Block) -> TimeStepper:
        below = block.blocks.get("TimeStepper")
        if below is None:
            fields = {"dt": block.fields["dt"]} if "dt" in block.fields else {}
            below = Block("TimeStepper", f"{block.path}/TimeStepper", block.location, fields)
            if not fields:
                check_fields(below, {}, "TimeStepper")
                from matlaw.fe.input.tree import Field

                below.fields["dt"] = Field("dt", repr(float(self.options["dt"])), block.location)
        stepper: TimeStepper = create("TimeStepper", below, default="ConstantDT")
        return stepper

    def _constrained(self, dt: float, time: float) -> float:
        options = self.options
        dt = max(min(dt, options["dtmax"]), options["dtmin"])
        if time + dt > self.end_time:
            dt = self.end_time - time
        return float(dt)

    def _newton(self, problem: Problem) -> Newton:
        options = self.options
        free = problem.constraints.free
        unknowns, mechanics = problem.unknowns, problem.mechanics
        solver = LinearSolver(
            problem.mesh.points[free // unknowns.count],
            free % unknowns.count,
            tuple(unknowns.number(name) for name in mechanics.displacements) if mechanics is not None else (),
            options["l_tol"],
            options["l_max_its"],
        )
        tolerances = Tolerances(
            options["nl_rel_tol"],
            options["nl_abs_tol"],
            options["nl_max_its"],
            options["nl_div_tol"],
            options["line_search"].lower(),
        )
        return Newton(problem, solver, tolerances, self._iteration)

    def _end(self, half: bool) -> tuple[float, int]:
        """End time and number of steps."""
        end, steps = float(self.options["end_time"]), int(self.options["num_steps"])
        if not half:
            return end, steps
        if self.options.given("end_time"):
            end = 0.5 * (self.start_time + end)
        return end, steps // 2 if self.options.given("num_steps") else steps

    def run(self, problem: Problem, half: bool = False, resumed: Progress | None = None) -> list[StepRecord]:
        """March to the end.

        :param half: to the middle only, half of the time and of the steps
        :param resumed: where an earlier run was; the problem is in its state
        :returns: one record per accepted step
        :raises SmallestStepFailedError: a step failed at ``dtmin``
        """
        options = self.options
        newton = self._newton(problem)
        self.stepper.link(problem)
        self.end_time, num_steps = self._end(half)
        records: list[StepRecord] = []
        self.progress = progress = resumed or Progress(self.start_time, 0, np.zeros_like(problem.u))
        if resumed is None:
            wanted = self.stepper.first(progress.time)
        else:
            self.stepper.restore(resumed.stepper)
            wanted = self.stepper.next(progress.time)
        while progress.number < num_steps and progress.time + options["timestep_tolerance"] < self.end_time:
            record, old = self._step(problem, newton, wanted)
            problem.commit()
            progress.velocity = (problem.u - old) / record.dt
            progress.time, progress.number = record.time, record.number
            problem.time, problem.dt, problem.newton_iterations = record.time, record.dt, record.newton_iterations
            problem.linear_iterations = record.linear_iterations
            self.stepper.accepted(record.newton_iterations, record.linear_iterations)
            progress.stepper = self.stepper.save()
            records.append(record)
            self._accepted(record)
            wanted = self.stepper.next(progress.time)
        return records

    def _step(self, problem: Problem, newton: Newton, wanted: float) -> tuple[StepRecord, np.ndarray]:
        """Attempts at a step until one is good; the record, and the values before it."""
        time, number = self.progress.time, self.progress.number + 1
        cutbacks: list[tuple[float, str]] = []
        while True:
            dt = self._constrained(wanted, time)
            self.stepper.dt = dt
            self._announce(number, time + dt, dt)
            result, u = newton.solve(problem.u + self.scale * dt * self.progress.velocity, problem.u, time + dt, dt)
            old = problem.u
            if result.converged:
                problem.u = u
                reason = self._objection(problem, time + dt, dt)
                if not reason:
                    record = StepRecord(
                        *(number, time + dt, dt, result.iterations, result.linear_iterations, result.norms, cutbacks)
                    )
                    return record, old
                result.converged, result.reason = False, reason
                problem.u = old
            problem.revert()
            problem.failed_steps += 1
            cutbacks.append((dt, result.reason))
            self._rejected(result, dt)
            try:
                wanted = self.stepper.failed(self.options["dtmin"])
            except SmallestStepFailedError as error:
                raise SmallestStepFailedError(
                    f"{error} Time {time:g}, dt {dt:g}, dtmin {self.options['dtmin']:g}: {result.reason}"
                ) from None

    def _objection(self, problem: Problem, t: float, dt: float) -> str:
        """Why a converged step is not accepted."""
        try:
            for postprocessor in problem.postprocessors.values():
                postprocessor.prepare(problem, t)
        except StepFailedError as error:
            return f"on a side: {error}"
        before, problem.dt = problem.dt, dt
        reason = self.stepper.rejects(problem)
        problem.dt = before
        return reason
