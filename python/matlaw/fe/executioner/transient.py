"""The ``[Executioner]``: marches through time, cuts a step that fails, and tries it again from the old state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from matlaw.fe.executioner.newton import Newton, NewtonResult, Tolerances
from matlaw.fe.executioner.time_steppers import SmallestStepFailedError, TimeStepper
from matlaw.fe.input.parameters import Parameter, Values
from matlaw.fe.input.registry import MooseObject, check_fields, create, register
from matlaw.fe.input.tree import Block
from matlaw.fe.law import LawFailedError
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
        if time + dt > options["end_time"]:
            dt = options["end_time"] - time
        return float(dt)

    def run(self, problem: Problem) -> list[StepRecord]:
        """March to the end.

        :returns: one record per accepted step
        :raises SmallestStepFailedError: a step failed at ``dtmin``
        """
        options = self.options
        constraints = problem.constraints
        free = constraints.free
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
        newton = Newton(problem, solver, tolerances, self._iteration)
        records: list[StepRecord] = []
        time, number = self.start_time, 0
        velocity = np.zeros_like(problem.u)
        wanted = self.stepper.first()
        while number < options["num_steps"] and time + options["timestep_tolerance"] < options["end_time"]:
            number += 1
            cutbacks: list[tuple[float, str]] = []
            while True:
                dt = self._constrained(wanted, time)
                self.stepper.dt = dt
                self._announce(number, time + dt, dt)
                result, u = newton.solve(problem.u + self.scale * dt * velocity, problem.u, time + dt, dt)
                old = problem.u
                if result.converged:
                    problem.u = u
                    try:
                        for postprocessor in problem.postprocessors.values():
                            postprocessor.prepare(problem, time + dt)
                        break
                    except LawFailedError as error:
                        result.converged, result.reason = False, f"on a side: {error}"
                        problem.u = old
                problem.revert()
                problem.failed_steps += 1
                cutbacks.append((dt, result.reason))
                self._rejected(result, dt)
                try:
                    wanted = self.stepper.failed(options["dtmin"])
                except SmallestStepFailedError as error:
                    raise SmallestStepFailedError(
                        f"{error} Time {time:g}, dt {dt:g}, dtmin {options['dtmin']:g}: {result.reason}"
                    ) from None
            problem.commit()
            velocity = (problem.u - old) / dt
            time += dt
            problem.time, problem.dt, problem.newton_iterations = time, dt, result.iterations
            problem.linear_iterations = result.linear_iterations
            self.stepper.accepted(result.iterations, result.linear_iterations)
            record = StepRecord(number, time, dt, result.iterations, result.linear_iterations, result.norms, cutbacks)
            records.append(record)
            self._accepted(record)
            wanted = self.stepper.next()
        return records
