"""Comparison of tensors within tolerances."""

from __future__ import annotations

import torch


def difference(found: torch.Tensor, expected: torch.Tensor, rtol: float, atol: float, base_ndim: int = 0) -> str | None:
    """What is wrong with a value, or None when ``|found - expected| <= atol + rtol |expected|`` everywhere.

    ``|expected|`` is the largest component of the tensor in the same row: whether two stresses agree must not depend on
    components that happen to vanish in the chosen axes, where an iterative solver leaves noise. Batch axes of extent 1
    broadcast. NaN equals NaN.

    :param found: ``(*B, *sub_batch, *base)``
    :param expected: likewise
    :param base_ndim: number of base axes

    >>> difference(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.5]), 1e-5, 1e-8)
    'differs most by 5.000e-01 (relative 2.000e-01): found 2.0, expected 2.5'
    """
    found, expected = found.detach().cpu(), expected.detach().cpu()
    dtype = torch.promote_types(found.dtype, expected.dtype)
    try:
        found, expected = torch.broadcast_tensors(found.to(dtype), expected.to(dtype))
    except RuntimeError:
        return f"its shape is {tuple(found.shape)}, the reference has {tuple(expected.shape)}"
    scale = expected.abs()
    if base_ndim:
        scale = torch.nan_to_num(scale).amax(dim=tuple(range(-base_ndim, 0)), keepdim=True).expand_as(expected)
    gap = (found - expected).abs()
    same = (found == expected) | (found.isnan() & expected.isnan())
    wrong = ~same & ~(gap <= atol + rtol * scale)
    if not bool(wrong.any()):
        return None
    excess = torch.where(wrong, torch.nan_to_num(gap / (atol + rtol * scale), nan=torch.inf), -1.0).flatten()
    worst = int(excess.argmax())
    a, b, size = (x.flatten()[worst].item() for x in (found, expected, scale))
    relative = f" (relative {abs(a - b) / size:.3e})" if size else ""
    return f"differs most by {abs(a - b):.3e}{relative}: found {a!r}, expected {b!r}"
