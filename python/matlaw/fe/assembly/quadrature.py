"""Quadrature on the reference elements: MOOSE's default rules, of degree 2 p + 1 for elements of order p."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np


def quadrature(shape: str, order: int) -> tuple[np.ndarray, np.ndarray]:
    """Points and weights.

    :param shape: ``cube``, ``square``, ``line``, ``triangle`` or ``tetrahedron`` of unit edges at the origin
    :param order: order of the elements, 1 or 2; exact for degree 3 or 5
    :returns: ``(n_points, dim)`` and ``(n_points,)``
    """
    if shape in ("cube", "square", "line"):
        return _tensor({"cube": 3, "square": 2, "line": 1}[shape], order + 1)
    if shape == "triangle":
        return _triangle(order)
    return _tetrahedron(order)


def _tensor(dim: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    x, w = np.polynomial.legendre.leggauss(n)
    x, w = 0.5 * (x + 1.0), 0.5 * w
    points = np.array([point[::-1] for point in product(x, repeat=dim)])  # the first coordinate fastest
    return points, np.array([np.prod(weights) for weights in product(w, repeat=dim)])


def _triangle(order: int) -> tuple[np.ndarray, np.ndarray]:
    if order == 1:  # conical product of a Gauss and a Gauss-Jacobi rule: degree 3 with positive weights
        root = np.sqrt(6.0)
        cone = np.array([(4.0 - root) / 10.0, (4.0 + root) / 10.0])
        cone_weights = np.array([(9.0 + root) / 36.0, (9.0 - root) / 36.0])
        line, line_weights = _tensor(1, 2)
        points = [(c, (1.0 - c) * s) for s in line[:, 0] for c in cone]
        return np.array(points), np.array([v * w for v in line_weights for w in cone_weights])
    root = np.sqrt(15.0)  # degree 5: Radon (1948)
    points, weights = [(1 / 3, 1 / 3)], [9 / 80]
    for a, w in (((6 + root) / 21, (155 + root) / 2400), ((6 - root) / 21, (155 - root) / 2400)):
        points += [(a, a), (a, 1 - 2 * a), (1 - 2 * a, a)]
        weights += 3 * [w]
    return np.array(points), np.array(weights)


def _tetrahedron(order: int) -> tuple[np.ndarray, np.ndarray]:
    if order == 1:  # degree 3, with a negative weight in the middle (Zienkiewicz)
        a, b = 1 / 2, 1 / 6
        return np.array([(1 / 4,) * 3, (a, b, b), (b, a, b), (b, b, a), (b, b, b)]), np.array([-2 / 15, *4 * [3 / 40]])
    points: list[tuple[float, ...]] = []  # degree 5: Walkington (2000)
    weights: list[float] = []
    for a, w in ((0.31088591926330060980, 0.018781320953002641800), (0.092735250310891226402, 0.012248840519393658257)):
        points += sorted({p[:3] for p in permutations((a, a, a, 1 - 3 * a))})
        weights += 4 * [w]
    a, w = 0.045503704125649649492, 0.0070910034628469110730
    points += sorted({p[:3] for p in permutations((a, a, 0.5 - a, 0.5 - a))})
    weights += 6 * [w]
    return np.array(points), np.array(weights)
