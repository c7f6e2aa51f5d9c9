"""Rows alone and in any company, order, chunk or thread: the same bits or, with ``.pt2`` graphs, 1e-14 of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def assert_same(found: Mapping[str, Any], expected: Mapping[str, Any], backend: str) -> None:
    """The contract of docs/threads.md for rows that were computed in two ways; rows that failed are NaN in both.

    :param found: arrays or tensors by name
    :param expected: likewise
    :param backend: ``native``, ``inductor``, whose values may differ by 1e-14 of themselves or of the largest beside
        them (rounding of what has cancelled), or ``eager``, which makes no promise: 1e-9
    """
    tolerance = {"native": 0.0, "inductor": 1e-14, "eager": 1e-9}[backend]
    for name in expected:
        value = np.asarray(expected[name])
        scale = np.abs(value[np.isfinite(value)]).max(initial=0.0)
        np.testing.assert_allclose(found[name], value, rtol=tolerance, atol=tolerance * scale, err_msg=name)


def rows_of(values: Mapping[str, Any], rows: Any) -> dict[str, Any]:
    """Some rows of every array."""
    return {name: value[rows] for name, value in values.items()}


def blocks_by_row(jacobian: Mapping[str, Mapping[str, Any]], rows: int) -> dict[str, Any]:
    """The blocks of a Jacobian that have a batch of so many rows, by a name for each pair."""
    return {
        f"{output}:{given}": block
        for output, row in jacobian.items()
        for given, block in row.items()
        if block.shape[:1] == (rows,)
    }
