"""Conversion tables between full matrices and Mandel components xx, yy, zz, sqrt2 yz, sqrt2 xz, sqrt2 xy."""

from __future__ import annotations

import math

#: Row and column of each Mandel component.
INDEX: tuple[tuple[int, int], ...] = ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))


def _to_r2() -> list[list[list[float]]]:
    table = [[[0.0] * 6 for _ in range(3)] for _ in range(3)]
    for c, (i, j) in enumerate(INDEX):
        table[i][j][c] = table[j][i][c] = 1.0 if i == j else math.sqrt(0.5)
    return table


def _to_mandel() -> list[list[list[float]]]:
    table = [[[0.0] * 3 for _ in range(3)] for _ in range(6)]
    for c, (i, j) in enumerate(INDEX):
        table[c][i][j] = table[c][j][i] = 1.0 if i == j else math.sqrt(0.5)
    return table


#: ``(3, 3, 6)``: components of the matrix from Mandel components.
MANDEL_TO_R2 = _to_r2()
#: ``(6, 3, 3)``: Mandel components of the symmetric part of a matrix.
R2_TO_MANDEL = _to_mandel()
