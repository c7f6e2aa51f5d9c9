"""Expressions, tables, meshes, time steppers and invariants by themselves."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import stand_in
from write_input import dirichlet, generated, solid

from matlaw.fe import run
from matlaw.fe.assembly import SparsePattern, Unknowns, Variable, VolumePoints
from matlaw.fe.auxiliary.invariants import SCALARS, matrix
from matlaw.fe.executioner.time_steppers import ConstantDT, IterationAdaptiveDT, SmallestStepFailedError
from matlaw.fe.functions.expression import ExpressionError, compile_expression
from matlaw.fe.functions.functions import PiecewiseLinear
from matlaw.fe.input.parameters import Values
from matlaw.fe.input.tree import Block, Field
from matlaw.fe.mesh import Mesh, build_mesh
from matlaw.fe.mesh.box import box
from matlaw.fe.mesh.elements import ELEMENT_TYPES
from matlaw.fe.mesh.locate import locate
from matlaw.fe.physics.mechanics import Mechanics
from matlaw.fe.solve.multigrid import near_null_space


def block(**fields: str) -> Block:
    return Block("b", "b", "f.i:1", {name: Field(name, value, "f.i:2") for name, value in fields.items()})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-2^2", -4.0),
        ("2^3^2", 512.0),
        ("2^-1", 0.5),
        ("7 % 4 * 2", 6.0),
        ("1 - 2 - 3", -4.0),
        ("if(x > 1 & !(y = 3), min(x, y), max(x, -1e1))", 2.0),
        ("a := x*2; b := a + y; b/2", 4.0 + 0.0),
        ("sin(pi/2) + log10(100) + e^0 + atan2(0, 1)", 4.0),
        ("1.5e-1 + .5 + 2.", 2.65),
    ],
)
def test_expressions(text: str, expected: float) -> None:
    y = 4.0
    assert float(compile_expression(text)(x=2.0, y=y, z=0.0, t=0.0)) == pytest.approx(expected)


def test_expressions_take_arrays() -> None:
    x = np.array([-1.0, 0.0, 2.0])
    value = compile_expression("if(x < 0, 0, x^2)*t")(x=x, y=0.0, z=0.0, t=3.0)
    assert value.tolist() == [0.0, 0.0, 12.0]


@pytest.mark.parametrize("text", ["", "1 +", "foo(1)", "min(1)", "x y", "(1", "__import__('os')", "x.real", "$"])
def test_wrong_expressions(text: str) -> None:
    with pytest.raises(ExpressionError):
        compile_expression(text)


def test_piecewise_linear() -> None:
    table = PiecewiseLinear(Values(block(x="0 1 3", y="0 2 4", scale_factor="10"), PiecewiseLinear.parameters))
    points = np.zeros((1, 3))
    assert [float(table.value(t, points)[0]) for t in (-1.0, 0.5, 2.0, 9.0)] == [0.0, 10.0, 30.0, 40.0]


def stepper(cls: type, **fields: str) -> IterationAdaptiveDT | ConstantDT:
    return cls(Values(block(**fields), cls.parameters))  # type: ignore[no-any-return]


def test_iteration_adaptive_rules() -> None:
    adaptive = stepper(IterationAdaptiveDT, dt="1", optimal_iterations="6", growth_factor="3", cutback_factor="0.25")
    adaptive.accepted(3, 3)  # window 2: fewer than 4 grows, more than 8 shrinks
    assert adaptive.next(0.0) == 3.0
    adaptive.accepted(4, 4)
    assert adaptive.next(0.0) == 1.0
    adaptive.accepted(9, 9)
    assert adaptive.next(0.0) == 0.25
    adaptive.dt = 2.0
    assert adaptive.failed(1e-3) == 1.0
    adaptive.dt = 1.0
    adaptive.accepted(1, 1)
    assert adaptive.next(0.0) == 1.0, "the step after a cut does not grow"
    assert adaptive.next(0.0) == 3.0
    adaptive.dt = 1.5e-3
    assert adaptive.failed(1e-3) == 1e-3
    adaptive.dt = 1e-3
    with pytest.raises(SmallestStepFailedError):
        adaptive.failed(1e-3)


def test_constant_dt_grows_back() -> None:
    constant = stepper(ConstantDT, dt="1")
    constant.dt = 0.25
    assert constant.next(0.0) == 0.5
    constant.dt = 0.75
    assert constant.next(0.0) == 1.0


def generated_mesh(**fields: str) -> Mesh:
    return build_mesh(block(type="GeneratedMesh", dim="3", **fields))


def test_generated_mesh() -> None:
    mesh = generated_mesh(nx="3", ny="2", nz="2", xmin="-1", xmax="2", bias_y="0.5")
    assert (mesh.n_elements, mesh.n_nodes) == (12, 36)
    assert np.unique(mesh.points[:, 1]) == pytest.approx([0, 2 / 3, 1])
    planes = {"left": (0, -1), "right": (0, 2), "bottom": (1, 0), "top": (1, 1), "back": (2, 0), "front": (2, 1)}
    for name, (axis, value) in planes.items():
        assert np.all(mesh.points[mesh.boundary_nodes(name)][:, axis] == value), name
    assert mesh.boundary_name("2") == "right"
    assert sum(len(sides) for sides in mesh.sidesets.values()) == len(mesh.surface()) == 32


def test_deleted_blocks_leave_a_boundary(tmp_path: Path) -> None:
    mesh = generated_mesh(nx="3", ny="3", nz="1")
    gone = np.zeros(9, bool)
    gone[4] = True
    ring = mesh.without(gone, "hole")
    assert (ring.n_elements, ring.n_nodes) == (8, 32)
    nodes = ring.points[ring.boundary_nodes("hole")]
    assert len(ring.sidesets["hole"]) == 4
    assert np.all((nodes[:, :2] > 0.3) & (nodes[:, :2] < 0.7))
    normals = np.cross(*(np.diff(ring.points[ring.side_nodes("hole")], axis=1)[:, :2].swapaxes(0, 1)))
    inward = np.array([0.5, 0.5, 0.5]) - ring.points[ring.side_nodes("hole")].mean(axis=1)
    assert np.all(np.einsum("ij,ij->i", normals, inward) > 0), "sides look into the hole"


def test_invariants_against_plain_numpy() -> None:
    rng = np.random.default_rng(1)
    full = rng.normal(size=(5, 3, 3))
    full = full + full.transpose(0, 2, 1)
    mandel = np.stack(
        [full[:, 0, 0], full[:, 1, 1], full[:, 2, 2]]
        + [math.sqrt(2) * full[:, i, j] for i, j in ((1, 2), (0, 2), (0, 1))],
        axis=1,
    )
    assert np.allclose(matrix(mandel), full)
    eigen = np.linalg.eigvalsh(full)
    a, b, c = eigen.T
    assert np.allclose(SCALARS["VonMisesStress"](mandel), np.sqrt(0.5 * ((a - b) ** 2 + (b - c) ** 2 + (c - a) ** 2)))
    assert np.allclose(SCALARS["SecondInvariant"](mandel), a * b + b * c + c * a)
    assert np.allclose(SCALARS["ThirdInvariant"](mandel), a * b * c)
    assert np.allclose(SCALARS["MaxPrincipal"](mandel), c)


def test_multigrid_converges_alike_on_finer_meshes(
    stand_in_law: Callable[[object], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The linear iterations hardly grow with the mesh, also where temperature and displacements are coupled."""
    monkeypatch.setattr("matlaw.fe.solve.linear.DIRECT_LIMIT", {2: 10, 3: 10})
    stand_in_law(stand_in.ElasticLaw())
    (tmp_path / "law.i").write_text("")
    counts = []
    for n in (6, 12):
        path = tmp_path / "case.i"
        held = {f"held_{axis}": dirichlet(f"disp_{axis}", "left", 0.0) for axis in "xyz"}
        load = {"type": "NeumannBC", "variable": "disp_y", "boundary": "right", "value": 1.0}
        path.write_text(solid(3, generated(3, "HEX8", n), BCs={**held, "load": load}))
        overrides = ["Executioner/nl_rel_tol:=1e-4", "Executioner/l_tol:=1e-8"]
        result = run(path, overrides, tmp_path, quiet=True)
        counts.append(result.records[0].linear_iterations / result.records[0].newton_iterations)
    assert counts[1] <= 25 and counts[1] < 1.8 * counts[0]


def test_rigid_motions_cost_nothing() -> None:
    """The smooth modes that multigrid gets are those on which an unconstrained stiffness is zero."""
    mesh = generated_box("HEX8")
    points = VolumePoints(mesh)
    unknowns = Unknowns(mesh, [Variable(f"disp_{axis}", 1, np.arange(mesh.n_elements)) for axis in "xyz"])
    mechanics = Mechanics(points, unknowns, unknowns.names, False, False)
    tangent = np.broadcast_to(stand_in.elastic_stiffness(100.0, 0.3), (*points.weights.shape, 6, 6))
    elements = mechanics.stiffness(np.array(tangent))
    dofs = np.arange(unknowns.n_dofs)
    matrix = SparsePattern(unknowns.element_dofs, dofs, len(dofs)).matrix(elements)
    modes = near_null_space(mesh.points[dofs // 3], dofs % 3, (0, 1, 2))
    assert modes.shape == (len(dofs), 6) and np.linalg.matrix_rank(modes) == 6
    assert np.abs(matrix @ modes).max() < 1e-11 * np.abs(matrix).max()


@pytest.mark.parametrize("kind", ["HEX20", "TET10", "QUAD8", "TRI3"])
def test_a_point_is_found_in_its_element(kind: str) -> None:
    mesh = generated_box(kind)
    field = mesh.points @ np.array([2.0, -1.0, 0.5])
    for point in np.random.default_rng(3).random((10, 3)):
        if mesh.dim == 2:
            point[2] = 0.0
        found = locate(mesh, point)
        assert found is not None
        element, place = found
        shape, _ = mesh.type.shape(place[None])
        assert shape[0] @ field[mesh.elements[element]] == pytest.approx(point @ [2.0, -1.0, 0.5])
    assert locate(mesh, np.array([1.5, 0.5, 0.0])) is None


def generated_box(kind: str) -> Mesh:
    lines = [np.array([0.0, 0.3, 1.0])] * ELEMENT_TYPES[kind].dim
    return box(lines, ELEMENT_TYPES[kind])
