"""Scalars of a symmetric tensor given in Mandel components (xx, yy, zz, sqrt2 yz, sqrt2 xz, sqrt2 xy)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

#: Mandel component of each pair of indices
INDEX = np.array([[0, 5, 4], [5, 1, 3], [4, 3, 2]])


def component(tensor: np.ndarray, i: int, j: int) -> np.ndarray:
    """The tensor component ``ij``, ``(..., 6)`` or ``(..., 3, 3)`` to ``(...)``."""
    if tensor.shape[-2:] == (3, 3):
        return tensor[..., i, j]
    value = tensor[..., INDEX[i, j]]
    return value if i == j else value * np.sqrt(0.5)


def symmetric(tensor: np.ndarray) -> np.ndarray:
    """The symmetric part in Mandel components, ``(..., 6)`` or ``(..., 3, 3)`` to ``(..., 6)``."""
    if tensor.shape[-2:] != (3, 3):
        return tensor
    half = 0.5 * (tensor + tensor.swapaxes(-1, -2))
    first, second = np.array([0, 1, 2, 1, 0, 0]), np.array([0, 1, 2, 2, 2, 1])
    return half[..., first, second] * np.where(first == second, 1.0, np.sqrt(2.0))


def matrix(tensor: np.ndarray) -> np.ndarray:
    """The full tensor, ``(..., 6)`` to ``(..., 3, 3)``."""
    factor = np.where(np.eye(3) == 1.0, 1.0, np.sqrt(0.5))
    return tensor[..., INDEX] * factor


def trace(tensor: np.ndarray) -> np.ndarray:
    """First invariant."""
    return tensor[..., :3].sum(axis=-1)


def deviator(tensor: np.ndarray) -> np.ndarray:
    """The tensor less a third of its trace."""
    result = tensor.copy()
    result[..., :3] -= (trace(tensor) / 3.0)[..., None]
    return result


def von_mises(tensor: np.ndarray) -> np.ndarray:
    r"""Equivalent stress, :math:`\sqrt{\tfrac32 s : s}`."""
    return np.sqrt(1.5) * np.linalg.norm(deviator(tensor), axis=-1)


def second_invariant(tensor: np.ndarray) -> np.ndarray:
    r"""Second invariant, :math:`\tfrac12 (\mathrm{tr}^2 A - \mathrm{tr} A^2)`."""
    return 0.5 * (trace(tensor) ** 2 - (tensor**2).sum(axis=-1))


def _principal(tensor: np.ndarray, index: int) -> np.ndarray:
    return np.linalg.eigvalsh(matrix(tensor))[..., index]


def _triaxiality(tensor: np.ndarray) -> np.ndarray:
    equivalent = von_mises(tensor)
    return np.divide(trace(tensor) / 3.0, equivalent, out=np.zeros_like(equivalent), where=equivalent > 0.0)


#: MOOSE's ``scalar_type`` -> the scalar of a tensor ``(..., 6)``
SCALARS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "VonMisesStress": von_mises,
    "EffectiveStrain": lambda a: np.sqrt(2.0 / 3.0) * np.linalg.norm(deviator(a), axis=-1),
    "EquivalentPlasticStrain": lambda a: np.sqrt(2.0 / 3.0) * np.linalg.norm(a, axis=-1),
    "Hydrostatic": lambda a: trace(a) / 3.0,
    "L2norm": lambda a: np.linalg.norm(a, axis=-1),
    "VolumetricStrain": trace,
    "FirstInvariant": trace,
    "SecondInvariant": second_invariant,
    "ThirdInvariant": lambda a: np.linalg.det(matrix(a)),
    "MaxPrincipal": lambda a: _principal(a, 2),
    "MidPrincipal": lambda a: _principal(a, 1),
    "MinPrincipal": lambda a: _principal(a, 0),
    "MaxShear": lambda a: 0.5 * (_principal(a, 2) - _principal(a, 0)),
    "TriaxialityStress": _triaxiality,
}
