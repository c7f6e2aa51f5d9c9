"""Quadrature points in elements and on their sides, and the shape functions there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from matlaw.fe.assembly.quadrature import quadrature
from matlaw.fe.mesh.elements import ELEMENT_TYPES, ElementType
from matlaw.fe.mesh.mesh import Mesh

_VOLUMES = {"HEX8": "cube", "QUAD4": "square", "TET4": "tetrahedron", "TRI3": "triangle"}
_SIDES = {"HEX8": "square", "QUAD4": "line", "TET4": "triangle", "TRI3": "line"}


@dataclass(frozen=True)
class Space:
    """Shape functions of one order at the points of some elements.

    :ivar nodes: node numbers, ``(n, m)``
    :ivar shape: values, ``(n, n_points, m)``, or ``(1, n_points, m)`` where they are the same in all
    :ivar gradients: by the coordinates, ``(n, n_points, m, dim)``
    :ivar reference_gradients: by the reference coordinates, ``(n, n_points, m, dim)`` or ``(1, ...)``
    """

    nodes: np.ndarray
    shape: np.ndarray
    gradients: np.ndarray
    reference_gradients: np.ndarray

    def at_points(self, nodal: np.ndarray) -> np.ndarray:
        """A nodal field at the points, ``(n_nodes,)`` to ``(n, n_points)``."""
        return np.asarray((self.shape @ nodal[self.nodes][:, :, None])[..., 0])

    def gradient(self, nodal: np.ndarray) -> np.ndarray:
        """The gradient of a nodal field, ``(n_nodes,)`` to ``(n, n_points, dim)``."""
        return np.einsum("eqmi,em->eqi", self.gradients, nodal[self.nodes])


class _Points:
    """What points in elements and on sides share.

    :ivar elements: element of each row, ``(n,)``
    :ivar positions: ``(n, n_points, 3)``
    :ivar weights: quadrature weight times volume (or surface) element, ``(n, n_points)``; around the whole axis in RZ
    :ivar radius: distance from the axis of symmetry, ``(n, n_points)``; None in Cartesian coordinates
    """

    weights: np.ndarray

    def __init__(
        self, mesh: Mesh, elements: np.ndarray, places: np.ndarray, which: np.ndarray | None, axisymmetric: bool
    ) -> None:
        """Tabulate the elements' own shape functions.

        :param places: reference coordinates, ``(k, n_points, dim)``
        :param which: which of the ``k`` sets of points each row has; None: there is one
        """
        self.mesh = mesh
        self.elements = elements
        self.dim = mesh.dim
        self._places, self._which = places, which
        nodes = mesh.elements[elements]
        shape, gradients = self._tables(mesh.type)
        points = mesh.points[nodes]
        self.positions = shape @ points
        self.jacobian = points[:, None, :, : self.dim].swapaxes(2, 3) @ gradients
        self._inverse = np.linalg.inv(self.jacobian)
        self.radius = self.positions[:, :, 0] if axisymmetric else None
        self._spaces: dict[int, Space] = {}

    def _tables(self, kind: ElementType) -> tuple[np.ndarray, np.ndarray]:
        tables = [kind.shape(points) for points in self._places]
        shape, gradients = np.stack([t[0] for t in tables]), np.stack([t[1] for t in tables])
        return (shape, gradients) if self._which is None else (shape[self._which], gradients[self._which])

    @property
    def n_points(self) -> int:
        """Points of an element or side."""
        return int(self.weights.shape[1])

    def space(self, order: int) -> Space:
        """Shape functions of variables of an order (not above that of the elements)."""
        if order not in self._spaces:
            kind = self.mesh.type if order == self.mesh.type.order else ELEMENT_TYPES[self.mesh.type.corner]
            shape, reference = self._tables(kind)
            nodes = np.ascontiguousarray(self.mesh.elements[self.elements][:, : kind.n_nodes])
            self._spaces[order] = Space(nodes, shape, reference @ self._inverse, reference)
        return self._spaces[order]

    def average(self, values: np.ndarray) -> np.ndarray:
        """Mean over each element or side, ``(n, n_points)`` to ``(n,)``."""
        return np.asarray((values * self.weights).sum(axis=1) / self.weights.sum(axis=1))


class VolumePoints(_Points):
    """The quadrature points of all elements.

    :raises ValueError: an element is turned inside out, or lies across the axis of symmetry
    """

    def __init__(self, mesh: Mesh, axisymmetric: bool = False) -> None:
        places, weights = quadrature(_VOLUMES[mesh.type.corner], mesh.type.order)
        super().__init__(mesh, np.arange(mesh.n_elements), places[None], None, axisymmetric)
        determinant = np.linalg.det(self.jacobian)
        bad = np.flatnonzero(np.any(determinant <= 0.0, axis=1))
        if len(bad):
            raise ValueError(f"element {bad[0]} of the mesh is turned inside out")
        self.weights = determinant * weights
        if self.radius is not None:
            if np.any(self.radius <= 0.0):
                raise ValueError("with coord_type = RZ the mesh must be at x >= 0 (x is the radius, y the axis)")
            self.weights = 2.0 * np.pi * self.radius * self.weights


class SidePoints(_Points):
    """The quadrature points of some sides.

    :param sides: ``(n, 2)``: element, local side
    :ivar normals: outward unit normals, ``(n, n_points, 3)``
    :ivar directions: the edges of a side in the reference element, ``(n, dim, dim - 1)``
    :ivar quadrature_weights: ``(n_points,)``
    """

    def __init__(self, mesh: Mesh, sides: np.ndarray, axisymmetric: bool = False) -> None:
        kind = mesh.type
        elements, side = sides.T
        flat, self.quadrature_weights = quadrature(_SIDES[kind.corner], kind.order)
        corners = kind.nodes[kind.sides]
        last = 1 if kind.dim == 2 else corners.shape[1] - 1
        edges = np.stack([corners[:, k] - corners[:, 0] for k in dict.fromkeys((1, last))], axis=2)
        places = corners[:, :1] + np.einsum("sij,qj->sqi", edges, flat)
        super().__init__(mesh, elements, places, side, axisymmetric)
        self.directions = edges[side]
        area = outward(self.jacobian @ self.directions[:, None])
        size = np.linalg.norm(area, axis=-1)
        self.normals = area / size[..., None]
        self.weights = size * self.quadrature_weights
        if self.radius is not None:
            self.weights = 2.0 * np.pi * self.radius * self.weights


def outward(tangents: np.ndarray) -> np.ndarray:
    """The area vector that tangents of a side span, outward, ``(..., dim, dim - 1)`` to ``(..., 3)``."""
    if tangents.shape[-1] == 1:
        x, y = tangents[..., 0, 0], tangents[..., 1, 0]
        return np.stack([y, -x, np.zeros_like(x)], axis=-1)
    return np.cross(tangents[..., 0], tangents[..., 1])
