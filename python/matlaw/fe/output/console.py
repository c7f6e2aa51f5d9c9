"""What a run prints."""

from __future__ import annotations

import sys
import time as clock
from pathlib import Path
from typing import TextIO

import numpy as np

from matlaw.fe.executioner.newton import NewtonResult
from matlaw.fe.executioner.transient import StepRecord
from matlaw.fe.problem import Problem


class Console:
    """Prints the residual history as it comes, and a table of the steps at the end.

    :param quiet: one line per step, the table and the files only
    """

    def __init__(self, quiet: bool = False, stream: TextIO | None = None) -> None:
        self._quiet = quiet
        self._stream = stream
        self._last = clock.perf_counter()

    def say(self, text: str = "") -> None:
        """Print a line."""
        print(text, file=self._stream or sys.stdout, flush=True)

    def start(self, problem: Problem) -> None:
        """What was read."""
        mesh, free = problem.mesh, len(problem.constraints.free)
        self.say(
            f"Mesh: {mesh.n_elements} {mesh.type.name}, {mesh.n_nodes} nodes; {', '.join(problem.unknowns.names)}: "
            f"{np.count_nonzero(problem.unknowns.present)} values ({free} unknown)"
        )
        for points in problem.laws:
            law = points.law
            self.say(f"Law '{law.name}': {law.values['model']} of {law.path}, {points.n_points} quadrature points")

    def announce(self, number: int, time: float, dt: float) -> None:
        """An attempt begins."""
        if not self._quiet:
            self.say(f"\nTime Step {number}, time = {time:.8g}, dt = {dt:.8g}")

    def iteration(self, iteration: int, norm: float, linear: int) -> None:
        """A residual."""
        if not self._quiet:
            detail = f"   ({linear} linear)" if linear > 1 else ""
            self.say(f"{iteration:3d} Nonlinear |R| = {norm:.6e}{detail}")

    def rejected(self, result: NewtonResult, dt: float) -> None:
        """An attempt failed."""
        if not self._quiet:
            self.say(f"    Solve failed with dt = {dt:.8g}: {result.reason}; cutting the step")

    def accepted(self, record: StepRecord, end_time: float, num_steps: int) -> None:
        """A step was accepted: a line that says how far the run is."""
        now = clock.perf_counter()
        took, self._last = now - self._last, now
        ends = [record.number / num_steps, record.time / end_time if end_time > 0.0 else 0.0]
        share = f", {100.0 * max(ends):.0f} %" if max(ends) >= 0.001 else ""
        cuts = f", {len(record.cutbacks)} cut{'s' if len(record.cutbacks) > 1 else ''}" if record.cutbacks else ""
        iterations = f"{record.newton_iterations} iteration{'' if record.newton_iterations == 1 else 's'}"
        if not self._quiet:
            self.say("    Solve converged")
        self.say(
            f"Step {record.number}: time {record.time:.6g}, dt {record.dt:.4g}, {iterations}{cuts}, {took:.2f} s{share}"
        )

    def table(self, records: list[StepRecord]) -> None:
        """One row per accepted step, and one per attempt that failed."""
        self.say()
        self.say("step         time           dt  newton  cutbacks  why")
        for record in records:
            reasons = list(dict.fromkeys(reason for _, reason in record.cutbacks))
            why = f"from dt {record.cutbacks[0][0]:g}: {reasons[0]}" if reasons else ""
            self.say(
                f"{record.number:4d} {record.time:12.6g} {record.dt:12.6g} {record.newton_iterations:7d} "
                f"{len(record.cutbacks) or '':>9}  {why}"
            )
            for reason in reasons[1:]:
                self.say(f"{'':49}then: {reason}")

    def timing(self, problem: Problem) -> None:
        """Where the time went."""
        timing = problem.timing
        law = problem.law_seconds()
        total = max(timing.total, 1e-12)
        parts = {
            "law": law,
            "linear solves": timing.solve,
            "assembly": timing.assembly + timing.strain,
            "output": timing.output,
        }
        parts["other"] = max(total - sum(parts.values()), 0.0)
        shares = ", ".join(
            f"{name} {seconds:.2f} s ({100.0 * seconds / total:.0f} %)" for name, seconds in parts.items()
        )
        self.say(f"\nRun time {total:.2f} s: {shares}")

    def files(self, paths: list[Path]) -> None:
        """What was written."""
        for path in paths:
            self.say(f"Wrote {path}")
