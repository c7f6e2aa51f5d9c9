"""How well solutions satisfy their linear systems."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

#: By kind of graph the largest backward errors of its solutions: in nine rows of ten, and in any. A Newton step may be
#: off, the next residual tells; a derivative may not.
LIMITS: Final = {"newton_step": (1e-4, np.inf), "sensitivity": (1e-9, 1e-6)}
#: Errors within so many units of rounding of the terms of the largest column are none: a column that is zero because
#: its terms cancel is not exactly zero where the machine fuses multiplications with additions.
_ROUNDING: Final = 64 * float(np.finfo(np.float64).eps)


def backward_errors(A: NDArray, x: NDArray, b: NDArray) -> NDArray:
    """By how much matrix and right-hand side would have to be off, relative to their sizes, for ``x`` to be exact.

    :param A: ``(n, n, rows)``
    :param x: ``(n, columns, rows)``
    :param b: ``(n, columns, rows)``
    :returns: of the worst column, ``(rows,)``, without what is rounding of the largest column; NaN where anything is
        not finite

    >>> A = np.eye(2)[:, :, None]
    >>> backward_errors(A, np.ones((2, 1, 1)), np.ones((2, 1, 1)))
    array([0.])
    """
    errors = np.empty(A.shape[-1])
    for row in range(len(errors)):  # as matrices of their own, for which libraries have fast products
        a, y, c = (np.ascontiguousarray(m[..., row]) for m in (A, x, b))
        with np.errstate(all="ignore"):
            difference = np.abs(a @ y - c).max(axis=0)
            size = (np.abs(a) @ np.abs(y) + np.abs(c)).max(axis=0)
            errors[row] = np.where(difference <= _ROUNDING * size.max(), 0.0, difference / size).max()
    return errors


def too_large(errors: NDArray, kind: str) -> str:
    """What is wrong with these errors of the sound rows of a graph; empty when nothing is."""
    for limit, share in zip(LIMITS[kind], (0.1, 0.0), strict=True):
        wrong = np.flatnonzero(~(errors <= limit))
        if len(wrong) > share * len(errors):
            return (
                f"{len(wrong)} of {len(errors)} rows have backward errors above {limit:.0e}, one {errors[wrong[0]]:.1e}"
            )
    return ""
