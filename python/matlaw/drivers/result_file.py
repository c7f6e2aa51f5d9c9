"""Result files (``docs/run.md`` describes the formats)."""

from __future__ import annotations

import csv
import warnings
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import torch

from matlaw.drivers.history import History
from matlaw.errors import FatalError

#: Endings of result files.
FORMATS = (".pt", ".npz", ".csv")


def check_format(path: Path) -> None:
    """The ending is one that can be written.

    :raises FatalError: when it is not
    """
    if path.suffix not in FORMATS:
        raise FatalError(f"{path}: a result file ends with {', '.join(FORMATS)}, not '{path.suffix}'")


def save(history: History, path: Path) -> None:
    """Writes a history; the ending of the path decides the format. The file appears complete or not at all.

    :raises FatalError: the ending is not known, or the file cannot be written
    """
    check_format(path)
    partial = path.with_name(f".{path.name}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".pt":
            torch.save({name: value.clone() for name, value in history.flat().items()}, partial)
        elif path.suffix == ".npz":
            with partial.open("wb") as file:
                np.savez(file, **{name: value.numpy() for name, value in history.flat().items()})  # type: ignore[arg-type]
        else:
            _save_table(history, partial)
        partial.replace(path)
    except (OSError, RuntimeError) as error:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise FatalError(f"{path}: cannot be written: {error}") from error


def _save_table(history: History, path: Path) -> None:
    """One line per step and row of the batch; a column per component."""
    table = {f"{side}.{name}": v for side in ("input", "output") for name, v in history.components(side).items()}
    batch = torch.broadcast_shapes(*(v.shape[1:] for v in table.values()))
    flat = {name: v.reshape(v.shape[0], *([1] * (len(batch) - v.ndim + 1)), *v.shape[1:]) for name, v in table.items()}
    spread = {name: v.expand(v.shape[0], *batch).reshape(v.shape[0], -1).tolist() for name, v in flat.items()}
    rows = int(np.prod(batch, dtype=int))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["step", "row", *spread])
        for step in range(history.steps):
            for row in range(rows):
                writer.writerow([step, row, *(repr(v[step][row]) for v in spread.values())])


def load(path: Path) -> dict[str, torch.Tensor]:
    """The values of a ``.pt`` or ``.npz`` file by ``input.<step>.<name>`` and ``output.<step>.<name>``.

    A ``.pt`` file may hold a dict of tensors, or a TorchScript module whose buffers have these names.

    :raises FatalError: there is no such file, or it holds something else
    """
    if not path.is_file():
        raise FatalError(f"there is no result file {path}")
    try:
        if path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as arrays:
                return {name: torch.from_numpy(arrays[name]) for name in arrays.files}
        if _is_torchscript(path):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # old files stay readable as long as torch can
                content = dict(torch.jit.load(path, map_location="cpu").named_buffers())
        else:
            content = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        raise FatalError(f"{path} cannot be read as a result file: {error}") from error
    if not isinstance(content, dict) or not all(isinstance(v, torch.Tensor) for v in content.values()):
        raise FatalError(f"{path} is no result file: expected a dict of tensors, found {type(content).__name__}")
    return {str(name): value.detach() for name, value in content.items()}


def _is_torchscript(path: Path) -> bool:
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return any("/code/" in name for name in archive.namelist())
