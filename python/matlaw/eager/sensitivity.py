"""Derivatives along a chain of segments.

Every variable carries its derivative by each seed, an array ``(size, seed_size, B)``. A seed is a master input, a
parameter, or a single direction.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch

#: By variable, then by seed: ``(size, seed_size, B)``.
Derivatives = dict[str, dict[str, torch.Tensor]]


def identity_seeds(sizes: Mapping[str, int], rows: int, dtype: torch.dtype, device: torch.device) -> Derivatives:
    """Each name is a seed of its own."""
    return {
        name: {name: torch.eye(size, dtype=dtype, device=device).unsqueeze(-1).expand(size, size, rows)}
        for name, size in sizes.items()
    }


def same_for_all_rows(derivative: torch.Tensor) -> bool:
    """Whether a derivative ``(size, seed_size, B)`` is one matrix that was spread over the rows, as a seed is."""
    return derivative.shape[-1] > 0 and derivative.stride(-1) == 0


def push(blocks: Mapping[str, torch.Tensor], derivatives: Derivatives) -> dict[str, torch.Tensor]:
    """The chain rule: derivatives of a function by the seeds.

    :param blocks: derivatives of the function by its arguments, each ``(n, size, B)``
    :param derivatives: those of the arguments by the seeds
    :returns: by seed ``(n, seed_size, B)``
    """
    result: dict[str, torch.Tensor] = {}
    for name, block in blocks.items():
        for seed, inner in derivatives.get(name, {}).items():
            if same_for_all_rows(inner):
                term = torch.einsum("ikb,kj->ijb", block, inner[..., 0])
            else:
                term = torch.einsum("ikb,kjb->ijb", block, inner)
            result[seed] = result[seed] + term if seed in result else term
    return result
