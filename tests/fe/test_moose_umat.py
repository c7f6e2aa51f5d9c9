"""Laws as UMAT plugins inside a real MOOSE."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from moose import INPUTS, Run, assert_same, needs_moose, run_moose
from places import ROOT, TESTS

from matlaw.artifact import compile_model
from matlaw.umat import write_plugin

pytestmark = needs_moose
MODELS = ROOT / "examples" / "models"
#: Perzyna's law without yield stress and hardening: power-law creep
CREEP = [
    "Models/hardening/saturated_hardening:=0",
    "Models/yield/yield_stress:=0",
    "Models/flow_rate/reference_stress:=1000",
    "Models/flow_rate/exponent:=4",
    "Solvers/newton/max_its:=50",
    "Solvers/newton/abs_tol:=1e-15",
]


@pytest.fixture(scope="module")
def plugins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of plugins: ``j2``, ``creep``, ``viscoplastic``, ``elastic``."""
    folder = tmp_path_factory.mktemp("plugins")
    for name, file, overrides in (
        ("j2", "linear_isotropic_hardening", []),
        ("creep", "j2_viscoplastic", CREEP),
        ("viscoplastic", "j2_viscoplastic", []),
        ("elastic", "linear_elastic", []),
    ):
        place = folder / "laws" / name
        compile_model(
            MODELS / f"{file}.i", "model", place, derivatives=["stress:strain"], backend="native", overrides=overrides
        )
        write_plugin(place / "model", "model", folder / name)
    return folder


@pytest.fixture(scope="module")
def hand_written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The laws ``j2`` and ``creep`` in C++; the folder of the plugins."""
    folder = tmp_path_factory.mktemp("hand_written")
    source = Path(__file__).with_name("radial_return.cpp")
    for name, options in (("j2", []), ("creep", ["-DCREEP"])):
        library = folder / f"{name}-opt.plugin"
        subprocess.run(["g++", "-O2", "-shared", "-fPIC", *options, "-o", str(library), str(source)], check=True)
    return folder


def bar(folder: Path, plugin: Path, *overrides: str, threads: int = 1) -> Run:
    return run_moose(folder, ["bar.i", "umat.i"], f"Materials/umat/plugin={plugin}", *overrides, threads=threads)


def test_plasticity_is_that_of_moose(plugins: Path, tmp_path: Path) -> None:
    ours = bar(tmp_path / "ours", plugins / "j2").table
    theirs = run_moose(tmp_path / "theirs", ["bar.i", "moose_j2.i"]).table
    assert_same(ours, theirs, 1e-8)
    assert theirs["stress_xx"].max() > 300.0 and len(theirs["time"]) == 20


def test_creep_is_that_of_moose(plugins: Path, tmp_path: Path) -> None:
    ours = bar(tmp_path / "ours", plugins / "creep").table
    theirs = run_moose(tmp_path / "theirs", ["bar.i", "moose_creep.i"]).table
    assert_same(ours, theirs, 1e-8)


def test_as_many_iterations_as_a_umat_with_the_exact_tangent(plugins: Path, hand_written: Path, tmp_path: Path) -> None:
    # Not so tight that rounding counts the last iteration.
    tolerance = "Executioner/nl_rel_tol=1e-9"
    ours = bar(tmp_path / "ours", plugins / "creep", tolerance).table
    theirs = bar(tmp_path / "theirs", hand_written / "creep", tolerance).table
    assert_same(ours, theirs, 1e-8)
    np.testing.assert_array_equal(ours["iterations"], theirs["iterations"])
    assert theirs["iterations"].max() <= 5
    # Where yielding sets in the tangent has two values, and the two laws take different ones.
    ours = bar(tmp_path / "ours", plugins / "j2", tolerance).table
    theirs = bar(tmp_path / "theirs", hand_written / "j2", tolerance).table
    assert_same(ours, theirs, 1e-8)
    assert (ours["iterations"] <= theirs["iterations"]).all()


@pytest.mark.parametrize("element", ["HEX20", "TET10"])
def test_quadratic_elements(plugins: Path, hand_written: Path, tmp_path: Path, element: str) -> None:
    settings = [f"Mesh/bar/elem_type={element}", "Executioner/end_time=0.5", "Executioner/nl_rel_tol=1e-9"]
    ours = bar(tmp_path / "ours", plugins / "creep", *settings).table
    theirs = bar(tmp_path / "theirs", hand_written / "creep", *settings).table
    assert_same(ours, theirs, 1e-8)
    np.testing.assert_array_equal(ours["iterations"], theirs["iterations"])


def test_threads_change_nothing(plugins: Path, tmp_path: Path) -> None:
    one = bar(tmp_path / "one", plugins / "j2", "Executioner/end_time=0.5").table
    two = bar(tmp_path / "two", plugins / "j2", "Executioner/end_time=0.5", threads=2).table
    assert_same(two, one, 1e-11)


FINITE = ["Physics/SolidMechanics/QuasiStatic/all/strain=FINITE", "Functions/pull/y=0 0.12 0.08 0.2"]


def test_finite_strain(plugins: Path, tmp_path: Path) -> None:
    ours = bar(tmp_path / "ours", plugins / "elastic", *FINITE).table
    theirs = run_moose(tmp_path / "theirs", ["bar.i", "moose_elastic.i"], *FINITE).table
    assert_same(ours, theirs, 1e-8)


def test_state_turns_with_the_material(plugins: Path, tmp_path: Path) -> None:
    settings = [*FINITE, "Executioner/nl_rel_tol=1e-11", "Executioner/end_time=1", "Mesh/bar/ny=2"]
    ours = bar(tmp_path / "ours", plugins / "j2", *settings).table
    theirs = run_moose(tmp_path / "theirs", ["bar.i", "moose_j2.i"], *settings).table
    assert_same(ours, theirs, 1e-8)
    # The comparison sees it: a plastic strain that stays behind gives another stress.
    still = write_plugin(plugins / "laws" / "j2" / "model", "model", tmp_path / "still", link=True)
    still.settings.write_text(still.settings.read_text().replace(" rotated'", "'"))
    other = bar(tmp_path / "other", tmp_path / "still", *settings).table
    assert np.abs(other["stress_yy"] / theirs["stress_yy"] - 1).max() > 1e-6


def test_lagrangian_kernels(plugins: Path, tmp_path: Path) -> None:
    settings = [
        f"Materials/umat/plugin={plugins / 'j2'}",
        "Physics/SolidMechanics/QuasiStatic/all/generate_output="
        "cauchy_stress_xx cauchy_stress_yy vonmises_cauchy_stress mechanical_strain_xx",
        "Postprocessors/stress_xx/variable=cauchy_stress_xx",
        "Postprocessors/stress_yy/variable=cauchy_stress_yy",
        "Postprocessors/vonmises/variable=vonmises_cauchy_stress",
        "Postprocessors/strain_xx/variable=mechanical_strain_xx",
    ]
    ours = run_moose(tmp_path / "ours", ["bar.i", "umat.i", "lagrangian.i"], *settings).table
    theirs = bar(tmp_path / "theirs", plugins / "j2").table
    assert_same(ours, theirs, 1e-8)
    np.testing.assert_array_equal(ours["iterations"], theirs["iterations"])


def test_patch(plugins: Path, tmp_path: Path) -> None:
    text = (TESTS / "elasticity" / "patch.i").read_text().replace("ComputeSmallStrain", "ComputeIncrementalStrain")
    before, matlaw, after = re.split(r"(\[Matlaw\].*?\n\[\]\n)", text, maxsplit=1, flags=re.DOTALL)
    assert "linear_elastic.i" in matlaw
    path = tmp_path / "patch.i"
    path.write_text(before + after)
    table = run_moose(tmp_path, [path, INPUTS / "umat.i"], f"Materials/umat/plugin={plugins / 'elastic'}").table
    E, nu, t = 200000.0, 0.3, table["time"]
    strain = {"xx": 1e-3, "yy": -1e-3, "zz": 5e-4, "yz": -5e-4, "xz": 1.5e-3, "xy": 2e-3}
    volume = strain["xx"] + strain["yy"] + strain["zz"]
    for name, value in strain.items():
        pressure = nu / (1 - 2 * nu) * volume if name in ("xx", "yy", "zz") else 0.0
        expected = E / (1 + nu) * (value + pressure) * t
        for end in ("min", "max"):
            np.testing.assert_allclose(table[f"stress_{name}_{end}"], expected, rtol=1e-10)


#: A jump within one step of MOOSE
JUMP = ["Functions/pull/x=0 0.5 1", "Functions/pull/y=0 0.004 0.06", "Executioner/end_time=1"]


def test_a_step_too_large_is_cut(plugins: Path, tmp_path: Path) -> None:
    cut = bar(tmp_path / "cut", plugins / "viscoplastic", *JUMP, "Executioner/TimeStepper/dt=0.5")
    table = cut.table
    assert cut.failed_steps >= 1
    assert "did not converge at element" in cut.log and "re-attempted with a reduced time step" in cut.log
    # The same steps, asked for: nothing has to be cut, and the state is the same.
    times = " ".join(f"{t:.15g}" for t in [0.0, *table["time"]])
    steps = ["Executioner/TimeStepper/type=TimeSequenceStepper", f"Executioner/TimeStepper/time_sequence={times}"]
    whole = bar(tmp_path / "whole", plugins / "viscoplastic", *JUMP, *steps, "--allow-unused")
    assert whole.failed_steps == 0
    assert_same(table, whole.table, 1e-9)


def test_a_missing_law_ends_the_run(plugins: Path, tmp_path: Path) -> None:
    alone = tmp_path / "alone-opt.plugin"
    alone.write_bytes((plugins / "j2-opt.plugin").read_bytes())
    run = bar(tmp_path / "run", tmp_path / "alone")
    assert run.code != 0 and "alone.umat.i cannot be read" in run.log
    assert run.failed_steps == 0 and "Time Step 2" not in run.log

    settings = (plugins / "j2.umat.i").read_text()
    (tmp_path / "alone.umat.i").write_text(settings)
    run = bar(tmp_path / "run", tmp_path / "alone")
    assert run.code != 0 and "does not exist" in run.log and run.failed_steps == 0


def test_too_few_state_variables_end_the_run(plugins: Path, tmp_path: Path) -> None:
    run = bar(tmp_path / "run", plugins / "j2", "Materials/umat/num_state_vars=5")
    assert run.code != 0 and "num_state_vars" in run.log and run.failed_steps == 0


def test_a_strain_that_is_no_number_is_named(plugins: Path, tmp_path: Path) -> None:
    # MOOSE lets no NaN through its input, but a strain may overflow.
    pull = ["Functions/pull/x=0 0.1 0.2", "Functions/pull/y=0 0.001 1.7e308", "Mesh/bar/xmax=0.1"]
    run = bar(tmp_path / "run", plugins / "j2", *pull, "Executioner/dtmin=0.04")
    assert run.code != 0 and "The input 'strain' (component 0) is inf at element 3" in run.log


def test_compiled_and_plain_law_in_one_input(plugins: Path, tmp_path: Path) -> None:
    write_plugin(MODELS / "linear_isotropic_hardening.i", "model", tmp_path / "eager")
    two = run_moose(
        tmp_path / "two",
        ["bar.i", "two_materials.i"],
        f"Materials/first/plugin={plugins / 'j2'}",
        f"Materials/second/plugin={tmp_path / 'eager'}",
        "Executioner/end_time=0.5",
    ).table
    one = bar(tmp_path / "one", plugins / "j2", "Executioner/end_time=0.5").table
    assert_same(two, one, 1e-8)


def test_two_laws_on_two_blocks(plugins: Path, hand_written: Path, tmp_path: Path) -> None:
    def run(name: str, first: Path, second: Path) -> dict[str, np.ndarray]:
        places = [f"Materials/first/plugin={first}", f"Materials/second/plugin={second}"]
        return run_moose(tmp_path / name, ["bar.i", "two_materials.i"], *places).table

    mixed = run("mixed", plugins / "j2", plugins / "elastic")
    theirs = run("theirs", hand_written / "j2", plugins / "elastic")
    assert_same(mixed, theirs, 1e-8)
    soft = run("soft", plugins / "j2", plugins / "j2")
    assert np.abs(mixed["stress_xx"] - soft["stress_xx"]).max() > 1.0
