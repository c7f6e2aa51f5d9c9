"""The file of the weights that stay outside the compiled code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from matlaw.tensors import to_public


def weight_file(weights: Mapping[str, Any], dtype: str) -> bytes:
    """A safetensors file, the same bytes for the same weights.

    :param weights: typed values by name
    :param dtype: of the law, ``float64`` or ``float32``
    """
    from safetensors.torch import save

    return save({name: to_public(w, ()).to(getattr(torch, dtype)).contiguous() for name, w in weights.items()})


def weight_entry(name: str, value: Any) -> dict[str, Any]:
    """What metadata says of a weight."""
    return {
        "name": name,
        "type": type(value).__name__,
        "base_shape": list(value.base_shape),
        "sub_batch_shape": list(value.sub_batch_shape),
        "size": value.data.numel(),
    }
