"""Meshes from Exodus and Gmsh files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import meshio
import numpy as np
import pytest
import stand_in
from write_input import dirichlet, generated, solid

from matlaw.errors import InputFileError
from matlaw.fe import RunResult, run
from matlaw.fe.mesh.elements import ELEMENT_TYPES
from matlaw.fe.mesh.files import MeshFileError, read_mesh

GMSH = {
    **{"HEX8": "hexahedron", "HEX20": "hexahedron20", "HEX27": "hexahedron27", "TET4": "tetra", "TET10": "tetra10"},
    **{"QUAD4": "quad", "QUAD8": "quad8", "QUAD9": "quad9", "TRI3": "triangle", "TRI6": "triangle6"},
}
SIDES = {"hexahedron": "quad", "tetra": "triangle", "quad": "line", "triangle": "line"}


@pytest.fixture
def pull(stand_in_law: Callable[[object], None], tmp_path: Path) -> Callable[..., RunResult]:
    """Pulls a body at its boundary `right`."""

    def go(dim: int, mesh: dict[str, object], name: str = "case", block: str = "", **outputs: str) -> RunResult:
        stand_in_law(stand_in.ElasticLaw())
        (tmp_path / "law.i").write_text("")
        path = tmp_path / f"{name}.i"
        path.write_text(
            solid(
                dim,
                mesh,
                BCs={
                    **{f"held_{axis}": dirichlet(f"disp_{axis}", "left", 0.0) for axis in "xyz"[:dim]},
                    "x": dirichlet("disp_x", "right", 1e-3),
                    "pressure": {"type": "Pressure", "variable": "disp_y", "boundary": "top", "factor": 50},
                },
                Outputs={"exodus": "true"},
                Executioner={"type": "Transient", "num_steps": 1},
            )
        )
        return run(path, [f"Matlaw/law/block:={block}"] if block else [], tmp_path, quiet=True)

    return go


@pytest.mark.parametrize("kind", list(ELEMENT_TYPES))
def test_exodus_there_and_back(pull: Callable[..., RunResult], tmp_path: Path, kind: str) -> None:
    """A mesh written to an Exodus file and read again is the same mesh, and gives the same solution."""
    dim = ELEMENT_TYPES[kind].dim
    first = pull(dim, generated(dim, kind, 2, bias_x=1.3), "first")
    mesh, again = first.problem.mesh, read_mesh(tmp_path / "first_out.e")
    assert again.type is mesh.type
    assert np.array_equal(again.points, mesh.points) and np.array_equal(again.elements, mesh.elements)
    assert set(again.sidesets) == set(mesh.sidesets) and again.sideset_ids == mesh.sideset_ids
    for name, sides in mesh.sidesets.items():
        assert np.array_equal(again.sidesets[name], sides), name
    second = pull(dim, {"file": {"type": "FileMeshGenerator", "file": "first_out.e"}}, "second")
    np.testing.assert_allclose(second.problem.u, first.problem.u, atol=1e-15)


@pytest.mark.parametrize("kind", list(ELEMENT_TYPES))
def test_gmsh(pull: Callable[..., RunResult], tmp_path: Path, kind: str) -> None:
    """A mesh in Gmsh's format, with physical groups as block and sides, gives what the generated one gives."""
    element = ELEMENT_TYPES[kind]
    dim = element.dim
    first = pull(dim, generated(dim, kind, 2), "first")
    mesh = first.problem.mesh
    name = GMSH[kind]
    # meshio's own order of nodes is VTK's
    order = list(range(element.n_nodes))
    if kind in ("HEX20", "HEX27"):
        order = [*range(12), *range(16, 20), *range(12, 16)]
    if kind == "HEX27":
        order += [24, 22, 21, 23, 20, 25, 26]
    cells: list[tuple[str, np.ndarray]] = []
    volume = np.empty_like(mesh.elements)
    volume[:, order] = mesh.elements
    tags = []
    groups: dict[str, np.ndarray] = {}
    side_type = SIDES[GMSH[element.corner]]
    for number, side in enumerate(mesh.sidesets, start=1):
        cells.append((side_type, mesh.side_corners(side)))
        tags.append(np.full(len(mesh.sidesets[side]), number))
        groups[side] = np.array([number, dim - 1])
    cells.append((name, volume))
    tags.append(np.full(len(volume), 9))
    groups["body"] = np.array([9, dim])
    data = {"gmsh:physical": tags, "gmsh:geometrical": tags}
    path = tmp_path / "body.msh"
    meshio.write(path, meshio.Mesh(mesh.points, cells, cell_data=data, field_data=groups), "gmsh22", binary=False)
    second = pull(dim, {"file": {"type": "FileMeshGenerator", "file": "body.msh"}}, "second", block="body")
    again = second.problem.mesh
    assert again.type is mesh.type and again.blocks() == ["body"]
    assert {side: len(sides) for side, sides in again.sidesets.items()} == {
        side: len(sides) for side, sides in mesh.sidesets.items()
    }
    where = {tuple(np.round(point, 12)): index for index, point in enumerate(mesh.points.tolist())}
    same = [where[tuple(np.round(point, 12))] for point in again.points.tolist()]
    np.testing.assert_allclose(second.problem.displacement(), first.problem.displacement()[same], atol=1e-14)


def test_surfaces_that_are_turned_over_are_turned_back(tmp_path: Path) -> None:
    points = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.0]])
    cells = [("line", np.array([[1, 2]])), ("triangle", np.array([[0, 2, 1], [0, 2, 3]]))]
    tags = [np.array([4]), np.array([1, 1])]
    path = tmp_path / "flat.msh"
    data = {"gmsh:physical": tags, "gmsh:geometrical": tags}
    meshio.write(path, meshio.Mesh(points, cells, cell_data=data), "gmsh22", binary=False)
    mesh = read_mesh(path)
    a, b, c = (mesh.points[mesh.elements[:, k], :2] for k in range(3))
    assert np.all((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0] > 0)
    assert sorted(mesh.side_corners("4").ravel().tolist()) == [1, 2]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.e", None, "there is no file"),
        ("mesh.vtk", "x", r"files of type '\.vtk' are not read; available: \.e, \.exo, \.msh"),
        ("bad.e", "x", "is no Exodus file"),
        ("bad.msh", "x", "is no Gmsh file that can be read"),
    ],
)
def test_files_that_are_no_mesh(tmp_path: Path, name: str, content: str | None, message: str) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(MeshFileError, match=message):
        read_mesh(tmp_path / name)


def test_elements_of_two_types_are_refused(pull: Callable[..., RunResult], tmp_path: Path) -> None:
    points = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0, 0.0]])
    cells = [("quad", np.array([[0, 1, 2, 3]])), ("triangle", np.array([[1, 4, 2]]))]
    meshio.write(tmp_path / "mixed.msh", meshio.Mesh(points, cells), "gmsh22", binary=False)
    with pytest.raises(InputFileError, match=r"case\.i:\d+: .*has elements quad, triangle; elements of one type"):
        pull(2, {"file": {"type": "FileMeshGenerator", "file": "mixed.msh"}})
