"""Files from which a run can go on: ``<base>_cp/<step>.npz``."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from matlaw.errors import FatalError
from matlaw.fe.executioner.transient import Progress
from matlaw.fe.problem import Problem

#: changes with what is in a file
VERSION = 1
_KIND = "matlaw-fe checkpoint"


class CheckpointError(FatalError):
    """A checkpoint does not exist, is damaged, or belongs to another input."""


class CheckpointWriter:
    """Keeps the last few states of a run.

    :param folder: where the files go
    :param keep: how many
    :param interval: every so many steps
    """

    def __init__(self, folder: Path, keep: int = 2, interval: int = 1) -> None:
        self.folder = folder
        self._keep, self._interval = keep, interval

    def write(self, problem: Problem, progress: Progress, history: list[tuple[float, dict[str, float]]]) -> None:
        """Write the present state, and remove the oldest file.

        :raises FatalError: it cannot be written
        """
        if progress.number % self._interval:
            return
        path = self.folder / f"{progress.number:04d}.npz"
        partial = path.with_suffix(".partial")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with partial.open("wb") as stream:
                np.savez(stream, **_contents(problem, progress, history))
            partial.replace(path)
            for old in _files(self.folder)[: -self._keep]:
                old.unlink()
        except OSError as error:
            raise FatalError(f"the checkpoint {path} cannot be written: {error.strerror or error}") from error


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*.npz") if path.stem.isdigit())


def find_checkpoint(text: str, folder: Path, base: Path) -> Path:
    """The file that ``--recover`` means.

    :param text: nothing, a file with or without suffix, a folder, ``<folder>/LATEST``, or what ``file_base`` was
    :param folder: that relative names are relative to, or else to the current folder
    :param base: the path that the run's own files are named after
    :raises CheckpointError: there is none
    """
    places = [folder / text, Path(text).absolute()] if text else [base.with_name(base.name + "_cp")]
    for place in places:
        path = place.parent if place.name == "LATEST" else place
        for candidate in (path, path.parent / f"{path.name}.npz"):
            if candidate.is_file():
                return candidate
        for candidate in (path, path.parent / f"{path.name}_cp"):
            files = _files(candidate) if candidate.is_dir() else []
            if files:
                return files[-1]
    looked = " or ".join(dict.fromkeys(map(str, places)))
    raise CheckpointError(f"no checkpoint at {looked}; write one with Outputs/checkpoint=true")


def _contents(problem: Problem, progress: Progress, history: list[tuple[float, dict[str, float]]]) -> dict[str, Any]:
    names = list(history[0][1])
    contents: dict[str, Any] = {
        "kind": _KIND,
        "version": VERSION,
        "fingerprint": _fingerprint(problem),
        "u": problem.u,
        "velocity": progress.velocity,
        "time": progress.time,
        "number": progress.number,
        "dt": problem.dt,
        "failed_steps": problem.failed_steps,
        "stepper_names": list(progress.stepper),
        "stepper_values": list(progress.stepper.values()),
        "history_names": names,
        "history": [[time, *(values[name] for name in names)] for time, values in history],
    }
    for name, variable in problem.auxiliary.items():
        contents[f"aux/{name}"] = variable.values
    for index, points in enumerate(problem.laws):
        contents[f"law/{index}"] = np.frombuffer(points.save(), np.uint8)
    for name, postprocessor in problem.postprocessors.items():
        for index, state in enumerate(postprocessor.save()):
            contents[f"postprocessor/{name}/{index}"] = np.frombuffer(state, np.uint8)
    return {name: np.asarray(values) for name, values in contents.items()}


def _fingerprint(problem: Problem) -> str:
    laws = [f"{points.law.name} at {points.n_points} points" for points in problem.laws]
    fields = [*problem.unknowns.names, *problem.auxiliary]
    return (
        f"{problem.mesh.n_elements} {problem.mesh.type.name}, {problem.mesh.n_nodes} nodes; {', '.join(fields)}; "
        f"{', '.join(laws)}; {', '.join(problem.postprocessors)}"
    )


def restore(path: Path, problem: Problem) -> tuple[Progress, list[tuple[float, dict[str, float]]]]:
    """Put a problem into the state of a file.

    :returns: how far the run was, and its history
    :raises CheckpointError: the file is damaged, or of another version or input
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            contents = {name: file[name] for name in file.files}
    except (OSError, ValueError, EOFError, KeyError, BadZipFile) as error:
        raise CheckpointError(f"{path}: is no checkpoint, or is damaged: {error}") from error
    if str(contents.get("kind", "")) != _KIND:
        raise CheckpointError(f"{path}: is no checkpoint of matlaw-fe")
    if int(contents["version"]) != VERSION:
        raise CheckpointError(f"{path}: is of version {int(contents['version'])}; this is {VERSION}")
    ours, theirs = _fingerprint(problem), str(contents["fingerprint"])
    if ours != theirs:
        raise CheckpointError(f"{path}: belongs to another input: it is for\n  {theirs}\nand this is\n  {ours}")
    shapes = {"u": problem.u.shape, "velocity": problem.u.shape}
    shapes |= {f"aux/{name}": variable.values.shape for name, variable in problem.auxiliary.items()}
    for name, shape in shapes.items():
        found = contents[name].shape if name in contents else "nothing"
        if found != shape:
            raise CheckpointError(f"{path}: is damaged: '{name}' has to be numbers of shape {shape}; it has {found}")
    problem.u = contents["u"]
    problem.time, problem.dt = float(contents["time"]), float(contents["dt"])
    problem.failed_steps = int(contents["failed_steps"])
    for name, variable in problem.auxiliary.items():
        variable.values = contents[f"aux/{name}"]
    for index, points in enumerate(problem.laws):
        points.restore(contents[f"law/{index}"].tobytes())
    for name, postprocessor in problem.postprocessors.items():
        states = [key for key in contents if key.startswith(f"postprocessor/{name}/")]
        states.sort(key=lambda key: int(key.rpartition("/")[2]))
        postprocessor.restore([contents[key].tobytes() for key in states])
    names = [str(name) for name in contents["history_names"]]
    history = [(float(row[0]), dict(zip(names, map(float, row[1:]), strict=True))) for row in contents["history"]]
    problem.reported = history[-1][1]
    stepper = dict(zip(map(str, contents["stepper_names"]), map(float, contents["stepper_values"]), strict=True))
    return Progress(problem.time, int(contents["number"]), contents["velocity"], stepper), history
