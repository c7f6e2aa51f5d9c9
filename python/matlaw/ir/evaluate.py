"""A reference evaluator of programs in plain NumPy: slow, obvious, for tests and checks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from matlaw.ir.program import Program, reachable
from matlaw.ir.values import MEANING


def evaluate(program: Program, inputs: Sequence[NDArray[np.floating]]) -> list[NDArray[np.floating]]:
    """The outputs of a program.

    :param program: what to evaluate
    :param inputs: per slot ``(*shape, B)``
    :returns: per output ``(*shape, B)``, of the inputs' precision
    """
    flat = [np.asarray(x).reshape(slot.size, -1) for slot, x in zip(program.inputs, inputs, strict=True)]
    rows = max((x.shape[1] for x in flat), default=1)
    real = flat[0].dtype if flat else np.dtype(np.float64)
    known: dict[int, NDArray] = {}
    with np.errstate(all="ignore"):
        for v in reachable(v for out in program.values for v in out):
            if v.op == "input":
                assert isinstance(v.data, tuple)
                known[v.id] = flat[v.data[0]][v.data[1]]
            elif v.op == "const":
                known[v.id] = np.asarray(v.data, dtype=real)
            elif v.op == "mask":
                known[v.id] = np.asarray(v.data)
            else:
                known[v.id] = MEANING[v.op](*(known[a.id] for a in v.args))
                if not v.is_mask:
                    known[v.id] = known[v.id].astype(real, copy=False)
    return [
        np.stack([np.broadcast_to(known[v.id], (rows,)) for v in out]).reshape(*slot.shape, rows).astype(real)
        for slot, out in zip(program.outputs, program.values, strict=True)
    ]
