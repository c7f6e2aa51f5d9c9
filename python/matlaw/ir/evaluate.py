"""A reference evaluator of programs in plain NumPy: slow, obvious, for tests and checks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from matlaw.ir.program import Placed, Program, positions, reachable
from matlaw.ir.values import MEANING


def evaluate(program: Program, inputs: Sequence[NDArray[np.floating]]) -> list[NDArray[np.floating]]:
    """The outputs of a program.

    :param program: what to evaluate
    :param inputs: per slot ``(*shape, B)``, of a weight ``(*shape, 1)``
    :returns: per output ``(*shape, B)``, of the inputs' precision
    """
    flat = [np.asarray(x).reshape(slot.size, -1) for slot, x in zip(program.inputs, inputs, strict=True)]
    rows = max((x.shape[1] for x in flat), default=1)
    real = flat[0].dtype if flat else np.dtype(np.float64)
    known: dict[int, NDArray] = {}
    with np.errstate(all="ignore"):
        for v in reachable(program.roots):
            if v.op == "input":
                assert isinstance(v.data, tuple)
                number, component, stride = v.data
                at = component + stride * np.arange(program.sites) if stride else component
                known[v.id] = flat[number][at]  # (rows,), or (sites, rows)
            elif v.op == "dot":
                assert isinstance(v.data, tuple)
                number, component, stride = v.data
                numbers = flat[number][:, 0] if number >= 0 else program.pool.tables[-1 - number].astype(real)
                terms = (numbers[component + j * stride] * known[a.id] for j, a in enumerate(v.args))
                known[v.id] = np.asarray(sum(terms), dtype=real)
            elif v.op == "const":
                known[v.id] = np.asarray(v.data, dtype=real)
            elif v.op == "mask":
                known[v.id] = np.asarray(v.data)
            elif v.op == "site_sum":
                known[v.id] = np.broadcast_to(known[v.args[0].id], (program.sites, rows)).sum(axis=0)
            else:
                known[v.id] = MEANING[v.op](*(known[a.id] for a in v.args))
                if not v.is_mask:
                    known[v.id] = known[v.id].astype(real, copy=False)
    found = []
    for k, slot in enumerate(program.outputs):
        result = np.zeros((slot.size, rows), real)
        for v, place in program.stores(k):
            last = place.component + program.sites * place.stride if place.stride else place.component + 1
            result[place.component : last : place.stride or 1] = known[v.id]
        for block in program.products_of(k):
            columns, at = _factors(block.columns, known, program.sites, rows)
            for row, start in zip(*_factors(block.rows, known, program.sites, rows), strict=True):
                result[start + at] += np.einsum("ks,cks->cs", row, columns)
        found.append(result.reshape(*slot.shape, rows))
    return found


def _factors(
    side: Sequence[Placed], known: dict[int, NDArray], sites: int, rows: int
) -> tuple[NDArray, NDArray[np.intp]]:
    """One side of outer products, ``(number of rows or columns, products, B)``, and the components there."""
    found = []
    for values, place in side:
        shape = (sites, rows) if place.stride else (1, rows)
        found.append(np.stack([np.broadcast_to(known[v.id], shape) for v in values], axis=1))
    return np.concatenate(found), np.array(positions((place for _, place in side), sites))
