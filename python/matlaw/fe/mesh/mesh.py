"""A mesh of elements of one type, with blocks, side sets and node sets."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from matlaw.fe.mesh.elements import ElementType


@dataclass
class Mesh:
    """Points, elements and their sets.

    :ivar type: type of the elements
    :ivar points: ``(n_nodes, 3)``; z is 0 in two dimensions
    :ivar elements: ``(n_elements, n)``, nodes in libMesh's order
    :ivar block_ids: ``(n_elements,)``
    :ivar block_names: names of blocks that have one, by id
    :ivar sidesets: by name, ``(n, 2)``: element, local side (see :attr:`ElementType.sides`)
    :ivar sideset_ids: the number of each side set
    :ivar nodesets: by name, node numbers (sets of nodes that are not the nodes of a side set)
    """

    type: ElementType
    points: np.ndarray
    elements: np.ndarray
    block_ids: np.ndarray
    block_names: dict[int, str] = field(default_factory=dict)
    sidesets: dict[str, np.ndarray] = field(default_factory=dict)
    sideset_ids: dict[str, int] = field(default_factory=dict)
    nodesets: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def dim(self) -> int:
        """Two or three."""
        return self.type.dim

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.points)

    @property
    def n_elements(self) -> int:
        """Number of elements."""
        return len(self.elements)

    @property
    def n_corners(self) -> int:
        """Corners of an element."""
        return int(self.type.sides.max()) + 1

    def centroids(self) -> np.ndarray:
        """Mean of each element's corners, ``(n_elements, 3)``."""
        return self.points[self.elements[:, : self.n_corners]].mean(axis=1)

    def side_corners(self, name: str) -> np.ndarray:
        """Corners of each side of a side set, ``(n, corners)``."""
        element, side = self.sidesets[name].T
        return np.take_along_axis(self.elements[element], self.type.sides[side], axis=1)

    def side_nodes(self, name: str) -> np.ndarray:
        """All nodes of each side of a side set, corners first, ``(n, nodes)``."""
        element, side = self.sidesets[name].T
        return np.take_along_axis(self.elements[element], self.type.side_nodes[side], axis=1)

    def boundary_names(self) -> list[str]:
        """Names that a boundary condition may use."""
        return [*self.sidesets, *(name for name in self.nodesets if name not in self.sidesets)]

    def boundary_name(self, text: str) -> str | None:
        """The boundary that a name or number stands for, or None."""
        if text in self.sidesets or text in self.nodesets:
            return text
        return next((name for name, number in self.sideset_ids.items() if str(number) == text), None)

    def boundary_nodes(self, name: str) -> np.ndarray:
        """Node numbers of a side set or node set, ascending."""
        parts = [np.empty(0, int)]
        if name in self.sidesets:
            parts.append(self.side_nodes(name).ravel())
        if name in self.nodesets:
            parts.append(self.nodesets[name])
        return np.unique(np.concatenate(parts))

    def block_id(self, text: str) -> int | None:
        """The block that a name or number stands for, or None."""
        for number, name in self.block_names.items():
            if name == text:
                return number
        try:
            number = int(text)
        except ValueError:
            return None
        return number if np.any(self.block_ids == number) else None

    def block_name(self, number: int) -> str:
        """Name of a block, its number where it has none."""
        return self.block_names.get(number) or str(number)

    def blocks(self) -> list[str]:
        """Names (or numbers) of the blocks."""
        return [self.block_name(int(number)) for number in np.unique(self.block_ids)]

    def neighbours(self) -> np.ndarray:
        """The element on the other side of each side, ``(n_elements, n_sides)``; -1 on the surface."""
        n_sides, corners = self.type.sides.shape
        sides = np.sort(self.elements[:, self.type.sides], axis=2).reshape(-1, corners)
        _, inverse = np.unique(sides, axis=0, return_inverse=True)
        order = np.argsort(inverse.ravel(), kind="stable")
        group = inverse.ravel()[order]
        twin = np.flatnonzero(group[1:] == group[:-1])
        result = np.full(len(sides), -1)
        first, second = order[twin], order[twin + 1]
        result[first], result[second] = second // n_sides, first // n_sides
        return result.reshape(-1, n_sides)

    def surface(self) -> np.ndarray:
        """Sides without a neighbour, ``(n, 2)``: element, local side."""
        return np.argwhere(self.neighbours() < 0)

    def sides_with_corners(self, corners: np.ndarray) -> np.ndarray:
        """The sides with given corners, ``(n, corners)`` in any order to ``(n, 2)``: element, local side; -1: none."""
        n_sides, count = self.type.sides.shape
        own = np.sort(self.elements[:, self.type.sides], axis=2).reshape(-1, count)
        number = {tuple(nodes): index for index, nodes in reversed(list(enumerate(own.tolist())))}
        found = np.array([number.get(tuple(nodes), -1) for nodes in np.sort(corners, axis=1).tolist()], int)
        return np.where(found[:, None] < 0, -1, np.column_stack(np.divmod(found, n_sides)))

    def without(self, gone: np.ndarray, new_boundary: str | None = None) -> Mesh:
        """The mesh less some elements (and the nodes that only they had).

        :param gone: ``(n_elements,)`` bool
        :param new_boundary: name of a side set for the sides laid open
        """
        kept = np.flatnonzero(~gone)
        element_number = np.full(self.n_elements, -1)
        element_number[kept] = np.arange(len(kept))
        nodes = np.unique(self.elements[kept])
        node_number = np.full(self.n_nodes, -1)
        node_number[nodes] = np.arange(len(nodes))
        sidesets = {}
        for name, sides in self.sidesets.items():
            sides = sides[~gone[sides[:, 0]]]
            sidesets[name] = np.column_stack([element_number[sides[:, 0]], sides[:, 1]])
        nodesets = {name: node_number[members][node_number[members] >= 0] for name, members in self.nodesets.items()}
        sideset_ids = dict(self.sideset_ids)
        if new_boundary is not None:
            neighbour = self.neighbours()
            open_sides = np.argwhere((neighbour >= 0) & ~gone[:, None] & gone[neighbour])
            open_sides[:, 0] = element_number[open_sides[:, 0]]
            known = sidesets.get(new_boundary, np.empty((0, 2), int))
            sidesets[new_boundary] = np.concatenate([known, open_sides])
            sideset_ids.setdefault(new_boundary, max(sideset_ids.values(), default=-1) + 1)
        present = set(np.unique(self.block_ids[kept]).tolist())
        return Mesh(
            self.type,
            self.points[nodes],
            node_number[self.elements[kept]],
            self.block_ids[kept],
            {number: name for number, name in self.block_names.items() if number in present},
            sidesets,
            sideset_ids,
            nodesets,
        )
