"""Running an input file from reading to the last output."""

from __future__ import annotations

import time as clock
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from matlaw.errors import FatalError
from matlaw.fe.checkpoint import CheckpointWriter, find_checkpoint, restore
from matlaw.fe.executioner.transient import Progress, StepRecord, TimeLoop
from matlaw.fe.input.moose import also_block
from matlaw.fe.input.parameters import Parameter, Values
from matlaw.fe.input.registry import check_fields
from matlaw.fe.input.tree import Block, read_input
from matlaw.fe.materials.shorthand import PHYSICS_PATHS
from matlaw.fe.output.console import Console
from matlaw.fe.output.exodus import ExodusWriter
from matlaw.fe.output.picture import draw
from matlaw.fe.output.settings import read_outputs
from matlaw.fe.output.table import CsvWriter
from matlaw.fe.problem import Problem
from matlaw.input.suggestion import closest

_BLOCKS = (
    *("GlobalParams", "Mesh", "Variables", "AuxVariables", "Functions", "Kernels", "AuxKernels", "BCs", "Materials"),
    *("ICs", "Matlaw", "Physics", "Modules", "Preconditioning", "Executioner", "Postprocessors", "Outputs", "Problem"),
)
_PRECONDITIONING = {
    "full": Parameter("bool", False, ignored=True),
    "solve_type": Parameter("string", ignored=True),
    "petsc_options": Parameter("strings", ignored=True),
    "petsc_options_iname": Parameter("strings", ignored=True),
    "petsc_options_value": Parameter("strings", ignored=True),
}


@dataclass
class RunResult:
    """A finished run.

    :ivar records: one per accepted step
    :ivar history: time and postprocessors, one entry per output, the initial state first
    :ivar files: what was written
    """

    problem: Problem
    records: list[StepRecord]
    history: list[tuple[float, dict[str, float]]] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)


def _check_blocks(root: Block) -> None:
    for name, block in root.blocks.items():
        if name not in _BLOCKS:
            raise block.error(
                f"unknown block{also_block(name)}; available: {', '.join(_BLOCKS)}{closest(name, _BLOCKS)}"
            )
    preconditioning = root.blocks.get("Preconditioning")
    for below in preconditioning.blocks.values() if preconditioning is not None else ():
        check_fields(below, _PRECONDITIONING, "a preconditioner")
        Values(below, _PRECONDITIONING)
    problem = root.blocks.get("Problem")
    if problem is not None and (problem.blocks or problem.fields):
        check_fields(problem, {"coord_type": Parameter("string", ignored=True)}, "[Problem]")
    for name in ("Physics", "Modules"):
        for below in root.blocks.get(name, Block(name, name, "")).blocks.values():
            for entry in below.blocks.values():
                if entry.path not in PHYSICS_PATHS:
                    raise entry.error(f"not available; available: {', '.join(PHYSICS_PATHS)}")


def run(
    path: Path | str | Sequence[Path | str],
    overrides: Sequence[str] = (),
    output: Path | str | None = None,
    picture: bool = False,
    quiet: bool = False,
    console: Console | None = None,
    half: bool = False,
    recover: str | None = None,
) -> RunResult:
    """Run an input file.

    :param path: the input file, or several that make up one input; results are named after the first
    :param overrides: ``Block/name:=value``
    :param output: folder for the files; default: that of the input file
    :param picture: draw the deformed mesh
    :param quiet: no residual history
    :param half: stop in the middle, as a test of checkpoints does
    :param recover: go on from a checkpoint (:func:`matlaw.fe.checkpoint.find_checkpoint`); empty: the last one
    :raises CheckpointError: there is none, or it belongs to another input
    :raises InputFileError: the input is wrong
    :raises FatalError: the results cannot be written
    :raises SmallestStepFailedError: a step failed at ``dtmin``
    """
    paths = [Path(path)] if isinstance(path, str | Path) else [Path(one) for one in path]
    path = paths[0]
    root = read_input(paths, overrides)
    _check_blocks(root)
    executioner = root.blocks.get("Executioner")
    if executioner is None:
        raise root.error("the block [Executioner] is missing")
    shared = root.blocks.get("GlobalParams")
    folder = Path(output) if output is not None else path.parent
    settings = read_outputs(root.blocks.get("Outputs"), shared, path, folder)
    console = console or Console(quiet or not settings.console)

    state: dict[str, RunResult] = {}

    def accepted(record: StepRecord) -> None:
        console.accepted(record, loop.end_time, loop.options["num_steps"])
        result = state["result"]
        _step_output(result, writers)
        for checkpoint in checkpoints:
            checkpoint.write(result.problem, loop.progress, result.history)

    loop = TimeLoop(executioner, shared, console.announce, console.iteration, console.rejected, accepted)
    problem = Problem(root, path.resolve().parent, loop.start_time)
    console.start(problem)
    result = RunResult(problem, [])
    state["result"] = result
    checkpoints = [
        CheckpointWriter(base.with_name(base.name + "_cp"), keep, interval)
        for base, keep, interval in settings.checkpoints
    ]
    resumed: Progress | None = None
    if recover is not None:
        source = find_checkpoint(recover, Path.cwd() if output is None else folder, settings.base)
        resumed, result.history = restore(source, problem)
        console.say(f"Going on from {source}, step {resumed.number}, time {resumed.time:g}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        writers = _Writers(problem, settings.exodus, settings.csv, None if resumed is None else resumed.time)
    except OSError as error:
        raise FatalError(f"the results cannot be written: {error}; name another folder with -o") from error
    result.files = writers.files
    with writers:
        if resumed is None:
            initial = {name: p.value(problem) if p.at_start else 0.0 for name, p in problem.postprocessors.items()}
            writers.write(problem, initial)
            result.history.append((problem.time, initial))
        else:
            writers.repeat(result.history)
        result.records = loop.run(problem, half, resumed)
    if picture:
        began = clock.perf_counter()
        target = settings.base.with_name(settings.base.name + ".png")
        try:
            drawn = draw(problem, target, title=path.stem.replace("_", " "))
        except OSError as error:
            raise FatalError(f"the picture {target} cannot be written: {error.strerror or error}") from error
        if drawn:
            result.files.append(target)
        problem.timing.output += clock.perf_counter() - began
    problem.timing.total = clock.perf_counter() - problem.timing.began
    console.table(result.records)
    console.timing(problem)
    console.files(result.files)
    return result


#: What the writers of files raise when the disk is full: netCDF has RuntimeError for that.
_UNWRITABLE = (OSError, RuntimeError)


class _Writers:
    """The files that grow with every step."""

    def __init__(self, problem: Problem, exodus: list[Path], csv: list[Path], after: float | None = None) -> None:
        self._elemental = [name for name, variable in problem.auxiliary.items() if not variable.nodal]
        self._nodal = [*problem.unknowns.names, *(name for name, v in problem.auxiliary.items() if v.nodal)]
        self._scalars = scalars = sorted(name for name, p in problem.postprocessors.items() if p.written)
        self._exodus: list[ExodusWriter] = []
        self._csv: list[CsvWriter] = []
        self.files: list[Path] = []
        for base in exodus:
            base.parent.mkdir(parents=True, exist_ok=True)
            target = base.with_name(base.name + ".e")
            self._exodus.append(ExodusWriter(target, problem.mesh, self._nodal, self._elemental, scalars, after))
            self.files.append(target)
        for base in csv if scalars else []:
            base.parent.mkdir(parents=True, exist_ok=True)
            target = base.with_name(base.name + ".csv")
            self._csv.append(CsvWriter(target))
            self.files.append(target)

    def write(self, problem: Problem, values: dict[str, float]) -> None:
        """Append the present state to every file."""
        began = clock.perf_counter()
        values = {name: values[name] for name in self._scalars}
        nodal: dict[str, np.ndarray] = {name: problem.nodal_field(name) for name in self._nodal}
        elemental = {name: problem.auxiliary[name].values for name in self._elemental}
        try:
            for exodus in self._exodus:
                exodus.write(problem.time, nodal, elemental, values)
            for csv in self._csv:
                csv.write(problem.time, values)
        except _UNWRITABLE as error:
            raise FatalError(
                f"the step at time {problem.time:g} cannot be written to {self._names}: {error}"
            ) from error
        problem.timing.output += clock.perf_counter() - began

    def repeat(self, history: Sequence[tuple[float, dict[str, float]]]) -> None:
        """Write the tables of an earlier run anew."""
        for csv in self._csv:
            for time, values in history:
                csv.write(time, {name: values[name] for name in self._scalars})

    @property
    def _names(self) -> str:
        return " or ".join(map(str, self.files))

    def __enter__(self) -> _Writers:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        """Finish the files; what ended the run is told before what is wrong with them."""
        for exodus in self._exodus:
            try:
                exodus.close()
            except _UNWRITABLE as unwritable:
                if error is None:
                    raise FatalError(f"{self._names} cannot be finished: {unwritable}") from unwritable


def _step_output(result: RunResult, writers: _Writers) -> None:
    problem = result.problem
    problem.update_auxiliary()
    values = problem.postprocess()
    result.history.append((problem.time, values))
    writers.write(problem, values)
