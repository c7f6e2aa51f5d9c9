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
from matlaw.fe.mapping import MAPPING, Source, paired
from matlaw.host import QuadratureBatch
from matlaw.input.suggestion import closest
from matlaw.runtime import load_model

#: name of the law's input that follows the time
TIME = "t"


class StepFailedError(Exception):
    """A step cannot be computed, and has to be cut."""


class LawFailedError(StepFailedError):
    """A law did not converge at some quadrature points.

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

    A law is mechanical when it gives a stress. With small strain that is an SR2 output, of an SR2 input, the strain.
    With the total Lagrangian kernels and large kinematics it is

    * of the deformation gradient, an R2 input, and
    * the first Piola-Kirchhoff stress, an R2 output, or the second one or Cauchy's, an SR2 output, as
      ``stress_measure`` says (the second one without it).

    :ivar strain: name of the input that the deformation drives, ``stress`` of the stress output; empty without
    :ivar measure: ``SMALL``, ``PK1``, ``PK2`` or ``CAUCHY``
    :ivar properties: name of the material property of each output
    :ivar sources: where other inputs come from; set by :class:`Problem`, as ``parameter_sources`` is
    """

    parameters: ClassVar[Mapping[str, Parameter]] = {
        "input": required(),
        "model": Parameter("string", "model"),
        "strain": Parameter("string"),
        "stress": Parameter("string"),
        "stress_measure": Parameter("string", choices=("CAUCHY", "PK1", "PK2")),
        "formulation": Parameter("string", "AUTO", choices=("AUTO", "STANDARD", "LAGRANGIAN", "NONE")),
        "rotate_state": Parameter("bool", False, check=(lambda value: not value, "false (nothing rotates here)")),
        "block": Parameter("strings"),
        "runtime": Parameter("string", "auto", choices=("auto", "aoti", "eager")),
        "backend": Parameter("string", "auto", choices=("auto", "native", "inductor")),
        "device": Parameter("string", "cpu"),
        "law_threads": Parameter("int", 0),
        "extensions": Parameter("strings", []),
        **MAPPING,
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
        self.measure = "SMALL"
        if self._is_mechanical():
            current = {name: kind for name, kind in self.inputs.items() if name not in self.state}
            if large:
                self._refuse_strain(current)
            self.strain = self._choose("strain", current, ("R2",) if large else ("SR2",))
            self.stress = self._choose("stress", self.outputs, ("R2", "SR2") if large else ("SR2",))
            self._check_tangent()
            self.measure = self._measure() if large else "SMALL"
        self.properties = {name: name for name in self.outputs} | self._renamed()
        self.sources: dict[str, Source] = {}
        self.parameter_sources: dict[str, Source] = {}

    def _is_mechanical(self) -> bool:
        if self.values["formulation"].upper() == "NONE":
            return False
        driven = [kind for name, kind in self.inputs.items() if name not in self.state]
        tensors = ("SR2", "R2")
        return any(kind in tensors for kind in driven) and any(kind in tensors for kind in self.outputs.values())

    def _refuse_strain(self, current: Mapping[str, str]) -> None:
        if "R2" not in current.values():
            raise self.values.error(
                "with large kinematics the law has to take the deformation gradient, an R2; MOOSE integrates laws of "
                f"the strain objectively, matlaw-fe does not; {self.offer()}",
                "input",
            )

    def _renamed(self) -> dict[str, str]:
        names = dict(paired(self.values, "law_outputs", "moose_outputs"))
        for name in names:
            if name not in self.outputs:
                raise self.values.error(
                    f"the law has no output '{name}'{closest(name, self.outputs)}; {self.offer()}", "law_outputs"
                )
        return names

    def initial_state(self) -> dict[str, np.ndarray]:
        """Initial values of old variables that the entry gives, by their name with ``~1``.

        :raises InputFileError: an output without old value, or too few or too many numbers
        """
        sizes = {"Scalar": 1, "Vec": 3, "SR2": 6, "R2": 9}
        old = {current: name for name, current in self.state.items()}
        numbers, result = list(self.values["initialize_output_values"]), {}
        for output in self.values["initialize_outputs"]:
            if output not in old or output not in self.outputs:
                raise self.values.error(
                    f"'{output}' is no output with an old value; {self.offer()}", "initialize_outputs"
                )
            kind = self.outputs[output]
            size = sizes.get(kind, 0)
            if not size or len(numbers) < size:
                raise self.values.error(
                    f"'{output}' is of type {kind}: {size} numbers are needed", "initialize_output_values"
                )
            shape = {"Scalar": (), "R2": (3, 3)}.get(kind, (size,))
            result[old[output]] = np.array(numbers[:size]).reshape(shape)
            del numbers[:size]
        if numbers:
            raise self.values.error(f"{len(numbers)} numbers too many", "initialize_output_values")
        return result

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
        options: dict[str, Any] = {}
        for name in ("runtime", "backend", "device"):
            if self.values.given(name):
                options[name] = self.values[name].lower()
        if self.values["law_threads"]:
            options["threads"] = self.values["law_threads"]
        if self.values["extensions"]:
            options["extensions"] = self.values["extensions"]
        try:
            return load_model(str(self.path), self.values["model"], **options)
        except FatalError as error:
            raise self.values.error(f"the law cannot be loaded: {error}", "input") from error

    @property
    def scalars(self) -> list[str]:
        """Inputs that the host has to give, besides what the deformation drives and the time."""
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
                    f"the law has no {'input' if role == 'strain' else 'output'} of type {' or '.join(kinds)} with "
                    f"this name{closest(name, fitting)}; {self.offer()}",
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
        whole = self.outputs[self.stress] == "R2"
        if given is None:
            return "PK1" if whole else "PK2"
        if (given.upper() == "PK1") != whole:
            raise self.values.error(
                f"the stress '{self.stress}' is of type {self.outputs[self.stress]}: PK1 is an R2, PK2 and CAUCHY are "
                "SR2",
                "stress_measure",
            )
        return str(given).upper()


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
        for name, value in law.initial_state().items():
            self._batch.set_state(name, np.broadcast_to(value, (n_points, *value.shape)))

    def set_parameters(self, values: Mapping[str, np.ndarray]) -> None:
        """Give parameters of the law their values for the next evaluation, ``(n_points,)`` each."""
        for name, value in values.items():
            try:
                self._batch.set_parameter(name, value)
            except FatalError as error:
                raise self.law.values.error(str(error), "law_parameters") from error

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
