"""What an input file and its models say of themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from matlaw.input import SECTIONS, InputFile
from matlaw.models import Variable
from matlaw.trace import ImplicitSegment, partition


def describe_file(path: Path, overrides: Sequence[str] = ()) -> dict[str, Any]:
    """Blocks and types of every section.

    :raises InputFileError: the file is wrong
    """
    file = InputFile(path, overrides)
    return {
        "kind": "input file",
        "path": str(path),
        "sections": {
            section: {name: file.type_of(section, name) for name in file.names(section)}
            for section in SECTIONS
            if file.names(section)
        },
    }


def describe_model(path: Path, name: str, overrides: Sequence[str] = ()) -> dict[str, Any]:
    """Variables, parameters, state and segments of a model.

    :raises InputFileError: the file or the model is wrong
    :raises FatalError: the model cannot be cut into segments
    """
    file = InputFile(path, overrides)
    model = file.model(name)
    program = partition(model)
    segments = []
    for segment in program.segments:
        entry: dict[str, Any] = {
            "kind": "implicit" if isinstance(segment, ImplicitSegment) else "forward",
            "inputs": list(segment.inputs),
            "outputs": list(segment.outputs),
            "parameters": segment.parameters,
        }
        if isinstance(segment, ImplicitSegment):
            entry["size"] = sum(v.size for v in segment.unknowns.values())
            entry["unknowns"] = _variables(segment.unknowns)
            entry["givens"] = list(segment.givens)
            entry["predictor"] = segment.predictor.name if segment.predictor else None
        else:
            entry["models"] = [m.name for m in segment.models]
        segments.append(entry)
    return {
        "kind": "model",
        "path": str(path),
        "name": name,
        "type": file.type_of("Models", name),
        "inputs": _variables(program.inputs),
        "outputs": _variables(program.outputs),
        "parameters": [
            {
                "name": key,
                "type": type(value).__name__,
                "param_base_shape": list(value.base_shape),
                "sub_batch_shape": list(value.sub_batch_shape),
                "size": int(value.data[..., 0].numel()),
                **({"dtype": "int64"} if value.parameter_dtype == torch.int64 else {}),
                "value": value.data[..., 0].reshape(-1).to(value.parameter_dtype).tolist(),
                "option": program.slots[key].origin,
            }
            for key, value in program.parameters.items()
        ],
        "state_pairs": [
            {"current": p.current, "old": p.old, "role": p.role, "initial": list(p.initial)}
            for p in program.state_pairs
        ],
        "times": [{"current": current, "old": old} for current, old in program.times],
        "segments": segments,
    }


def _variables(variables: Mapping[str, Variable]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "type": v.type.__name__,
            "base_shape": list(v.type.base_shape),
            "sub_batch_shape": list(v.sub_batch_shape),
            "size": v.size,
        }
        for name, v in variables.items()
    ]
