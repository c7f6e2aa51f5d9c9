"""What the compiled law of a replay file says today."""

from __future__ import annotations

from typing import Any

import torch

from matlaw.errors import FatalError
from matlaw.evaluation import Status
from matlaw.replay.replay_file import ReplayFile, ReplayRow


def compiled_verdict(file: ReplayFile, row: ReplayRow) -> dict[str, Any]:
    """Evaluate a row with the compiled law that failed.

    :returns: ``status``, ``iterations``, ``text`` and ``residuals``
    :raises FatalError: the call was eager, or the artifact is not there any more
    """
    from matlaw.runtime import CompiledModel, load_model

    if file.artifact is None:
        raise FatalError(f"{file.path}: the call was evaluated eagerly; there is no compiled law to compare with")
    law = load_model(file.artifact, file.model, dtype=file.dtype, runtime="aoti")
    assert isinstance(law, CompiledModel)
    reported = {original: name for name, original in file.original_names.items()}
    place = file.rows.index(row)
    for name, (shape, values) in file.parameters.items():
        known = law.named_parameters()[reported.get(name, name)]
        value = torch.tensor(values, dtype=law.dtype).reshape(shape).to(known.dtype)
        law.set_parameter(reported.get(name, name), value[place] if value.ndim > known.ndim else value)
    for update, settings in file.solvers.items():
        law.set_solver_config(update, **settings)
    inputs = {}
    shapes = zip(law.input_names, law.input_sub_batch_shapes, law.input_base_shapes, strict=True)
    for name, sub_batch, base in shapes:
        components = row.inputs[file.original_names.get(name, name)]
        inputs[name] = torch.tensor(components, dtype=law.dtype).reshape(1, *sub_batch, *base)
    found = law.evaluate(inputs)
    failure = law.last_failure() if found.failed_rows else None
    return {
        "status": Status(int(found.status[0])).name,
        "iterations": int(found.iterations[0]),
        "text": "converged" if failure is None else failure.rows[0].text,
        "residuals": [] if failure is None else list(failure.rows[0].residuals),
    }
