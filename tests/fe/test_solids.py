"""Solid mechanics against closed forms: every element type, plane strain, axisymmetry, finite strain, pressures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import stand_in
from write_input import dirichlet, generated, solid

from matlaw.fe import RunResult, run
from matlaw.fe.assembly.quadrature import quadrature
from matlaw.fe.mesh.elements import ELEMENT_TYPES

FLAT = ("QUAD4", "QUAD8", "QUAD9", "TRI3", "TRI6")
SOLID = ("HEX8", "HEX20", "HEX27", "TET4", "TET10")
YOUNG, POISSON = 200000.0, 0.3

Go = Callable[..., RunResult]


@pytest.fixture
def go(stand_in_law: Callable[[object], None], tmp_path: Path) -> Go:
    """Runs an input with a law written in NumPy."""

    def attempt(text: str, law: object | None = None, *overrides: str) -> RunResult:
        stand_in_law(law or stand_in.ElasticLaw(YOUNG, POISSON))
        (tmp_path / "law.i").write_text("")
        path = tmp_path / "case.i"
        path.write_text(text)
        return run(path, overrides, tmp_path, quiet=True)

    return attempt


@pytest.mark.parametrize("kind", FLAT + SOLID)
def test_shape_functions(kind: str) -> None:
    element = ELEMENT_TYPES[kind]
    values, gradients = element.shape(element.nodes)
    np.testing.assert_allclose(values, np.eye(element.n_nodes), atol=1e-14)
    np.testing.assert_allclose(gradients.sum(axis=1), 0.0, atol=1e-13)
    # a side has as many nodes as its own plane holds, and they are all there
    count = {"HEX20": 8, "HEX27": 9, "TET10": 6, "QUAD8": 3, "QUAD9": 3, "TRI6": 3}
    assert element.side_nodes.shape[1] == count.get(kind, element.sides.shape[1])


@pytest.mark.parametrize(("shape", "dim"), [("triangle", 2), ("tetrahedron", 3), ("square", 2), ("cube", 3)])
@pytest.mark.parametrize("order", [1, 2])
def test_quadrature_is_exact(shape: str, dim: int, order: int) -> None:
    points, weights = quadrature(shape, order)
    degree = 2 * order + 1
    for powers in np.ndindex(*(dim * [degree + 1])):
        if sum(powers) > degree:
            continue
        factorial = np.vectorize(lambda n: float(np.prod(np.arange(1, n + 1))))
        if shape in ("square", "cube"):
            exact = float(np.prod(1.0 / (np.array(powers) + 1.0)))
        else:
            exact = float(np.prod(factorial(np.array(powers))) / factorial(np.array([sum(powers) + dim]))[0])
        assert (weights * np.prod(points ** np.array(powers), axis=1)).sum() == pytest.approx(exact, abs=1e-15)


@pytest.mark.parametrize("kind", FLAT + SOLID)
def test_patch(go: Go, kind: str) -> None:
    """A linear displacement on the surface of distorted elements gives the same strain everywhere."""
    dim = ELEMENT_TYPES[kind].dim
    slope = 1e-3 * np.array([[1.0, 3.0, 2.0], [1.0, -1.0, -2.0], [1.0, 1.0, 0.5]])[:dim, :dim]
    boundary = "left right bottom top" + (" back front" if dim == 3 else "")
    conditions = {
        axis: dirichlet(f"disp_{axis}", boundary, "+".join(f"{float(s)}*{x}" for s, x in zip(row, "xyz", strict=False)))
        for axis, row in zip("xyz", slope, strict=False)
    }
    patch = {"patch": {"type": "PatchMeshGenerator", "dim": dim, "elem_type": kind}}
    mesh = patch if kind in ("HEX8", "HEX20", "QUAD4", "QUAD8") else generated(dim, kind, bias_x=1.4, bias_y=0.7)
    problem = go(solid(dim, mesh, BCs=conditions)).problem
    strain = np.zeros((3, 3))
    strain[:dim, :dim] = 0.5 * (slope + slope.T)
    stress = strain @ np.eye(3) * YOUNG / (1 + POISSON)
    stress += np.eye(3) * np.trace(strain) * YOUNG * POISSON / ((1 + POISSON) * (1 - 2 * POISSON))
    ours = problem.tensor("stress")
    first, second = [0, 1, 2, 1, 0, 0], [0, 1, 2, 2, 2, 1]
    expected = stress[first, second] * np.where(np.arange(6) < 3, 1.0, np.sqrt(2.0))
    np.testing.assert_allclose(ours, np.broadcast_to(expected, ours.shape), atol=1e-9 * np.abs(expected).max())
    exact = problem.mesh.points[:, :dim] @ slope.T
    np.testing.assert_allclose(problem.displacement()[:, :dim], exact, atol=1e-14)


def manufactured(dim: int) -> tuple[str, str]:
    """A displacement in x, and the body force that goes with it, for a Poisson's ratio of 0 and a modulus of 1."""
    waves = ["sin(pi*x)", "sin(pi*y)", "sin(pi*z)"][:dim]
    displacement = "*".join(waves)
    # div sigma = mu (laplace u + grad div u) with mu = 1/2, lambda = 0
    return displacement, f"0.5*pi^2*({dim} + 1)*{displacement}"


@pytest.mark.parametrize("kind", FLAT + SOLID)
def test_convergence_rate(go: Go, kind: str) -> None:
    """The error of the manufactured solution falls with the mesh as the order of the elements says."""
    element = ELEMENT_TYPES[kind]
    dim = element.dim
    # u_x = w, u_y and u_z such that only the x equation is loaded is not possible: load all with their exact terms
    exact, force = manufactured(dim)
    forces = {"x": force}
    for axis in "yz"[: dim - 1]:
        mixed = exact.replace("sin(pi*x)", "cos(pi*x)").replace(f"sin(pi*{axis})", f"cos(pi*{axis})")
        forces[axis] = f"-0.5*pi^2*{mixed}"
    kernels = {
        f"force_{axis}": {"type": "BodyForce", "variable": f"disp_{axis}", "function": function}
        for axis, function in forces.items()
    }
    boundary = "left right bottom top" + (" back front" if dim == 3 else "")
    conditions = {axis: dirichlet(f"disp_{axis}", boundary, 0.0) for axis in "xyz"[:dim]}
    errors = []
    sizes = {1: (4, 8), 2: (2, 4)}[element.order] if dim == 3 else (4, 8)
    if kind == "TET4":
        sizes = (2, 4)
    for n in sizes:
        post = {"error": {"type": "ElementL2Error", "variable": "disp_x", "function": exact}}
        text = solid(dim, generated(dim, kind, n), Kernels=kernels, BCs=conditions, Postprocessors=post)
        errors.append(go(text, stand_in.ElasticLaw(1.0, 0.0)).history[-1][1]["error"])
    rate = np.log2(errors[0] / errors[1])
    assert rate > element.order + 0.7, (errors, rate)


@pytest.mark.parametrize("kind", ["QUAD4", "QUAD8", "TRI6"])
def test_thick_cylinder(go: Go, kind: str) -> None:
    """Lame's thick cylinder under pressure inside, in plane strain along its axis."""
    inner, outer, pressure = 1.0, 2.0, 100.0
    mesh = {**generated(2, kind, 1, nx=16, ny=1, xmin=inner, xmax=outer, ymax=0.2), "coord_type": "RZ"}
    conditions = {
        "axial": dirichlet("disp_y", "bottom top", 0.0),
        "pressure": {
            **{"type": "Pressure", "variable": "disp_x", "boundary": "left", "factor": pressure},
            "use_displaced_mesh": "false",
        },
    }
    problem = go(solid(2, mesh, BCs=conditions)).problem
    ratio = pressure * inner**2 / (outer**2 - inner**2)
    points = problem.points
    assert points.radius is not None
    r = points.radius
    stress = problem.tensor("stress")
    tolerance = {"QUAD4": 9.0, "QUAD8": 0.3, "TRI6": 0.3}[kind]  # of 167
    np.testing.assert_allclose(stress[..., 0], ratio * (1 - outer**2 / r**2), atol=tolerance)
    np.testing.assert_allclose(stress[..., 2], ratio * (1 + outer**2 / r**2), atol=tolerance)
    np.testing.assert_allclose(stress[..., 1], 2 * POISSON * ratio, atol=tolerance)
    node = np.argmin(problem.mesh.points[:, 0])
    exact = (1 + POISSON) / YOUNG * ratio * ((1 - 2 * POISSON) * inner + outer**2 / inner)
    assert problem.displacement()[node, 0] == pytest.approx(exact, rel=2e-3 if kind == "QUAD4" else 5e-5)
    assert points.weights.sum() == pytest.approx(np.pi * (outer**2 - inner**2) * 0.2)


def test_cantilever(go: Go) -> None:
    """A slender beam of QUAD8 under a shear at its end: Timoshenko's deflection, in plane strain."""
    length, height, shear = 10.0, 1.0, 10.0
    mesh = generated(2, "QUAD8", 1, nx=10, ny=2, xmax=length, ymax=height)
    conditions = {
        "x": dirichlet("disp_x", "left", 0.0),
        "y": dirichlet("disp_y", "left", 0.0),
        "load": {"type": "NeumannBC", "variable": "disp_y", "boundary": "right", "value": shear},
    }
    problem = go(solid(2, mesh, BCs=conditions, Executioner={"type": "Transient", "num_steps": 1})).problem
    modulus = YOUNG / (1 - POISSON**2)
    stiffness = modulus * height**3 / 12
    force = shear * height
    bending, sheared = (
        force * length**3 / (3 * stiffness),
        force * length / (5 / 6 * YOUNG / (2 * (1 + POISSON)) * height),
    )
    tip = problem.displacement()[problem.mesh.boundary_nodes("right"), 1].mean()
    assert tip == pytest.approx(bending + sheared, rel=1.5e-2)  # the clamped end is stiffer


class NeoHookean:
    """First Piola-Kirchhoff stress mu (F - F^-T) + lame ln J F^-T, of the deformation gradient."""

    name = "model"
    input_names = ("F",)
    input_types = ("R2",)
    output_names = ("stress",)
    output_types = ("R2",)
    derivative_pairs = (("stress", "F"),)
    state_pairs: tuple[tuple[str, str, str, list[float]], ...] = ()
    mu, lame = 80.0, 120.0

    def update(self, inputs: dict[str, np.ndarray]) -> tuple[dict[str, np.ndarray], np.ndarray]:
        F = inputs["F"]
        inverse = np.linalg.inv(F)
        logarithm = np.log(np.linalg.det(F))[:, None, None]
        turned = inverse.swapaxes(1, 2)
        stress = self.mu * (F - turned) + self.lame * logarithm * turned
        tangent = self.mu * np.einsum("ik,JL->iJkL", np.eye(3), np.eye(3))
        factor = self.mu - self.lame * logarithm[..., None, None]
        tangent = tangent + factor * np.einsum("nJk,nLi->niJkL", inverse, inverse)
        tangent = tangent + self.lame * np.einsum("nJi,nLk->niJkL", inverse, inverse)
        return {"stress": stress}, tangent


LARGE = {"strain": "FINITE", "new_system": "true", "formulation": "TOTAL"}


def stretched(dim: int, kind: str, stretch: float, boundary: str = "right") -> str:
    conditions = {
        "left": dirichlet("disp_x", "left", 0.0),
        "bottom": dirichlet("disp_y", "bottom", 0.0),
        **({"back": dirichlet("disp_z", "back", 0.0)} if dim == 3 else {}),
        "right": dirichlet("disp_x", boundary, f"{stretch - 1}*t"),
    }
    executioner = {"type": "Transient", "dt": 0.25, "end_time": 1, "nl_rel_tol": 1e-12, "nl_abs_tol": 1e-10}
    return solid(dim, generated(dim, kind), physics=LARGE, BCs=conditions, Executioner=executioner)


@pytest.mark.parametrize(("dim", "kind"), [(3, "HEX8"), (3, "TET10"), (2, "QUAD8")])
def test_neo_hookean_tension(go: Go, dim: int, kind: str) -> None:
    """Uniaxial tension to twice the length (in plane strain in two dimensions): the transverse stress is zero."""
    from scipy.optimize import brentq

    law, stretch = NeoHookean(), 2.0
    result = go(stretched(dim, kind, stretch), law)
    sides = 2 if dim == 3 else 1

    def transverse(width: float) -> float:
        return law.mu * (width - 1 / width) + law.lame * np.log(stretch * width**sides) / width

    width = brentq(transverse, 0.3, 1.0, xtol=1e-15)
    volume = stretch * width**sides
    first = law.mu * (stretch - 1 / stretch) + law.lame * np.log(volume) / stretch
    problem = result.problem
    P, F = problem.tensor("pk1_stress"), problem.tensor("deformation_gradient")
    np.testing.assert_allclose(P[..., 0, 0], first, rtol=1e-9)
    np.testing.assert_allclose(F[..., 1, 1], width, rtol=1e-9)
    np.testing.assert_allclose(problem.tensor("cauchy_stress")[..., 0], first * stretch / volume, rtol=1e-9)
    for record in result.records:  # quadratic: the tangent is exact
        assert record.newton_iterations <= 6


class SaintVenantKirchhoff:
    """A stress linear in the Green-Lagrange strain, of the deformation gradient: the second Piola-Kirchhoff stress."""

    name = "model"
    input_names = ("F",)
    input_types = ("R2",)
    output_names = ("stress",)
    output_types = ("SR2",)
    derivative_pairs = (("stress", "F"),)
    state_pairs: tuple[tuple[str, str, str, list[float]], ...] = ()

    def __init__(self, young: float, poisson: float) -> None:
        self.stiffness = stand_in.elastic_stiffness(young, poisson)

    def update(self, inputs: dict[str, np.ndarray]) -> tuple[dict[str, np.ndarray], np.ndarray]:
        F = inputs["F"]
        first, second = np.array([0, 1, 2, 1, 0, 0]), np.array([0, 1, 2, 2, 2, 1])
        factor = np.where(np.arange(6) < 3, 1.0, np.sqrt(2.0))
        whole = 0.5 * (F.swapaxes(1, 2) @ F - np.eye(3))
        strain = whole[:, first, second] * factor
        slope = np.zeros((len(F), 6, 3, 3))
        for k in range(3):
            for component in range(6):
                i, j = first[component], second[component]
                slope[:, component, k, i] += 0.5 * factor[component] * F[:, k, j]
                slope[:, component, k, j] += 0.5 * factor[component] * F[:, k, i]
        return {"stress": strain @ self.stiffness}, np.einsum("ab,nbkl->nakl", self.stiffness, slope)


@pytest.mark.parametrize("measure", ["PK2", "CAUCHY"])
def test_stress_measures_have_exact_tangents(go: Go, measure: str) -> None:
    text = stretched(3, "HEX8", 1.3).replace("input = 'law.i'", f"input = 'law.i'\n    stress_measure = {measure}")
    # Sheared as well, so that the deformation is not homogeneous.
    text = text.replace(
        "[left]",
        "[shear]\n    type = FunctionDirichletBC\n    variable = disp_y\n    boundary = right\n"
        "    function = '0.2*t'\n  []\n  [left]",
    )
    result = go(text, SaintVenantKirchhoff(100.0, 0.3))
    for record in result.records:
        norms = np.array(record.norms)
        assert len(norms) <= 7
        tail = norms[norms < 1e-2 * norms[0]]
        assert len(tail) < 2 or tail[1] < 1e-2 * tail[0]


def test_rotation_leaves_no_stress(go: Go) -> None:
    """A rigid rotation by 60 degrees, prescribed on the surface."""
    c, s = "cos(pi/3*t)", "sin(pi/3*t)"
    everywhere = "left right bottom top back front"
    conditions = {
        "x": dirichlet("disp_x", everywhere, f"({c} - 1)*x - {s}*y"),
        "y": dirichlet("disp_y", everywhere, f"{s}*x + ({c} - 1)*y"),
        "z": dirichlet("disp_z", everywhere, 0.0),
    }
    problem = go(
        solid(3, generated(3, "HEX8"), physics=LARGE, BCs=conditions), SaintVenantKirchhoff(YOUNG, POISSON)
    ).problem
    assert np.abs(problem.tensor("cauchy_stress")).max() < 1e-8


@pytest.mark.parametrize(
    ("dim", "kind", "extra"), [(3, "HEX8", {}), (2, "QUAD4", {}), (2, "QUAD8", {"coord_type": "RZ"})]
)
def test_follower_pressure(go: Go, dim: int, kind: str, extra: dict[str, str]) -> None:
    """Pressure on all sides gives that pressure inside, on the deformed area, with quadratic convergence."""
    pressure = 60.0
    free = {"x": "right", "y": "top", "z": "front"}
    held = {"x": "left", "y": "bottom", "z": "back"}
    conditions = {}
    for axis in "xyz"[:dim]:
        conditions[f"held_{axis}"] = dirichlet(f"disp_{axis}", held[axis], 0.0)
        conditions[f"pressure_{axis}"] = {
            **{"type": "Pressure", "variable": f"disp_{axis}", "boundary": " ".join(list(free.values())[:dim])},
            "function": f"{pressure}*t",
        }
    executioner = {"type": "Transient", "dt": 0.5, "end_time": 1, "nl_rel_tol": 1e-12, "nl_abs_tol": 1e-9}
    text = solid(dim, {**generated(dim, kind, 2), **extra}, physics=LARGE, BCs=conditions, Executioner=executioner)
    result = go(text, NeoHookean())
    cauchy = result.problem.tensor("cauchy_stress")
    for component in (0, 1, 2) if dim == 3 or extra else (0, 1):
        np.testing.assert_allclose(cauchy[..., component], -pressure, rtol=1e-8)
    assert all(record.newton_iterations <= 7 for record in result.records)


def test_blocks_without_displacement(go: Go) -> None:
    """A solid on one block of a mesh; the other has no displacement and carries nothing."""
    mesh = {
        **generated(2, "QUAD4", 4),
        "half": {
            **{"type": "SubdomainBoundingBoxGenerator", "input": "box", "block_id": 7},
            **{"bottom_left": "0 0 0", "top_right": "0.5 1 0"},
        },
    }
    text = solid(
        2,
        mesh,
        physics={"block": "7"},
        BCs={
            "x": dirichlet("disp_x", "left", 0.0),
            "y": dirichlet("disp_y", "bottom", 0.0),
            "pull": {"type": "NeumannBC", "variable": "disp_y", "boundary": "top", "value": 100.0},
        },
    )
    problem = go(text, None, "Matlaw/law/block:=7").problem
    inside = problem.mesh.block_ids == 7
    stress = problem.tensor("stress")
    np.testing.assert_allclose(stress[inside][..., 1], 100.0, rtol=1e-9)
    assert np.all(stress[~inside] == 0.0)
    assert np.all(problem.displacement()[problem.mesh.points[:, 0] > 0.6] == 0.0)
