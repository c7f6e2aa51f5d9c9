"""The ``[Matlaw]`` block: the laws of the model and their quadrature points."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from matlaw.errors import FatalError
from matlaw.fe.input.parameters import Parameter, Values, required
from matlaw.fe.input.registry import check_fields
from matlaw.fe.input.tree import Block
from matlaw.host import QuadratureBatch
from matlaw.input.suggestion import closest
from matlaw.runtime import load_model

#: name of the law's input that follows the time
TIME = "t"


class LawFailedError(Exception):
    """A law did not converge at some quadrature points: the step has to be cut.

    :ivar entry: name of the ``[Matlaw]`` entry
    :ivar rows: quadrature points that failed, numbered within the entry
    :ivar total: quadrature points of the entry
    :param why: why one of them failed, where the law tells
    """

    def __init__(self, entry: str, rows: list[int], total: int, why: str = "") -> None:
        reason = f" ({why})" if why else ""
        super().__init__(f"law '{entry}' did not converge at {len(rows)} of {total} quadrature points{reason}")
        self.entry = entry
        self.rows = rows
        self.total = total


class Law:
    """One entry of ``[Matlaw]``.

    A law is mechanical when it gives a stress. At small strain that is an SR2 output, of an SR2 input, the strain. With
    the kernels of the total Lagrangian formulation it is

    * of the deformation gradient, an R2 input, or of the Green-Lagrange strain, an SR2 input, and
    * the first Piola-Kirchhoff stress, an R2 output, or the second one or Cauchy's, as ``stress_measure`` says.

    :ivar blocks: numbers of the blocks it is for; None: all
    :ivar strain: name of the input that the deformation drives, ``stress`` of the stress output; empty where it has none
    :ivar measure: ``pk1``, ``pk2`` or ``cauchy``; ``small`` at small strain
    """

    parameters: ClassVar[Mapping[str, Parameter]] = {
        "input": required(),
        "model": Parameter("string", "model"),
        "strain": Parameter("string"),
        "stress": Parameter("string"),
        "stress_measure": Parameter("string", choices=("pk1", "pk2", "cauchy")),
        "block": Parameter("strings"),
        "runtime": Parameter("string", "auto", choices=("auto", "aoti", "eager")),
    }

    def __init__(self, block: Block, folder: Path, large: bool = False) -> None:
        check_fields(block, self.parameters, "an entry of [Matlaw]")
        self.values = Values(block, self.parameters)
        self.name = block.name
        self.path = self._find(folder)
        self.model = self._load()
        self.inputs: dict[str, str] = dict(zip(self.model.input_names, self.model.input_types, strict=True))
        self.outputs: dict[str, str] = dict(zip(self.model.output_names, self.model.output_types, strict=True))
        self.pairs = [(output, source) for output, source in self.model.derivative_pairs]
        #: old variable -> the current one that feeds it
        self.state: dict[str, str] = {old: current for current, old, *_ in self.model.state_pairs}
        self.large = large
        self.strain = self.stress = ""
        self.measure = "small"
        current = {name: kind for name, kind in self.inputs.items() if name not in self.state}
        kinds = ("SR2", "R2") if large else ("SR2",)
        if self.values.given("stress") or any(kind in kinds for kind in self.outputs.values()):
            self.strain = self._choose("strain", current, kinds)
            self.stress = self._choose("stress", self.outputs, kinds)
            self._check_tangent()
            self.measure = self._measure() if large else "small"

    def _find(self, folder: Path) -> Path:
        item = self.values.field("input")
        text = Path(self.values["input"])
        tried = [folder / text]
        if item is not None and item.from_command_line:
            tried.insert(0, Path.cwd() / text)
        for path in tried:
            if path.exists():
                return path
        raise self.values.error(
            f"no such file: {', '.join(str(path) for path in tried)}. "
            f"Compile the law first: matlaw-compile <law>.i --model {self.values['model']} -d stress:strain",
            "input",
        )

    def _load(self) -> Any:
        options = {} if self.values["runtime"].lower() == "auto" else {"runtime": self.values["runtime"].lower()}
        try:
            return load_model(str(self.path), self.values["model"], **options)
        except FatalError as error:
            raise self.values.error(f"the law cannot be loaded: {error}", "input") from error

    @property
    def scalars(self) -> list[str]:
        """Scalar inputs that the host has to give, besides the time."""
        driven = (self.strain, TIME)
        return [name for name in self.inputs if name not in self.state and name not in driven]

    def offer(self) -> str:
        """What the law has, for error messages."""
        return (
            f"the law '{self.values['model']}' of {self.path} has the inputs {_listed(self.inputs)}, "
            f"the outputs {_listed(self.outputs)} and the derivatives "
            f"{', '.join(f'{o}:{i}' for o, i in self.pairs) or 'none'}"
        )

    def _choose(self, role: str, offered: dict[str, str], kinds: tuple[str, ...]) -> str:
        fitting = [name for name, kind in offered.items() if kind in kinds]
        if self.values[role] is not None:
            name = str(self.values[role])
            if name not in fitting:
                raise self.values.error(
                    f"the law has no {'input' if role == 'strain' else 'output'} of type {' or '.join(kinds)} with this "
                    f"name{closest(name, fitting)}; {self.offer()}",
                    role,
                )
            return name
        if len(fitting) > 1:
            side = 1 if role == "strain" else 0
            differentiated = [name for name in fitting if any(pair[side] == name for pair in self.pairs)]
            if len(differentiated) == 1:
                return differentiated[0]
            if role in fitting:
                return role
        if len(fitting) != 1:
            raise self.values.error(f"cannot tell which variable is the {role}; set {role} = ...; {self.offer()}")
        return fitting[0]

    def _check_tangent(self) -> None:
        if (self.stress, self.strain) not in self.pairs:
            raise self.values.error(
                f"the law was compiled without the derivative {self.stress}:{self.strain} that the global Newton "
                f"needs; compile it with: matlaw-compile ... -d {self.stress}:{self.strain}; {self.offer()}",
                "input",
            )

    def _measure(self) -> str:
        given = self.values["stress_measure"]
        general = self.outputs[self.stress] == "R2"
        if given is None:
            return "pk1" if general else "pk2"
        if (given.lower() == "pk1") != general:
            raise self.values.error(
                f"the stress '{self.stress}' is of type {self.outputs[self.stress]}: pk1 is an R2, pk2 and cauchy are SR2",
                "stress_measure",
            )
        return str(given).lower()


def _listed(names: dict[str, str]) -> str:
    return ", ".join(f"{name} ({kind})" for name, kind in names.items()) or "none"


class LawPoints:
    """A law at its quadrature points: strain and other fields in, outputs and derivatives out.

    :param law: the law
    :param n_points: number of quadrature points
    :param start: time at which the state is the initial one
    :ivar seconds: time spent in the law
    """

    def __init__(self, law: Law, n_points: int, start: float = 0.0) -> None:
        self.law = law
        self.n_points = n_points
        self.seconds = 0.0
        self.calls = 0
        self.dt_factor = 1.0
        self._batch = QuadratureBatch(law.model, n_points)
        self._timed = TIME in law.inputs
        old_time = next((old for old, current in law.state.items() if current == TIME), None)
        if start != 0.0 and old_time is not None:
            self._batch.set_state(old_time, np.full(n_points, start))

    def evaluate(self, inputs: Mapping[str, np.ndarray], t: float, tangent: bool) -> None:
        """Evaluate from the old state; the result is kept for :meth:`output` and :meth:`tangent`.

        :param inputs: by name, ``(n_points, *base)``; symmetric tensors in Mandel components
        :raises LawFailedError: at some points the law did not converge
        """
        began = time.perf_counter()
        try:
            for name, values in inputs.items():
                self._batch.set_input(name, np.ascontiguousarray(values))
            if self._timed:
                self._batch.set_input(TIME, t)
            verdict = self._batch.evaluate(tangent=tangent)
        finally:
            self.seconds += time.perf_counter() - began
            self.calls += 1
        self.dt_factor = float(getattr(verdict, "dt_factor", 1.0))
        if not verdict.ok:
            raise LawFailedError(self.law.name, list(verdict.failed_rows), self.n_points, self._why())

    def _why(self) -> str:
        """Why the worst point failed."""
        tell = getattr(self.law.model, "last_failure", None)
        failure = tell() if tell is not None else None
        return "" if failure is None else f"point {failure.worst.row}: {failure.worst.text}"

    def tangent(self, output: str, source: str) -> np.ndarray:
        """A derivative of the last evaluation, ``(n_points, *out, *in)``."""
        return np.asarray(self._batch.tangent(output, source))

    def output(self, name: str) -> np.ndarray:
        """An output of the last evaluation, ``(n_points, *base)``."""
        return np.asarray(self._batch.output(name))

    def commit(self) -> None:
        """The step was accepted."""
        self._batch.commit()

    def revert(self) -> None:
        """The step was rejected."""
        self._batch.revert()

    def save(self) -> bytes:
        """The old state, for a checkpoint."""
        return self._batch.save()

    def restore(self, saved: bytes) -> None:
        """Take back what :meth:`save` returned."""
        self._batch.restore(saved)
