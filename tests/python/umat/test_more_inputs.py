"""What else a law may take: temperature, fields, spin, deformation gradient; and the mapping that is derived."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from umat_host import Point, Umat, strain_to_mandel, stress_from_mandel

import matlaw
from matlaw.cli.umat import main
from matlaw.errors import FatalError
from matlaw.umat import derive, write_plugin

INCREMENT = np.array([1e-3, -2e-4, -3e-4, 4e-4, -5e-4, 6e-4])

SOFTENING = """
[Models]
  [modulus]
    type = ScalarLinearCombination
    from = 'temperature load temperature~1'
    to = 'modulus'
    weights = '-100 10 -1'
    offset = 200000
  []
  [elasticity]
    type = LinearIsotropicElasticity
    strain = 'strain'
    stress = 'stress'
    coefficients = 'modulus 0.3'
    coefficient_types = 'YOUNGS_MODULUS POISSONS_RATIO'
  []
  [model]
    type = ComposedModel
    models = 'modulus elasticity'
  []
[]
"""

GREEN_LAGRANGE = """
[Models]
  [strain]
    type = GreenLagrangeStrain
    deformation_gradient = 'F'
    strain = 'green_lagrange'
  []
  [elasticity]
    type = LinearIsotropicElasticity
    strain = 'green_lagrange'
    stress = 'stress'
    coefficients = '200000 0.3'
    coefficient_types = 'YOUNGS_MODULUS POISSONS_RATIO'
  []
  [model]
    type = ComposedModel
    models = 'strain elasticity'
  []
[]
"""


def plugin_of(text: str, folder: Path, **options: Any) -> Umat:
    """A law, evaluated by Python, as a loaded plugin."""
    path = folder / "law.i"
    path.write_text(text)
    return Umat(write_plugin(path, "model", folder / "plugin", link=True, **options).shared)


def test_temperature_and_fields(tmp_path: Path) -> None:
    umat = plugin_of(SOFTENING, tmp_path)
    p = Point(n_statev=1, temperature=(300.0, 20.0), predef=((1.0, 0.5),), strain_increment=INCREMENT)
    umat(p)
    E = 200000 - 100 * 320 + 10 * 1.5 - 300
    assert p.stress[3] == pytest.approx(E / 2.6 * INCREMENT[3], rel=1e-12)


def test_a_variable_can_be_something_else(tmp_path: Path) -> None:
    umat = plugin_of(SOFTENING, tmp_path, overrides={"load": "props 2", "temperature": "value 100"})
    p = Point(n_statev=1, temperature=(0.0, 20.0), props=(0.0, 7.0), strain_increment=INCREMENT)
    umat(p)
    assert p.stress[3] == pytest.approx((200000 - 100 * 100 + 10 * 7.0) / 2.6 * INCREMENT[3], rel=1e-12)


def test_deformation_gradient(tmp_path: Path) -> None:
    umat = plugin_of(GREEN_LAGRANGE, tmp_path)
    F = np.eye(3) + 0.1 * np.random.default_rng(3).normal(size=(3, 3))

    def stress(F: np.ndarray) -> np.ndarray:
        p = Point(n_statev=1, F1=F)
        umat(p)
        return p.stress

    p = Point(n_statev=1, F1=F)
    umat(p)
    strain = (F.T @ F - np.eye(3)) / 2
    expected = 200000 / 1.3 * (strain + 0.3 / 0.4 * np.trace(strain) * np.eye(3))
    np.testing.assert_allclose(p.stress, expected[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]], rtol=1e-10)

    # DDSDDE: the change of J stress by a rate of deformation D (engineering shear), without spin, over J.
    J, size = np.linalg.det(F), 1e-6
    for column, (i, j) in enumerate([(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]):
        D = np.zeros((3, 3))
        D[i, j] = D[j, i] = 1.0 if i == j else 0.5
        ends = [(np.eye(3) + sign * size * D) @ F for sign in (1, -1)]
        change = [np.linalg.det(end) * stress(end) for end in ends]
        numerical = (change[0] - change[1]) / (2 * size * J)
        np.testing.assert_allclose(p.ddsdde.reshape(6, 6)[:, column], numerical, rtol=1e-6, atol=1e-3)


def test_spin_and_rate_of_deformation(tmp_path: Path, models: Path) -> None:
    written = write_plugin(models / "single_crystal.i", "model", tmp_path / "crystal", link=True)
    assert written.mapping.inputs["vorticity"] == "spin"
    assert written.mapping.inputs["deformation_rate"] == "strain_rate"
    assert not any("rotated" in source for source in written.mapping.inputs.values())
    angle, dt = 0.02, 0.5
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    p = Point(strain_increment=INCREMENT, rotation=turn, dt=dt)
    Umat(written.shared)(p)
    law = matlaw.load_model(models / "single_crystal.i", "model")
    values: dict[str, Any] = {
        name: np.zeros((1, *shape)) for name, shape in zip(law.input_names, law.input_base_shapes, strict=True)
    }
    values |= {
        "t": np.array([dt]),
        "deformation_rate": strain_to_mandel(INCREMENT)[None] / dt,
        "vorticity": np.array([[0.0, 0.0, 2 * np.tan(angle / 2) / dt]]),
    }
    result = law.evaluate(values)
    np.testing.assert_allclose(p.stress, stress_from_mandel(result.outputs["stress"][0]), rtol=1e-8, atol=1e-8)
    first = next(first for name, _, first, _ in written.mapping.statev if name == "orientation")
    np.testing.assert_allclose(p.statev[first - 1 : first + 2], result.outputs["orientation"][0], rtol=1e-8, atol=1e-12)


def test_initial_state(tmp_path: Path, models: Path) -> None:
    start = [0.1, -0.05, 0.2]
    crystal = write_plugin(
        models / "single_crystal.i", "model", tmp_path / "crystal", link=True, initial={"orientation": start}
    )
    umat, law = Umat(crystal.shared), matlaw.load_model(models / "single_crystal.i", "model")
    p = Point(n_statev=crystal.mapping.n_statev, dt=0.5)
    values: dict[str, Any] = {
        name: np.zeros((1, *shape)) for name, shape in zip(law.input_names, law.input_base_shapes, strict=True)
    }
    values["orientation~1"] = np.array([start])
    for step in (1, 2):
        p.strain_increment = step * INCREMENT
        umat(p)
        values |= {"t": np.array([0.5 * step]), "deformation_rate": strain_to_mandel(p.strain_increment)[None] / 0.5}
        result = law.evaluate(values)
        np.testing.assert_allclose(p.stress, stress_from_mandel(result.outputs["stress"][0]), rtol=1e-8, atol=1e-8)
        assert p.statev[crystal.mapping.started - 1] == 1.0
        values |= {pair.old: result.outputs[pair.current] for pair in law.state_pairs if pair.role == "state"}
        values["t~1"] = values["t"]
        p.next()
    for name, value, message in (("orientation", [1.0], "3 components"), ("stress", [0.0] * 6, "no state variable")):
        with pytest.raises(FatalError, match=message):
            crystal.mapping.start_from(name, value)


def test_the_settings_explain_themselves(tmp_path: Path, models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(models / "j2_plastic.i"), "--model", "model", "-o", str(tmp_path / "steel")]) == 0
    printed = capsys.readouterr().out
    assert "NSTATV 8 in 3-D" in printed and "STATEV 1-6" in printed and "equivalent_plastic_strain" in printed
    text = (tmp_path / "steel.umat.i").read_text()
    for line in (
        "strain = 'strain'",
        "plastic_strain~1 = 'statev 1 rotated'",
        "t~1 = 'old_time'",
        "stress = 'stress'",
        "ddsdde = 'rows'",
        "on_failure = 'throw'",
    ):
        assert line in text
    assert (tmp_path / "steel" / "j2_plastic.i").exists()


def test_what_does_not_fit_is_refused(tmp_path: Path, models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    law = matlaw.load_model(models / "bilinear_traction.i", "model")
    with pytest.raises(FatalError, match="stress"):
        derive(law)
    steel = str(models / "j2_plastic.i")
    for arguments, message in (
        ([steel, "-o", str(tmp_path / "x")], "name the model"),
        ([steel, "--model", "model", "-o", str(tmp_path / "a b")], "no name for a plugin"),
        ([steel, "--model", "model", "-o", str(tmp_path / "x"), "--set", "strian=strain"], "no variable"),
        ([steel, "--model", "model", "-o", str(tmp_path / "x"), "--set", "t=clock"], "cannot be 'clock'"),
        ([str(tmp_path / "nowhere.i"), "--model", "model", "-o", str(tmp_path / "x")], "nowhere.i"),
    ):
        assert main(arguments) == 2
        assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
