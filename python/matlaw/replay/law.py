"""The law of a replay file, evaluated eagerly with the parameters and settings of the failing call."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from matlaw.eager import EagerModel
from matlaw.errors import FatalError
from matlaw.replay.replay_file import ReplayFile, ReplayRow


def replayed_law(file: ReplayFile, extensions: Sequence[str] = ()) -> EagerModel:
    """The law in the state in which it failed.

    :param extensions: files, packages or modules with further types, besides those that the file names
    :raises FatalError: the source cannot be evaluated here; the message names the file
    """
    with TemporaryDirectory(prefix="matlaw-replay-") as folder:
        path = Path(folder) / Path(file.source_file or "source.i").name
        path.write_text(file.source, encoding="utf-8")
        try:
            law = EagerModel(path, file.model, [*file.extensions, *extensions], dtype=file.dtype)
        except FatalError as error:
            raise FatalError(f"{file.path}: the law in it cannot be evaluated: {error}") from error
    known = law.named_parameters()
    for name, (shape, values) in file.parameters.items():
        value = torch.tensor(values, dtype=law.dtype).reshape(shape)
        if name in known and value.ndim == known[name].ndim:
            law.set_parameter(name, value.to(known[name].dtype))
    for update, settings in file.solvers.items():
        law.set_solver_config(update, **settings)
    return law


def row_inputs(file: ReplayFile, row: ReplayRow, law: EagerModel) -> dict[str, torch.Tensor]:
    """The inputs of a row, each ``(1, *sub_batch, *base)``; parameters of which every row had its own are set in `law`.

    :raises FatalError: an input is missing in the file, or has another number of components than the law's
    """
    inputs = {}
    shapes = zip(law.input_names, law.input_sub_batch_shapes, law.input_base_shapes, strict=True)
    for name, sub_batch, base in shapes:
        if name not in row.inputs:
            raise FatalError(f"{file.path}: row {row.row} has no value of the input '{name}'")
        shape, values = (1, *sub_batch, *base), row.inputs[name]
        if len(values) != math.prod(shape):
            counts = f"{len(values)} numbers for the input '{name}', expected {math.prod(shape)}"
            raise FatalError(f"{file.path}: row {row.row} has {counts}")
        inputs[name] = torch.tensor(values, dtype=law.dtype).reshape(shape)
    place = file.rows.index(row)
    known = law.named_parameters()
    for name, (shape, values) in file.parameters.items():
        value = torch.tensor(values, dtype=law.dtype).reshape(shape)
        if name in known and value.ndim > known[name].ndim:
            law.set_parameter(name, value[place].to(known[name].dtype))
    return inputs
