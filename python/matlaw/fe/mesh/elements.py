"""The element types: reference nodes in libMesh's order, sides, and shape functions from scikit-fem."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import skfem


@dataclass(frozen=True, eq=False)
class ElementType:
    """A Lagrange element on the unit cube, square, simplex or triangle.

    :ivar name: libMesh's name
    :ivar order: 1 or 2
    :ivar corner: name of the element of first order with the same corners
    :ivar nodes: reference coordinates, ``(n_nodes, dim)``, corners first
    :ivar sides: corners of each side, ``(n_sides, n)``, in libMesh's order of sides; outward by the right hand in three
        dimensions, with the element to the left in two
    :ivar exodus_sides: the number of each side in an Exodus file
    :ivar exodus_nodes: node ``k`` of an Exodus file is our node ``exodus_nodes[k]``
    """

    name: str
    order: int
    corner: str
    nodes: np.ndarray
    sides: np.ndarray
    exodus_sides: np.ndarray
    exodus_nodes: np.ndarray
    element: skfem.Element = field(repr=False)

    @property
    def dim(self) -> int:
        """Two or three."""
        return int(self.nodes.shape[1])

    @property
    def n_nodes(self) -> int:
        """Nodes of an element."""
        return len(self.nodes)

    @property
    def is_simplex(self) -> bool:
        """A triangle or a tetrahedron."""
        return self.corner in ("TRI3", "TET4")

    @cached_property
    def _reference_order(self) -> np.ndarray:
        """Our node ``k`` is scikit-fem's ``_reference_order[k]``."""
        places = np.asarray(self.element.doflocs)
        distance = np.linalg.norm(self.nodes[:, None, :] - places[None, :, :], axis=2)
        return np.asarray(distance.argmin(axis=1))

    @cached_property
    def side_nodes(self) -> np.ndarray:
        """All nodes of each side, its corners first, ``(n_sides, n)``."""
        result = []
        for corners in self.sides:
            places = self.nodes[corners]
            result.append([*corners, *(k for k in range(self.n_nodes) if k not in corners and self._on(places, k))])
        return np.array(result)

    def _on(self, corners: np.ndarray, k: int) -> bool:
        """True when node ``k`` lies in the plane (or line) of some corners."""
        edges = (corners[1:] - corners[0])[: self.dim - 1]
        offset = self.nodes[k] - corners[0]
        return bool(np.linalg.matrix_rank(np.vstack([edges, offset]), tol=1e-12) < self.dim)

    def shape(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Shape functions and their derivatives by the reference coordinates.

        :param points: reference coordinates, ``(n_points, dim)``
        :returns: ``(n_points, n_nodes)`` and ``(n_points, n_nodes, dim)``
        """
        values, gradients = [], []
        for k in self._reference_order:
            phi, dphi = self.element.lbasis(np.ascontiguousarray(points.T), int(k))
            values.append(np.broadcast_to(phi, (len(points),)))
            gradients.append(np.broadcast_to(np.asarray(dphi), (self.dim, len(points))).T)
        return np.stack(values, axis=1), np.stack(gradients, axis=1)


_HEX = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]], float)
_TET = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)
_QUAD = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], float)
_TRI = np.array([[0, 0], [1, 0], [0, 1]], float)

_HEX_SIDES = np.array([[0, 3, 2, 1], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7], [4, 5, 6, 7]])
_TET_SIDES = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
_QUAD_SIDES = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])
_TRI_SIDES = np.array([[0, 1], [1, 2], [2, 0]])

_HEX_EDGES = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 5), (2, 6), (3, 7), (4, 5), (5, 6), (6, 7), (7, 4)]
_TET_EDGES = [(0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3)]


def _with_middles(corners: np.ndarray, groups: list[tuple[int, ...]]) -> np.ndarray:
    """Corners, then the centre of each group of corners."""
    return np.vstack([corners, *(corners[list(group)].mean(axis=0) for group in groups)])


def _types() -> dict[str, ElementType]:
    result = {}

    def add(
        name: str,
        corner: str,
        nodes: np.ndarray,
        sides: np.ndarray,
        exodus_sides: list[int],
        element: skfem.Element,
        exodus_nodes: list[int] | None = None,
    ) -> None:
        order = 1 if name == corner else 2
        renumbered = np.array(exodus_nodes if exodus_nodes is not None else range(len(nodes)))
        result[name] = ElementType(name, order, corner, nodes, sides, np.array(exodus_sides), renumbered, element)

    faces = [tuple(side) for side in _HEX_SIDES.tolist()]
    everywhere = tuple(range(8))
    hexa = [5, 1, 2, 3, 4, 6]
    add("HEX8", "HEX8", _HEX, _HEX_SIDES, hexa, skfem.ElementHex1())
    add("HEX20", "HEX8", _with_middles(_HEX, [*_HEX_EDGES]), _HEX_SIDES, hexa, skfem.ElementHexS2())
    add(
        *("HEX27", "HEX8", _with_middles(_HEX, [*_HEX_EDGES, *faces, everywhere]), _HEX_SIDES, hexa),
        skfem.ElementHex2(),
        [*range(20), 26, 20, 25, 24, 22, 21, 23],
    )
    tetra = [4, 1, 2, 3]
    add("TET4", "TET4", _TET, _TET_SIDES, tetra, skfem.ElementTetP1())
    add("TET10", "TET4", _with_middles(_TET, [*_TET_EDGES]), _TET_SIDES, tetra, skfem.ElementTetP2())
    edges = [tuple(side) for side in _QUAD_SIDES.tolist()]
    add("QUAD4", "QUAD4", _QUAD, _QUAD_SIDES, [1, 2, 3, 4], skfem.ElementQuad1())
    add("QUAD8", "QUAD4", _with_middles(_QUAD, edges), _QUAD_SIDES, [1, 2, 3, 4], skfem.ElementQuadS2())
    add("QUAD9", "QUAD4", _with_middles(_QUAD, [*edges, (0, 1, 2, 3)]), _QUAD_SIDES, [1, 2, 3, 4], skfem.ElementQuad2())
    edges = [tuple(side) for side in _TRI_SIDES.tolist()]
    add("TRI3", "TRI3", _TRI, _TRI_SIDES, [1, 2, 3], skfem.ElementTriP1())
    add("TRI6", "TRI3", _with_middles(_TRI, edges), _TRI_SIDES, [1, 2, 3], skfem.ElementTriP2())
    return result


#: by libMesh's name
ELEMENT_TYPES: dict[str, ElementType] = _types()
