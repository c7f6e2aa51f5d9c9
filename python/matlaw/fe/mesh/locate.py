"""The element that holds a point."""

from __future__ import annotations

import numpy as np

from matlaw.fe.mesh.mesh import Mesh

_TOLERANCE = 1e-8


def locate(mesh: Mesh, point: np.ndarray) -> tuple[int, np.ndarray] | None:
    """The element that holds a point, and the reference coordinates there, ``(dim,)``; None outside the mesh.

    :param point: ``(3,)``
    """
    corners = mesh.points[mesh.elements]
    size = np.ptp(corners, axis=1)
    low, high = corners.min(axis=1) - 0.1 * size - 1e-12, corners.max(axis=1) + 0.1 * size + 1e-12
    for element in np.flatnonzero(np.all((point >= low) & (point <= high), axis=1)):
        place = _invert(mesh, int(element), point)
        if place is not None:
            return int(element), place
    return None


def _invert(mesh: Mesh, element: int, point: np.ndarray) -> np.ndarray | None:
    nodes = mesh.points[mesh.elements[element], : mesh.dim]
    place = np.full(mesh.dim, 1.0 / (mesh.dim + 1) if mesh.type.is_simplex else 0.5)
    for _ in range(30):
        shape, gradients = mesh.type.shape(place[None])
        error = shape[0] @ nodes - point[: mesh.dim]
        step = np.linalg.solve(nodes.T @ gradients[0], error)
        place = place - step
        if np.abs(step).max() < 1e-13:
            break
    inside = np.all(place > -_TOLERANCE)
    inside &= place.sum() < 1.0 + _TOLERANCE if mesh.type.is_simplex else np.all(place < 1.0 + _TOLERANCE)
    return place if inside else None
