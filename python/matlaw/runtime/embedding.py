"""What the C++ eager runtime asks of Python: load a law, and describe it in plain types."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matlaw.errors import FatalError


def load(path: str, name: str, extensions: Sequence[str] = (), device: str = "cpu", dtype: str = "") -> Any:
    """Return the eager law `name` of an input file, or of the source that travels in an artifact folder.

    :param path: input file or artifact folder
    :param name: of the model
    :param extensions: Python files, packages or dotted names that register further model types
    :param device: where the law runs
    :param dtype: ``float64`` or ``float32``; empty for the one that an artifact was made for, else ``float64``
    :raises FatalError: the file is wrong, or has no such model
    """
    place = Path(path)
    if place.is_dir():
        from matlaw.runtime.source import SourceLaw

        return SourceLaw(place, name, extensions, device=device, dtype=dtype or None)
    from matlaw.runtime.eager import EagerLaw

    if not name:
        raise FatalError(f"{place}: name the model to load; an input file may hold several")
    return EagerLaw(place, name, extensions, device=device, dtype=dtype or "float64")


def describe(model: Any) -> dict[str, Any]:
    """Return the boundary of a law as strings, numbers, lists and dicts.

    :param model: anything with the metadata of :class:`matlaw.eager.EagerModel`
    """
    return {
        "name": model.name,
        "input_names": list(model.input_names),
        "output_names": list(model.output_names),
        "input_base_shapes": [list(shape) for shape in model.input_base_shapes],
        "output_base_shapes": [list(shape) for shape in model.output_base_shapes],
        "input_sub_batch_shapes": [list(shape) for shape in model.input_sub_batch_shapes],
        "output_sub_batch_shapes": [list(shape) for shape in model.output_sub_batch_shapes],
        "input_types": list(model.input_types),
        "output_types": list(model.output_types),
        "device": str(model.device),
        "dtype": str(model.dtype).removeprefix("torch."),
        "derivative_pairs": [{"output": output, "input": given} for output, given in model.derivative_pairs],
        "implicit_updates": list(getattr(model, "implicit_updates", [])),
        "times": [[current, old] for current, old in getattr(model, "times", [])],
        "weights": [[name, list(shape)] for name, shape in getattr(model, "weight_shapes", {}).items()],
        "state_pairs": [
            {
                "current": pair.current,
                "old": pair.old,
                "role": pair.role,
                "initial": [float(value) for value in pair.initial],
            }
            for pair in model.state_pairs
        ],
    }
