"""Meshes from Exodus and Gmsh files."""

from __future__ import annotations

from pathlib import Path

import meshio
import netCDF4
import numpy as np

from matlaw.errors import FatalError
from matlaw.fe.mesh.elements import ELEMENT_TYPES, ElementType
from matlaw.fe.mesh.mesh import Mesh


class MeshFileError(FatalError):
    """A mesh file cannot be read, or holds what matlaw-fe does not have."""


def read_mesh(path: Path) -> Mesh:
    """Read a mesh with its blocks, side sets and node sets.

    :raises MeshFileError: the file cannot be read, or its elements are of several types or of one not available
    """
    if not path.is_file():
        raise MeshFileError(f"there is no file {path}")
    suffix = path.suffix.lower()
    if suffix in (".e", ".exo", ".ex2", ".exd", ".g"):
        return _read_exodus(path)
    if suffix == ".msh":
        return _read_gmsh(path)
    raise MeshFileError(f"{path}: files of type '{suffix}' are not read; available: .e, .exo, .msh (MOOSE reads more)")


#: number of nodes -> type, by the letters that an Exodus file names it with
_EXODUS_TYPES = {
    ("HEX", 8): "HEX8",
    ("HEX", 20): "HEX20",
    ("HEX", 27): "HEX27",
    ("TET", 4): "TET4",
    ("TET", 10): "TET10",
    ("QUA", 4): "QUAD4",
    ("QUA", 8): "QUAD8",
    ("QUA", 9): "QUAD9",
    ("SHE", 4): "QUAD4",
    ("SHE", 8): "QUAD8",
    ("SHE", 9): "QUAD9",
    ("TRI", 3): "TRI3",
    ("TRI", 6): "TRI6",
}


def _names(dataset: netCDF4.Dataset, variable: str, count: int) -> list[str]:
    if variable not in dataset.variables:
        return [""] * count
    rows = np.ma.filled(dataset[variable][:], b"\0")
    return [b"".join(row.tolist()).split(b"\0")[0].decode().strip() for row in rows]


def _numbers(dataset: netCDF4.Dataset, variable: str, count: int) -> list[int]:
    if variable not in dataset.variables:
        return list(range(1, count + 1))
    return [int(number) for number in dataset[variable][:]]


def _count(dataset: netCDF4.Dataset, dimension: str) -> int:
    return len(dataset.dimensions[dimension]) if dimension in dataset.dimensions else 0


def _read_exodus(path: Path) -> Mesh:
    try:
        dataset = netCDF4.Dataset(str(path))
    except OSError as error:
        raise MeshFileError(f"{path}: is no Exodus file: {error}") from error
    with dataset:
        n_blocks = _count(dataset, "num_el_blk")
        if not n_blocks or not _count(dataset, "num_nodes"):
            raise MeshFileError(f"{path}: holds no mesh")
        points = np.zeros((_count(dataset, "num_nodes"), 3))
        for axis, name in enumerate("xyz"[: _count(dataset, "num_dim")]):
            if f"coord{name}" in dataset.variables:
                points[:, axis] = dataset[f"coord{name}"][:]
            else:
                points[:, axis] = dataset["coord"][axis]
        numbers, names = _numbers(dataset, "eb_prop1", n_blocks), _names(dataset, "eb_names", n_blocks)
        kind: ElementType | None = None
        elements, ids = [], []
        for index, number in enumerate(numbers, start=1):
            connect = dataset[f"connect{index}"]
            letters, nodes = str(connect.elem_type).upper()[:3], connect.shape[1]
            found = _EXODUS_TYPES.get((letters, nodes))
            if found is None:
                raise MeshFileError(
                    f"{path}: block {number} has elements '{connect.elem_type}' of {nodes} nodes: {_OFFER}"
                )
            if kind is not None and found != kind.name:
                raise MeshFileError(
                    f"{path}: has {kind.name} and {found}; elements of one type are needed (MOOSE mixes)"
                )
            kind = ELEMENT_TYPES[found]
            own = np.empty(connect.shape, int)
            own[:, kind.exodus_nodes] = np.asarray(connect[:]) - 1
            elements.append(own)
            ids.append(np.full(len(own), number))
        assert kind is not None
        mesh = Mesh(
            kind,
            points,
            np.concatenate(elements),
            np.concatenate(ids),
            {number: name for number, name in zip(numbers, names, strict=True) if name},
        )
        _exodus_sides(dataset, mesh)
        _exodus_nodes(dataset, mesh)
        return mesh


def _exodus_sides(dataset: netCDF4.Dataset, mesh: Mesh) -> None:
    count = _count(dataset, "num_side_sets")
    side_of = np.zeros(int(mesh.type.exodus_sides.max()) + 3, int)
    side_of[mesh.type.exodus_sides] = np.arange(len(mesh.type.exodus_sides))
    names, numbers = _names(dataset, "ss_names", count), _numbers(dataset, "ss_prop1", count)
    for index, (name, number) in enumerate(zip(names, numbers, strict=True), start=1):
        label = name or str(number)
        sides = np.empty((0, 2), int)
        if f"elem_ss{index}" in dataset.variables:
            element, side = dataset[f"elem_ss{index}"][:] - 1, dataset[f"side_ss{index}"][:]
            sides = np.column_stack([np.asarray(element), side_of[np.asarray(side)]])
        mesh.sidesets[label], mesh.sideset_ids[label] = sides, number


def _exodus_nodes(dataset: netCDF4.Dataset, mesh: Mesh) -> None:
    count = _count(dataset, "num_node_sets")
    names, numbers = _names(dataset, "ns_names", count), _numbers(dataset, "ns_prop1", count)
    for index, (name, number) in enumerate(zip(names, numbers, strict=True), start=1):
        label = name or str(number)
        if label not in mesh.sidesets and f"node_ns{index}" in dataset.variables:
            mesh.nodesets[label] = np.unique(np.asarray(dataset[f"node_ns{index}"][:]) - 1)


#: meshio's name -> our type, and the permutation from its nodes (those of VTK) to ours
_GMSH_TYPES: dict[str, tuple[str, list[int] | None]] = {
    "hexahedron": ("HEX8", None),
    "hexahedron20": ("HEX20", [*range(12), *range(16, 20), *range(12, 16)]),
    "hexahedron27": ("HEX27", [*range(12), *range(16, 20), *range(12, 16), 24, 22, 21, 23, 20, 25, 26]),
    "tetra": ("TET4", None),
    "tetra10": ("TET10", None),
    "quad": ("QUAD4", None),
    "quad8": ("QUAD8", None),
    "quad9": ("QUAD9", None),
    "triangle": ("TRI3", None),
    "triangle6": ("TRI6", None),
}
_SIDE_CELLS = {3: ("triangle", "triangle6", "quad", "quad8", "quad9"), 2: ("line", "line3")}
_OFFER = f"available: {', '.join(ELEMENT_TYPES)}"


def _read_gmsh(path: Path) -> Mesh:
    try:
        source = meshio.gmsh.read(path)  # meshio.read would end the process
    except Exception as error:  # meshio raises whatever its parsers stumble over
        raise MeshFileError(f"{path}: is no Gmsh file that can be read: {error}") from error
    present = {cells.type for cells in source.cells}
    solid = {name for name in present if name in _GMSH_TYPES and ELEMENT_TYPES[_GMSH_TYPES[name][0]].dim == 3}
    flat = {name for name in present if name in _GMSH_TYPES} - solid
    volume = solid or flat
    if len(volume) != 1:
        found = ", ".join(sorted(volume or present)) or "none"
        raise MeshFileError(f"{path}: has elements {found}; elements of one type are needed; {_OFFER}")
    name, order = _GMSH_TYPES[next(iter(volume))]
    kind = ELEMENT_TYPES[name]
    tags = source.cell_data.get("gmsh:physical", [np.zeros(len(cells.data), int) for cells in source.cells])
    labels = {(int(dim), int(tag)): label for label, (tag, dim) in source.field_data.items()}
    elements, ids = [], []
    for cells, tag in zip(source.cells, tags, strict=True):
        if cells.type in volume:
            own = cells.data if order is None else cells.data[:, order]
            elements.append(own)
            ids.append(np.asarray(tag, int))
    used, inverse = np.unique(np.concatenate(elements), return_inverse=True)
    points = np.zeros((len(used), 3))
    points[:, : source.points.shape[1]] = source.points[used]
    block_ids = np.concatenate(ids)
    block_names = {tag: labels[kind.dim, tag] for tag in map(int, np.unique(block_ids)) if (kind.dim, tag) in labels}
    mesh = Mesh(kind, points, inverse.reshape(-1, kind.n_nodes), block_ids, block_names)
    renumber = np.full(len(source.points), -1)
    renumber[used] = np.arange(len(used))
    _gmsh_sides(path, source, tags, labels, mesh, renumber)
    return _right_handed(mesh)


def _gmsh_sides(
    path: Path,
    source: meshio.Mesh,
    tags: list[np.ndarray],
    labels: dict[tuple[int, int], str],
    mesh: Mesh,
    renumber: np.ndarray,
) -> None:
    corners = mesh.type.sides.shape[1]
    for cells, tag in zip(source.cells, tags, strict=True):
        for number in np.unique(tag):
            members = renumber[cells.data[np.asarray(tag) == number]]
            if cells.type == "vertex":
                label = labels.get((0, int(number)), str(int(number)))
                mesh.nodesets[label] = np.unique(members)
            elif cells.type in _SIDE_CELLS[mesh.dim] and number:
                label = labels.get((mesh.dim - 1, int(number)), str(int(number)))
                sides = mesh.sides_with_corners(members[:, :corners])
                if np.any(sides < 0):
                    raise MeshFileError(f"{path}: '{label}' has sides that belong to no element")
                known = mesh.sidesets.get(label, np.empty((0, 2), int))
                mesh.sidesets[label] = np.concatenate([known, sides])
                mesh.sideset_ids[label] = int(number)


def _right_handed(mesh: Mesh) -> Mesh:
    """Gmsh may turn a surface over; such triangles and squares are turned back."""
    if mesh.dim == 3:
        return mesh
    a, b, c = (mesh.points[mesh.elements[:, k], :2] for k in range(3))
    turned = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0] < 0.0
    if not np.any(turned):
        return mesh
    order = {
        "TRI3": [0, 2, 1],
        "TRI6": [0, 2, 1, 5, 4, 3],
        "QUAD4": [0, 3, 2, 1],
        "QUAD8": [0, 3, 2, 1, 7, 6, 5, 4],
        "QUAD9": [0, 3, 2, 1, 7, 6, 5, 4, 8],
    }[mesh.type.name]
    corners = {name: mesh.side_corners(name) for name in mesh.sidesets}
    mesh.elements[turned] = mesh.elements[turned][:, order]
    for name, members in corners.items():
        mesh.sidesets[name] = mesh.sides_with_corners(members)
    return mesh
