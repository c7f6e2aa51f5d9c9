"""Mandel components of symmetric tensors, for hosts that work with the full ones."""

from __future__ import annotations

import numpy as np

#: the six basis tensors, (6, 3, 3): components are contractions with them
BASIS = np.zeros((6, 3, 3))
for _component, (_i, _j) in enumerate(((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))):
    BASIS[_component, _i, _j] = BASIS[_component, _j, _i] = 1.0 if _i == _j else np.sqrt(0.5)


def components(tensor: np.ndarray) -> np.ndarray:
    """``(3, 3, *points)`` to ``(number of points, 6)``; the symmetric part counts."""
    return np.einsum("aij,ij...->...a", BASIS, tensor).reshape(-1, 6)


def tensor(values: np.ndarray, points: tuple[int, ...]) -> np.ndarray:
    """``(number of points, 6)`` to ``(3, 3, *points)``."""
    return np.einsum("aij,...a->ij...", BASIS, values.reshape(*points, 6))


def fourth_order_tensor(values: np.ndarray, points: tuple[int, ...]) -> np.ndarray:
    """``(number of points, 6, 6)`` to ``(3, 3, 3, 3, *points)``."""
    return np.einsum("aij,...ab,bkl->ijkl...", BASIS, values.reshape(*points, 6, 6), BASIS, optimize=True)
