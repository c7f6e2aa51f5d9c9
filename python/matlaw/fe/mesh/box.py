"""Rectangles and boxes of elements of any type."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from matlaw.fe.mesh.elements import ELEMENT_TYPES, ElementType
from matlaw.fe.mesh.mesh import Mesh
from matlaw.fe.mesh.order import raise_order

_NAMES = {2: ["bottom", "right", "top", "left"], 3: ["back", "bottom", "right", "top", "left", "front"]}


def box(lines: Sequence[np.ndarray], kind: ElementType) -> Mesh:
    """A box with side sets left, right, bottom, top (back, front), numbered as in libMesh.

    A hexahedron of the grid is split into 24 tetrahedra, a square into two triangles.

    :param lines: coordinates of the grid's planes, one array per direction
    """
    mesh = _rectangle(lines) if len(lines) == 2 else _hexahedra(lines)
    if kind.is_simplex:
        mesh = _triangles(mesh) if len(lines) == 2 else _tetrahedra(mesh)
    return raise_order(mesh, kind)


def _rectangle(lines: Sequence[np.ndarray]) -> Mesh:
    x, y = lines
    nx, ny = len(x) - 1, len(y) - 1
    gy, gx = np.meshgrid(y, x, indexing="ij")
    points = np.column_stack([gx.ravel(), gy.ravel(), np.zeros(gx.size)])
    j, i = (index.ravel() for index in np.meshgrid(np.arange(ny), np.arange(nx), indexing="ij"))
    corner = i + (nx + 1) * j
    offsets = np.array([0, 1, nx + 2, nx + 1])
    return _with_sides(
        ELEMENT_TYPES["QUAD4"], points, corner[:, None] + offsets, [j == 0, i == nx - 1, j == ny - 1, i == 0]
    )


def _hexahedra(lines: Sequence[np.ndarray]) -> Mesh:
    x, y, z = lines
    nx, ny, nz = len(x) - 1, len(y) - 1, len(z) - 1
    gz, gy, gx = np.meshgrid(z, y, x, indexing="ij")
    points = np.column_stack([gx.ravel(), gy.ravel(), gz.ravel()])
    k, j, i = (index.ravel() for index in np.meshgrid(np.arange(nz), np.arange(ny), np.arange(nx), indexing="ij"))
    corner = i + (nx + 1) * (j + (ny + 1) * k)
    dx, dy, dz = 1, nx + 1, (nx + 1) * (ny + 1)
    offsets = np.array([0, dx, dx + dy, dy, dz, dx + dz, dx + dy + dz, dy + dz])
    on = [k == 0, j == 0, i == nx - 1, j == ny - 1, i == 0, k == nz - 1]
    return _with_sides(ELEMENT_TYPES["HEX8"], points, corner[:, None] + offsets, on)


def _with_sides(kind: ElementType, points: np.ndarray, elements: np.ndarray, on: list[np.ndarray]) -> Mesh:
    names = _NAMES[kind.dim]
    sidesets = {
        name: np.column_stack([np.flatnonzero(mask), np.full(np.count_nonzero(mask), side)])
        for side, (name, mask) in enumerate(zip(names, on, strict=True))
    }
    ids = {name: number for number, name in enumerate(names)}
    return Mesh(kind, points, elements, np.zeros(len(elements), int), {}, sidesets, ids)


def _triangles(mesh: Mesh) -> Mesh:
    kind = ELEMENT_TYPES["TRI3"]
    elements = mesh.elements[:, [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3)
    # sides of the square: of which triangle, and which of its sides
    part = np.array([[0, 0], [0, 1], [1, 1], [1, 2]])
    return _split(mesh, kind, mesh.points, elements, 2, part)


def _tetrahedra(mesh: Mesh) -> Mesh:
    """Each face of a hexahedron and its centre make four triangles; these and the hexahedron's centre 24 tetrahedra."""
    kind = ELEMENT_TYPES["TET4"]
    faces = mesh.elements[:, mesh.type.sides]
    unique, inverse = np.unique(np.sort(faces, axis=2).reshape(-1, 4), axis=0, return_inverse=True)
    face_node = mesh.n_nodes + inverse.reshape(-1, 6)
    centre = mesh.n_nodes + len(unique) + np.arange(mesh.n_elements)
    points = np.concatenate([mesh.points, mesh.points[unique].mean(axis=1), mesh.points[mesh.elements].mean(axis=1)])
    # the face looks outward by the right hand, so its triangle turned over looks to the centre
    elements = np.stack(
        [
            np.stack([faces[:, :, (k + 1) % 4], faces[:, :, k], face_node, np.tile(centre[:, None], 6)], axis=2)
            for k in range(4)
        ],
        axis=2,
    ).reshape(-1, 4)
    sidesets = {}
    for name, sides in mesh.sidesets.items():
        first = 24 * sides[:, 0] + 4 * sides[:, 1]
        # side 0 of a tetrahedron has its first three nodes
        sidesets[name] = np.column_stack([(first[:, None] + np.arange(4)).ravel(), np.zeros(4 * len(sides), int)])
    return Mesh(kind, points, elements, np.repeat(mesh.block_ids, 24), {}, sidesets, mesh.sideset_ids)


def _split(
    mesh: Mesh, kind: ElementType, points: np.ndarray, elements: np.ndarray, parts: int, part: np.ndarray
) -> Mesh:
    sidesets = {}
    for name, sides in mesh.sidesets.items():
        of, side = part[sides[:, 1]].T
        sidesets[name] = np.column_stack([parts * sides[:, 0] + of, side])
    return Mesh(kind, points, elements, np.repeat(mesh.block_ids, parts), {}, sidesets, mesh.sideset_ids)
