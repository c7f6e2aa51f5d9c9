r"""Stress measures at finite strain, in terms of the deformation gradient.

``F`` is ``(n, 3, 3)``; everything becomes the first Piola-Kirchhoff stress :math:`P` and its derivative
:math:`\partial P_{iJ} / \partial F_{kL}` (Bonet and Wood, Nonlinear Continuum Mechanics, chapters 5 and 6).
"""

from __future__ import annotations

import numpy as np

from matlaw.fe.auxiliary.invariants import matrix, symmetric


def full(values: np.ndarray) -> np.ndarray:
    """A tensor ``(n, 6)`` in Mandel components, or ``(n, 3, 3)``, as ``(n, 3, 3)``."""
    return matrix(values) if values.ndim == 2 else values


def first_piola_kirchhoff(measure: str, stress: np.ndarray, F: np.ndarray) -> np.ndarray:
    """``P`` from a stress of some measure.

    :param measure: ``PK1``, ``PK2`` or ``CAUCHY``
    :param stress: ``(n, 3, 3)``
    """
    if measure == "PK1":
        return stress
    if measure == "PK2":
        return F @ stress
    return np.linalg.det(F)[:, None, None] * stress @ np.linalg.inv(F).swapaxes(1, 2)


def tangent_of_first_piola_kirchhoff(
    measure: str, stress: np.ndarray, tangent: np.ndarray, F: np.ndarray
) -> np.ndarray:
    r""":math:`\partial P_{iJ} / \partial F_{kL}` from the derivative of a stress of some measure.

    :param stress: ``(n, 3, 3)``
    :param tangent: derivative of the stress by ``F``, ``(n, 3, 3, 3, 3)``
    :returns: ``(n, 3, 3, 3, 3)``
    """
    if measure == "PK1":
        return tangent
    if measure == "PK2":
        result = np.einsum("niI,nIJkL->niJkL", F, tangent)
        result += np.einsum("ik,nLJ->niJkL", np.eye(3), stress)
        return result
    inverse = np.linalg.inv(F)
    volume = np.linalg.det(F)[:, None, None, None, None]
    piola = stress @ inverse.swapaxes(1, 2)
    result = np.einsum("niJ,nLk->niJkL", piola, inverse) - np.einsum("niL,nJk->niJkL", piola, inverse)
    return volume * (result + np.einsum("nimkL,nJm->niJkL", tangent, inverse))


def cauchy(P: np.ndarray, F: np.ndarray) -> np.ndarray:
    r"""Cauchy stress :math:`P F^T / \det F`, ``(n, 6)``."""
    sigma = P @ F.swapaxes(1, 2) / np.linalg.det(F)[:, None, None]
    return symmetric(sigma)
