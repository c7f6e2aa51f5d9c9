"""matlaw-fe and a real MOOSE on the same input: with a law from [Matlaw], and with the same material of MOOSE's own."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from moose import assert_same, needs_moose, run_moose
from spec_laws import MODELS, compiled
from write_input import Fields, block, dirichlet, generated, solid

from matlaw.fe import run

pytestmark = needs_moose

EXECUTIONER = {
    **{"type": "Transient", "solve_type": "NEWTON", "num_steps": 4, "dt": 0.25},
    **{"petsc_options_iname": "-pc_type", "petsc_options_value": "lu", "nl_rel_tol": 1e-10, "nl_abs_tol": 1e-9},
}
ELASTICITY = {"type": "ComputeIsotropicElasticityTensor", "youngs_modulus": 200000, "poissons_ratio": 0.3}
J2 = {
    "elasticity": {**ELASTICITY, "type": "ADComputeIsotropicElasticityTensor"},
    "stress": {
        **{"type": "ADComputeMultipleInelasticStress", "inelastic_models": "plasticity", "max_iterations": 1},
        **{"internal_solve_full_iteration_history": "false"},
    },
    "plasticity": {
        **{"type": "ADIsotropicPlasticityStressUpdate", "yield_stress": 250, "hardening_constant": 2000},
        **{"relative_tolerance": 1e-13, "absolute_tolerance": 1e-13},
    },
}
Columns = dict[str, np.ndarray]


def both(
    folder: Path, source: str, law: Path, materials: Fields, physics: Fields | None = None
) -> tuple[Columns, Columns]:
    """The tables of matlaw-fe and of MOOSE."""
    path = folder / "case.i"
    path.write_text(source)
    result = run(path, [f"Matlaw/law/input:={law}"], folder / "ours", quiet=True)
    names = result.history[0][1]
    ours = {name: np.array([row[name] for _, row in result.history[1:]]) for name in names}
    ours["time"] = np.array([time for time, _ in result.history[1:]])
    theirs = re.sub(r"\[Matlaw\].*?\n\[\]\n", "", source, flags=re.DOTALL) + block("Materials", materials) + "\n"
    if physics:
        theirs += block("Physics/SolidMechanics/QuasiStatic", {"all": physics}) + "\n"
    moose = folder / "moose.i"
    moose.write_text(theirs)
    return ours, run_moose(folder / "theirs", [moose]).table


def measured(*outputs: str) -> dict[str, Fields]:
    return {name: {"type": "ElementAverageValue", "variable": name} for name in outputs} | {
        f"largest_{name}": {"type": "ElementExtremeValue", "variable": name, "value_type": "max_abs"}
        for name in outputs
    }


@pytest.mark.parametrize(
    "kind", ["HEX8", "HEX20", "HEX27", "TET4", "TET10", "QUAD4", "QUAD8", "TRI6", "QUAD4-RZ", "QUAD8-RZ"]
)
def test_plasticity(tmp_path: Path, kind: str) -> None:
    """A clamped block of J2 plasticity, pulled: bending, so that all depends on shape functions and quadrature."""
    kind, _, coordinates = kind.partition("-")
    dim = 3 if kind.startswith(("HEX", "TET")) else 2
    mesh = {**generated(dim, kind, 1, nx=2, xmax=2)}
    if coordinates:
        mesh = {**generated(dim, kind, 1, nx=2, xmin=1, xmax=2), "coord_type": "RZ"}
    outputs = "stress_xx stress_yy stress_zz stress_xy vonmises_stress strain_xx"
    displaced = {f"clamped_{axis}": dirichlet(f"disp_{axis}", "left", 0.0) for axis in "xyz"[:dim]}
    source = solid(
        dim,
        mesh,
        physics={"incremental": "true", "generate_output": outputs},
        BCs={
            **displaced,
            "x": dirichlet("disp_x", "right", "0.006*t"),
            "y": dirichlet("disp_y", "right", "0.003*t*t"),
            "pressure": {"type": "Pressure", "variable": "disp_y", "boundary": "top", "function": "10*t"},
        },
        Executioner=EXECUTIONER,
        Postprocessors=measured(*outputs.split()),
    )
    law = compiled(MODELS / "linear_isotropic_hardening.i", "model", [])
    ours, theirs = both(tmp_path, source, law, J2, {"use_automatic_differentiation": "true"})
    assert_same(ours, theirs, 1e-7)
    assert np.abs(theirs["largest_vonmises_stress"]).max() > 250.5


LAW = {
    "saint_venant": """[Models]
  [strain]
    type = GreenLagrangeStrain
    deformation_gradient = 'deformation_gradient'
    strain = 'green_lagrange_strain'
  []
  [elasticity]
    type = LinearIsotropicElasticity
    strain = 'green_lagrange_strain'
    stress = 'stress'
    coefficients = '200000 0.3'
    coefficient_types = 'YOUNGS_MODULUS POISSONS_RATIO'
  []
  [model]
    type = ComposedModel
    models = 'strain elasticity'
  []
[]
""",
    "thermoelastic": """[Models]
  [expansion]
    type = ThermalEigenstrain
    temperature = 'temperature'
    eigenstrain = 'thermal_strain'
    reference_temperature = 300
    CTE = 1.2e-5
  []
  [elastic_strain]
    type = SR2LinearCombination
    from = 'strain thermal_strain'
    to = 'elastic_strain'
    weights = '1 -1'
  []
  [elasticity]
    type = LinearIsotropicElasticity
    strain = 'elastic_strain'
    stress = 'stress'
    coefficients = '200000 0.3'
    coefficient_types = 'YOUNGS_MODULUS POISSONS_RATIO'
  []
  [model]
    type = ComposedModel
    models = 'expansion elastic_strain elasticity'
  []
[]
""",
}


@pytest.fixture
def law(tmp_path: Path) -> Callable[[str], Path]:
    """Writes an input of a law."""

    def write(name: str) -> Path:
        path = tmp_path / f"{name}.i"
        path.write_text(LAW[name])
        return path

    return write


@pytest.mark.parametrize("kind", ["HEX8", "QUAD8", "QUAD4-RZ"])
def test_total_lagrangian(tmp_path: Path, law: Callable[[str], Path], kind: str) -> None:
    """Saint Venant-Kirchhoff elasticity at large strain, sheared and under a pressure that follows."""
    kind, _, coordinates = kind.partition("-")
    dim = 3 if kind == "HEX8" else 2
    mesh = generated(dim, kind)
    if coordinates:
        mesh = {**generated(dim, kind, 2, xmin=1, xmax=2), "coord_type": "RZ"}
    outputs = "cauchy_stress_xx cauchy_stress_xy pk1_stress_xy pk1_stress_yx pk1_stress_zz deformation_gradient_xx"
    source = solid(
        dim,
        mesh,
        physics={"strain": "FINITE", "new_system": "true", "formulation": "TOTAL", "generate_output": outputs},
        BCs={
            **{f"clamped_{axis}": dirichlet(f"disp_{axis}", "bottom", 0.0) for axis in "xyz"[:dim]},
            "x": dirichlet("disp_x", "top", "0.3*t"),
            "pressure_x": {"type": "Pressure", "variable": "disp_x", "boundary": "right", "function": "8000*t"},
            "pressure_y": {"type": "Pressure", "variable": "disp_y", "boundary": "right", "function": "8000*t"},
        },
        Executioner={**EXECUTIONER, "nl_abs_tol": 1e-6},
        Postprocessors=measured(*outputs.split()),
    )
    materials = {
        "elasticity": ELASTICITY,
        "stress": {"type": "ComputeStVenantKirchhoffStress", "large_kinematics": "true"},
    }
    ours, theirs = both(tmp_path, source, law("saint_venant"), materials)
    assert_same(ours, theirs, 1e-7)


@pytest.mark.parametrize("kind", ["HEX8", "QUAD8", "QUAD4-RZ"])
def test_heat_and_thermal_expansion(tmp_path: Path, law: Callable[[str], Path], kind: str) -> None:
    """Conduction from one end, and the stress that the expansion makes."""
    kind, _, coordinates = kind.partition("-")
    dim = 3 if kind == "HEX8" else 2
    mesh = generated(dim, kind, 2, nx=4, xmax=2)
    if coordinates:
        mesh = {**generated(dim, kind, 2, xmin=1, xmax=3), "coord_type": "RZ"}
    outputs = "stress_xx stress_yy stress_zz strain_xx"
    temperature = {"variable": "temperature"}
    source = solid(
        dim,
        mesh,
        physics={"generate_output": outputs},
        Variables={"temperature": {"initial_condition": 300, "scaling": 100}},
        Kernels={
            "conduction": {"type": "HeatConduction", **temperature},
            "storage": {"type": "HeatConductionTimeDerivative", **temperature},
            "source": {"type": "HeatSource", **temperature, "function": "50*x*t"},
        },
        Materials={
            "heat": {
                **{"type": "GenericConstantMaterial", "prop_names": "thermal_conductivity specific_heat density"},
                "prop_values": "15 2 3",
            }
        },
        BCs={
            **{f"clamped_{axis}": dirichlet(f"disp_{axis}", "left", 0.0) for axis in "xyz"[:dim]},
            "hot": dirichlet("temperature", "left", "300 + 200*t"),
            "film": {
                **{"type": "ConvectiveFluxFunction", **temperature, "boundary": "right"},
                **{"T_infinity": 280, "coefficient": 5},
            },
        },
        Executioner={**EXECUTIONER, "nl_abs_tol": 1e-7},
        Postprocessors=measured(*outputs.split()) | {"temperature": {"type": "ElementAverageValue", **temperature}},
    )
    materials = {
        "elasticity": ELASTICITY,
        "stress": {"type": "ComputeLinearElasticStress"},
        "expansion": {
            **{
                "type": "ComputeThermalExpansionEigenstrain",
                "stress_free_temperature": 300,
                **{"temperature": "temperature"},
            },
            **{"thermal_expansion_coeff": 1.2e-5, "eigenstrain_name": "thermal"},
        },
    }
    ours, theirs = both(tmp_path, source, law("thermoelastic"), materials, {"eigenstrain_names": "thermal"})
    scale = max(np.abs(theirs[f"largest_{name}"]).max() for name in outputs.split()[:3])
    for name in ours:  # a mean stress can be zero
        atol = 1e-7 * scale if name.startswith(("stress", "largest_stress")) else 1e-9 * np.abs(theirs[name]).max()
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-7, atol=atol, err_msg=name)
    assert theirs["temperature"].max() > 350.0
