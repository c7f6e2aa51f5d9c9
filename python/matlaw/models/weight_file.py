"""Read weights from the files in which trainers leave them."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path

import torch

from matlaw.errors import FatalError

#: Ends of the names of files that ``torch.save`` wrote.
_CHECKPOINTS = (".pt", ".pth", ".ckpt")


def load_tensors(path: Path) -> dict[str, torch.Tensor]:
    """All tensors in a file by name: safetensors, or a checkpoint of ``torch.save`` that holds tensors only.

    :param path: the file; the end of its name tells which of the two it is
    :raises FatalError: it is not there, damaged, or holds something else
    """
    if not path.is_file():
        raise FatalError(f"there is no weight file '{path}'")
    try:
        if path.suffix in _CHECKPOINTS:
            found = torch.load(path, map_location="cpu", weights_only=True)
            found = found.get("state_dict", found) if isinstance(found, dict) else found
        else:
            from safetensors.torch import load_file

            found = load_file(path)
    except Exception as error:
        first = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise FatalError(
            f"the weight file '{path}' cannot be read ({first}); it must be a complete safetensors file, or a "
            "checkpoint of torch.save that holds tensors only"
        ) from error
    if not isinstance(found, dict) or not all(isinstance(x, torch.Tensor) for x in found.values()):
        raise FatalError(f"the checkpoint '{path}' does not hold tensors by name; save a module's state_dict()")
    return found


def read_weights(path: Path, expected: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The weights of a module, in its order.

    :param path: see :func:`load_tensors`
    :param expected: tensors of the shapes that the module has, by name
    :raises FatalError: a weight is missing, has another shape, is not of floating point or not finite, or is no
        weight of the module
    """
    found = load_tensors(path)
    where = f"weight file '{path}'"
    # Counters of batches and the like, which a state_dict has besides.
    extra = [name for name, x in found.items() if name not in expected and x.is_floating_point()]
    missing = [name for name in expected if name not in found]
    if missing or extra:
        raise FatalError(f"{where}: {names_text(missing, extra)}")
    for name, like in expected.items():
        if found[name].shape != like.shape:
            raise FatalError(
                f"{where}: weight '{name}' has the shape {tuple(found[name].shape)}, "
                f"the module's is {tuple(like.shape)}"
            )
        if not found[name].is_floating_point() or not torch.isfinite(found[name]).all():
            raise FatalError(f"{where}: weight '{name}' must hold finite floating-point numbers")
    return {name: found[name] for name in expected}


def save_weights(
    path: str | Path,
    weights: torch.nn.Module | Mapping[str, torch.Tensor],
    model: str = "",
    dtype: torch.dtype = torch.float64,
) -> None:
    """Write weights for a law that runs, as :class:`matlaw.WeightStream` expects it: whoever reads sees a whole file.

    :param path: the safetensors file, which is replaced if it is there
    :param weights: a module, of which parameters and floating-point buffers are taken, or tensors by name
    :param model: name of the TorchModule block, which the law puts before the names in the module
    :param dtype: of the law
    """
    from safetensors.torch import save

    found: Mapping[str, torch.Tensor] = weights if isinstance(weights, Mapping) else module_weights(weights)
    prefix = f"{model}." if model else ""
    data = save({f"{prefix}{name}": x.detach().to("cpu", dtype).contiguous() for name, x in found.items()})
    target = Path(path)
    hidden = target.with_name(f".{target.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        with hidden.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        hidden.replace(target)
    finally:
        hidden.unlink(missing_ok=True)


def module_weights(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """The parameters and floating-point buffers of a module by name: what a law calls its weights."""
    both = (*module.named_parameters(), *module.named_buffers())
    return {name: tensor.detach() for name, tensor in both if tensor.is_floating_point()}


def names_text(missing: Iterable[str], extra: Iterable[str]) -> str:
    """Which names are missing, and which are too many."""
    parts = [f"weight '{name}' is missing" for name in missing] + [f"there is no weight '{name}'" for name in extra]
    return ", ".join(parts)
