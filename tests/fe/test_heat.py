"""Heat conduction, and solids that it heats."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import stand_in
from write_input import Fields, dirichlet, generated, solid, text

from matlaw.errors import InputFileError
from matlaw.fe import RunResult, run
from matlaw.fe.mesh.elements import ELEMENT_TYPES

Go = Callable[..., RunResult]
CONDUCTION = {"conduction": {"type": "HeatConduction", "variable": "temperature"}}
STORAGE = {"storage": {"type": "HeatConductionTimeDerivative", "variable": "temperature"}}


@pytest.fixture
def go(stand_in_law: Callable[[object], None], tmp_path: Path) -> Go:
    """Runs an input."""

    def attempt(source: str, law: object | None = None) -> RunResult:
        if law is not None:
            stand_in_law(law)
        (tmp_path / "law.i").write_text("")
        path = tmp_path / "case.i"
        path.write_text(source)
        return run(path, output=tmp_path, quiet=True)

    return attempt


def properties(**values: object) -> dict[str, Fields]:
    names, numbers = " ".join(values), " ".join(str(value) for value in values.values())
    return {"properties": {"type": "GenericConstantMaterial", "prop_names": names, "prop_values": numbers}}


def conduction(kind: str, n: int, **blocks: Fields) -> str:
    dim = ELEMENT_TYPES[kind].dim
    return text(
        Mesh=generated(dim, kind, n),
        Variables={"temperature": {"order": "SECOND" if ELEMENT_TYPES[kind].order == 2 else "FIRST"}},
        Kernels={**CONDUCTION, **blocks.pop("kernels", {})},
        Materials=properties(thermal_conductivity=3),
        **blocks,
    )


@pytest.mark.parametrize("kind", list(ELEMENT_TYPES))
def test_convergence_rate(go: Go, kind: str) -> None:
    """A manufactured temperature with its source: the error falls by the order of the elements plus one."""
    element = ELEMENT_TYPES[kind]
    exact = "*".join(f"sin(pi*{axis})" for axis in "xyz"[: element.dim])
    boundary = "left right bottom top" + (" back front" if element.dim == 3 else "")
    errors = []
    for n in (2, 4) if element.dim == 3 and (element.order == 2 or element.is_simplex) else (4, 8):
        source = conduction(
            kind,
            n,
            kernels={
                "source": {"type": "HeatSource", "variable": "temperature", "function": f"3*{element.dim}*pi^2*{exact}"}
            },
            BCs={"cold": dirichlet("temperature", boundary, 0.0)},
            Postprocessors={"error": {"type": "ElementL2Error", "variable": "temperature", "function": exact}},
        )
        errors.append(go(source).history[-1][1]["error"])
    assert np.log2(errors[0] / errors[1]) > element.order + 0.65, errors


def test_a_cooling_bar(go: Go) -> None:
    """One mode of a bar with cold ends decays; implicit Euler divides it by 1 + rate dt each step, exactly."""
    capacity, conductivity, dt, steps = 2.0 * 5.0, 3.0, 0.05, 6
    source = text(
        Mesh=generated(2, "QUAD8", 1, nx=8),
        Variables={"temperature": {"order": "SECOND"}},
        ICs={"mode": {"type": "FunctionIC", "variable": "temperature", "function": "sin(pi*x)"}},
        Kernels={**CONDUCTION, **STORAGE},
        Materials=properties(thermal_conductivity=conductivity, specific_heat=2, density=5),
        BCs={"ends": dirichlet("temperature", "left right", 0.0)},
        Executioner={"type": "Transient", "num_steps": steps, "dt": dt, "nl_rel_tol": 1e-11},
        Postprocessors={"middle": {"type": "PointValue", "variable": "temperature", "point": "0.5 0.3"}},
    )
    values = [row["middle"] for _, row in go(source).history[1:]]
    rate = conductivity / capacity * np.pi**2
    expected = [(1 + rate * dt) ** -(k + 1) for k in range(steps)]
    assert values == pytest.approx(expected, rel=2e-5)


def test_convection_and_flux(go: Go) -> None:
    """A wall between a heat flux and a fluid: the temperature is linear, and offset by the film."""
    film, ambient, flux = 4.0, 20.0, 12.0
    source = conduction(
        "QUAD4",
        3,
        BCs={
            "in": {"type": "NeumannBC", "variable": "temperature", "boundary": "left", "value": flux},
            "out": {
                **{"type": "ConvectiveFluxFunction", "variable": "temperature", "boundary": "right"},
                **{"T_infinity": ambient, "coefficient": film},
            },
        },
        Postprocessors={
            "hot": {"type": "SideAverageValue", "variable": "temperature", "boundary": "left"},
            "cold": {"type": "SideAverageValue", "variable": "temperature", "boundary": "right"},
        },
    )
    result = go(source)
    last = result.history[-1][1]
    assert last["cold"] == pytest.approx(ambient + flux / film)
    assert last["hot"] == pytest.approx(ambient + flux / film + flux / 3.0)
    assert result.records[0].newton_iterations <= 2


def test_a_hollow_cylinder(go: Go) -> None:
    """Steady conduction through the wall of a tube: the temperature falls with the logarithm of the radius."""
    source = text(
        Mesh={**generated(2, "QUAD8", 1, nx=8, xmin=1, xmax=3), "coord_type": "RZ"},
        Variables={"temperature": {"order": "SECOND"}},
        Kernels=CONDUCTION,
        Materials=properties(thermal_conductivity=3),
        BCs={"in": dirichlet("temperature", "left", 100.0), "out": dirichlet("temperature", "right", 0.0)},
    )
    problem = go(source).problem
    radius = problem.mesh.points[:, 0]
    exact = 100.0 * np.log(3.0 / radius) / np.log(3.0)
    np.testing.assert_allclose(problem.nodal_field("temperature"), exact, atol=5e-3)


class Thermoelastic(stand_in.ElasticLaw):
    """Stiffness that falls with the temperature, and thermal expansion; conductivity that rises with it."""

    input_names = ("strain", "temperature")
    input_types = ("SR2", "Scalar")
    output_names = ("stress", "conductivity")
    output_types = ("SR2", "Scalar")
    derivative_pairs = (("stress", "strain"), ("stress", "temperature"), ("conductivity", "temperature"))
    expansion, softening, reference = 1e-5, 5e-4, 300.0

    def update(self, inputs: dict[str, np.ndarray]) -> tuple[dict[str, np.ndarray], dict[tuple[str, str], np.ndarray]]:  # type: ignore[override]
        rise = inputs["temperature"] - self.reference
        one = np.array([1.0, 1, 1, 0, 0, 0])
        elastic = inputs["strain"] - self.expansion * rise[:, None] * one
        factor = 1 - self.softening * rise
        stress = factor[:, None] * (elastic @ self.stiffness)
        slope = -self.softening * (elastic @ self.stiffness) - factor[:, None] * self.expansion * (one @ self.stiffness)
        return {"stress": stress, "conductivity": 3.0 + 0.01 * rise}, {
            ("stress", "strain"): factor[:, None, None] * self.stiffness,
            ("stress", "temperature"): slope,
            ("conductivity", "temperature"): np.full(len(rise), 0.01),
        }


def heated(**blocks: Fields) -> str:
    """A bar with its length held, warmed from one end."""
    return solid(
        2,
        generated(2, "QUAD8", 1, nx=6, xmax=3),
        **{
            "Variables": {"temperature": {"initial_condition": 300}},
            "Kernels": {**CONDUCTION, **STORAGE},
            "Materials": properties(thermal_conductivity=3, specific_heat=2, density=1),
            "BCs": {
                "x": dirichlet("disp_x", "left right", 0.0),
                "y": dirichlet("disp_y", "bottom", 0.0),
                "hot": dirichlet("temperature", "left", "300 + 200*min(t, 1)"),
            },
            "Executioner": {
                **{"type": "Transient", "num_steps": 3, "dt": 1, "nl_rel_tol": 1e-11, "nl_abs_tol": 1e-9},
                **{"nl_max_its": 8},
            },
            **blocks,
        },
    )


def test_a_heated_bar_that_cannot_expand(go: Go) -> None:
    """The axial force is the same everywhere, and carries the mean of the thermal strain."""
    result = go(heated(), Thermoelastic())
    problem = result.problem
    law = Thermoelastic()
    stress, strain = problem.tensor("stress"), problem.tensor("total_strain")
    temperature = problem.field_at(problem.points, "temperature", problem.u)
    assert temperature.max() > 450.0 and np.ptp(temperature) > 1.0
    # the law holds at every point, and the sections carry one force
    inputs = {"strain": strain.reshape(-1, 6), "temperature": temperature.ravel()}
    np.testing.assert_allclose(law.update(inputs)[0]["stress"].reshape(stress.shape), stress, rtol=1e-10, atol=1e-7)
    force = (stress[..., 0] * problem.points.weights).sum(axis=1) / problem.points.weights.sum(axis=1)
    np.testing.assert_allclose(force, force.mean(), rtol=2e-3)
    assert force.mean() < -100.0
    for record in result.records:  # quadratic: the derivative by the temperature is there
        assert record.newton_iterations <= 4


def test_a_uniform_temperature(go: Go) -> None:
    """Between rigid walls in plane strain the stress follows from the thermal strain alone."""
    uniform = {
        "AuxVariables": {"temperature": {}},
        "AuxKernels": {"rise": {"type": "FunctionAux", "variable": "temperature", "function": "300 + 100*t"}},
        "Variables": {},
        "Kernels": {},
        "Materials": {},
        "BCs": {
            "x": dirichlet("disp_x", "left right", 0.0),
            "y": dirichlet("disp_y", "bottom top", 0.0),
        },
        "Executioner": {"type": "Transient", "num_steps": 2, "dt": 1, "nl_abs_tol": 1e-8},
    }
    problem = go(heated(**uniform), Thermoelastic()).problem
    law = Thermoelastic()
    bulk = (1 - law.softening * 200.0) * 200000.0 / (1 - 2 * 0.3)
    expected = -bulk * law.expansion * 200.0
    np.testing.assert_allclose(problem.tensor("stress")[..., :3], expected, rtol=1e-9)


def test_a_property_from_the_law(go: Go) -> None:
    """Conduction with a conductivity that the law gives, and its derivative: steady, k(T) T' is constant."""
    source = heated(
        Kernels={
            "conduction": {
                **CONDUCTION["conduction"],
                **{"thermal_conductivity": "conductivity", "use_displaced_mesh": "false"},
            }
        },
        Materials={},
        BCs={
            "x": dirichlet("disp_x", "left right", 0.0),
            "y": dirichlet("disp_y", "bottom", 0.0),
            "hot": dirichlet("temperature", "left", 500.0),
            "cold": dirichlet("temperature", "right", 300.0),
        },
    )
    result = go(source, Thermoelastic())
    problem = result.problem
    x = problem.mesh.points[:, 0] / 3.0
    # 3 r + 0.005 r^2 falls linearly from its value at r = 200 to 0
    rise = (-3.0 + np.sqrt(9.0 + 0.02 * (1 - x) * (600.0 + 0.005 * 200.0**2))) / 0.01
    corners = np.unique(problem.mesh.elements[:, :4])  # the temperature is of first order
    np.testing.assert_allclose(problem.nodal_field("temperature")[corners], 300.0 + rise[corners], atol=1e-6)
    assert result.records[0].newton_iterations <= 5


def test_a_law_without_the_derivative_by_the_temperature_is_refused(go: Go) -> None:
    law = Thermoelastic()
    law.derivative_pairs = (("stress", "strain"),)  # type: ignore[assignment]
    message = r"without the derivative stress:temperature .* -d stress:strain stress:temperature"
    with pytest.raises(InputFileError, match=message):
        go(heated(), law)


def test_a_property_that_nothing_gives(go: Go) -> None:
    with pytest.raises(InputFileError, match=r"no material property 'specific_heat'; there are: thermal_conductivity"):
        go(conduction("QUAD4", 1, kernels=STORAGE))
