"""Files in the folder ``MATLAW_FAILURE_DIR``: a failing call with the law that it called."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matlaw.errors import FatalError


@dataclass(frozen=True)
class ReplayRow:
    """A row that failed.

    :ivar row: of the flattened batch of the call
    :ivar reason: ``ITERATION_LIMIT``, ``SINGULAR_JACOBIAN`` ...
    :ivar text: the reason in words
    :ivar iterations: Newton iterations used
    :ivar residuals: norm of the residual at each iterate of the segment that failed
    :ivar steps: part of each Newton step that was taken
    :ivar inputs: components by the names of the input file
    """

    row: int
    reason: str
    text: str
    iterations: int
    residuals: tuple[float, ...]
    steps: tuple[float, ...]
    inputs: dict[str, tuple[float, ...]]


@dataclass(frozen=True)
class ReplayFile:
    """A failing call.

    :ivar path: the file
    :ivar model: name of the model
    :ivar message: what the caller was told
    :ivar runtime: ``compiled`` or ``eager``
    :ivar artifact: folder of the compiled law, or None
    :ivar dtype: ``float64`` or ``float32``
    :ivar extensions: files, packages or modules with further types
    :ivar original_names: name in the input file by the name that the caller knew, where they differ
    :ivar solvers: settings of the Newton solves by implicit update
    :ivar parameters: values that may differ from those of the input file: shape and components
    :ivar n_rows: rows of the call
    :ivar n_failed: rows of it that failed
    :ivar rows: the first of them
    :ivar source_file: name of the input file
    :ivar source: its text
    """

    path: Path
    model: str
    message: str
    runtime: str
    artifact: Path | None
    dtype: str
    extensions: list[str]
    original_names: dict[str, str]
    solvers: dict[str, dict[str, Any]]
    parameters: dict[str, tuple[tuple[int, ...], tuple[float, ...]]]
    n_rows: int
    n_failed: int
    rows: list[ReplayRow]
    source_file: str
    source: str

    @property
    def worst(self) -> ReplayRow:
        """The row with the largest last residual; one that is not finite counts as the largest."""

        def badness(row: ReplayRow) -> tuple[bool, float]:
            last = row.residuals[-1] if row.residuals else 0.0
            return not math.isfinite(last), last

        return max(self.rows, key=badness)

    def row(self, number: int) -> ReplayRow:
        """The row of that number.

        :raises FatalError: the file does not have it
        """
        for row in self.rows:
            if row.row == number:
                return row
        known = ", ".join(str(row.row) for row in self.rows)
        raise FatalError(f"{self.path}: there is no row {number}; it holds the rows {known}")


def read_replay_file(path: Path) -> ReplayFile:
    """Read a file that matlaw wrote for a failing call.

    :raises FatalError: it cannot be read, or is no such file
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FatalError(f"{path}: cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise FatalError(f"{path}: not a replay file: {error}") from error
    version = found.get("matlaw_failure") if isinstance(found, dict) else None
    if version is None:
        raise FatalError(f"{path}: not a replay file; expected one that matlaw wrote into MATLAW_FAILURE_DIR")
    if version != 1:
        raise FatalError(f"{path}: a replay file of version {version}; this matlaw reads version 1")
    try:
        return _read(path, found)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise FatalError(f"{path}: a damaged replay file; an entry is missing or wrong: {error}") from error


def _read(path: Path, found: dict[str, Any]) -> ReplayFile:
    rows = [
        ReplayRow(
            int(entry["row"]),
            str(entry["reason"]),
            str(entry["text"]),
            int(entry["iterations"]),
            _numbers(entry["residuals"]),
            _numbers(entry["steps"]),
            {name: _numbers(values) for name, values in entry["inputs"].items()},
        )
        for entry in found["rows"]
    ]
    if not rows:
        raise ValueError("it holds no rows")
    return ReplayFile(
        path,
        _text(found, "model"),
        _text(found, "message"),
        _text(found, "runtime"),
        Path(_text(found, "artifact")) if found["artifact"] else None,
        _text(found, "dtype"),
        [str(extension) for extension in found["extensions"]],
        {str(name): str(original) for name, original in found["original_names"].items()},
        {update: dict(settings) for update, settings in found["solver_configs"].items()},
        {name: _parameter(name, entry) for name, entry in found["parameters"].items()},
        int(found["n_rows"]),
        int(found["n_failed"]),
        rows,
        _text(found["source"], "file"),
        _text(found["source"], "text"),
    )


def _text(entries: dict[str, Any], name: str) -> str:
    if not isinstance(entries[name], str):
        raise TypeError(f"'{name}' has to be a text, not {entries[name]!r}")
    return entries[name]


def _parameter(name: str, entry: dict[str, Any]) -> tuple[tuple[int, ...], tuple[float, ...]]:
    shape, values = tuple(int(n) for n in entry["shape"]), _numbers(entry["value"])
    if len(values) != math.prod(shape):
        raise ValueError(
            f"the parameter '{name}' has {len(values)} numbers, of its shape {shape} are {math.prod(shape)}"
        )
    return shape, values


def _numbers(values: list[Any]) -> tuple[float, ...]:
    """Numbers, of which NaN and infinity are texts."""
    return tuple(float(value) for value in values)
