"""Names of the components of tensors, for columns of tables and for plots."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from math import prod

import torch

_NAMES: dict[str, tuple[str, ...]] = {
    "Scalar": ("",),
    "Vec": ("_x", "_y", "_z"),
    "SR2": ("_xx", "_yy", "_zz", "_yz", "_xz", "_xy"),
    "WR2": ("_zy", "_xz", "_yx"),
    "R2": tuple(f"_{i}{j}" for i in "xyz" for j in "xyz"),
}


def component_suffixes(kind: str, trailing: tuple[int, ...], base_ndim: int) -> list[str]:
    """What to append to a variable's name for each of its components, sub-batch axes first.

    :param kind: name of the tensor type
    :param trailing: ``(*sub_batch, *base)``
    :param base_ndim: number of base axes

    >>> component_suffixes("Vec", (2, 3), 1)
    ['_0_x', '_0_y', '_0_z', '_1_x', '_1_y', '_1_z']
    """
    split = len(trailing) - base_ndim
    sub, base = trailing[:split], trailing[split:]
    names = _NAMES.get(kind)
    if names is None or len(names) != prod(base):
        names = tuple("".join(f"_{i}" for i in index) for index in product(*map(range, base)))
    sites = ["".join(f"_{i}" for i in index) for index in product(*map(range, sub))]
    return [site + name for site in sites for name in names]


def columns(
    name: str, kind: str, value: torch.Tensor, trailing_ndim: int, base_ndim: int
) -> Mapping[str, torch.Tensor]:
    """The components of a value by name, each ``(*B)``.

    :param value: ``(*B, *sub_batch, *base)``
    :param trailing_ndim: number of sub-batch and base axes
    """
    split = value.ndim - trailing_ndim
    suffixes = component_suffixes(kind, tuple(value.shape[split:]), base_ndim)
    flat = value.reshape(*value.shape[:split], len(suffixes))
    return {name + suffix: flat[..., i] for i, suffix in enumerate(suffixes)}
