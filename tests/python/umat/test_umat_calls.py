"""Calls of ``umat_``: every array is what the interface says, and the numbers are those of the law itself."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from umat_host import (
    Point,
    Umat,
    strain_to_mandel,
    stress_from_mandel,
    stress_to_mandel,
    tangent_from_mandel,
)

import matlaw
from matlaw.umat import write_plugin

Plugins = Callable[..., Umat]
Artifacts = Callable[[str], Path]

STEPS = np.array(
    [
        [1e-3, -2e-4, -3e-4, 4e-4, -5e-4, 6e-4],
        [5e-4, -1e-4, -3e-4, 9e-4, 0.0, -2e-4],
        [-1e-3, 0.0, 2e-4, 1e-4, 3e-4, 0.0],
    ]
)


def law_of(artifact: Artifacts, name: str) -> Any:
    return matlaw.load_model(artifact(name) / "model_aoti.i", "model")


def history(law: Any, strains: np.ndarray, dt: float = 1.0) -> list[Any]:
    """The law itself along total strains, Mandel components."""
    old = {name: np.zeros((1, *shape)) for name, shape in zip(law.input_names, law.input_base_shapes, strict=True)}
    results = []
    for step, strain in enumerate(strains, start=1):
        result = law.evaluate(old | {"strain": strain[None], "t": np.array([dt * step])}, jacobian=True)
        assert result.ok
        results.append(result)
        old |= {pair.old: result.outputs[pair.current] for pair in law.state_pairs if pair.role == "state"}
        old["t~1"] = np.array([dt * step])
    return results


def numerical_tangent(umat: Umat, make: Callable[[], Point], size: float = 1e-7) -> np.ndarray:
    """Central differences of STRESS by DSTRAN."""
    columns = []
    for j in range(len(make().strain)):
        ends = []
        for sign in (1, -1):
            p = make()
            p.strain_increment = p.strain_increment.copy()
            p.strain_increment[j] += sign * size
            umat(p)
            ends.append(p.stress)
        columns.append((ends[0] - ends[1]) / (2 * size))
    return np.array(columns).T


@pytest.mark.parametrize("name", ["j2_viscoplastic-native", "j2_plastic-native"])
def test_three_dimensions(plugin: Plugins, artifact: Artifacts, name: str) -> None:
    umat = plugin(name)
    law = law_of(artifact, name)
    at = umat.places["equivalent_plastic_strain"]
    assert umat.places["plastic_strain"] == 0
    strains = np.array([strain_to_mandel(e) for e in np.cumsum(STEPS, axis=0)])
    p = Point()
    for increment, expected in zip(STEPS, history(law, strains), strict=True):
        p.strain_increment = increment
        umat(p)
        np.testing.assert_allclose(p.stress, stress_from_mandel(expected.outputs["stress"][0]), rtol=1e-12, atol=1e-10)
        np.testing.assert_allclose(
            p.ddsdde.reshape(6, 6).T,
            tangent_from_mandel(expected.jacobian["stress"]["strain"][0]),
            rtol=1e-10,
            atol=1e-6,
        )
        plastic = expected.outputs["plastic_strain"][0]
        np.testing.assert_allclose(stress_to_mandel(p.statev[:6]), plastic, rtol=1e-12, atol=1e-18)
        assert p.statev[at] == pytest.approx(float(expected.outputs["equivalent_plastic_strain"][0]), rel=1e-12)
        assert p.pnewdt == 1.0
        p.next()
    assert p.statev[at] > 1e-4


def test_ddsdde_by_rows_and_by_columns(tmp_path: Path, unsymmetric: Path) -> None:
    tangents = {}
    for host in ("moose", "abaqus"):
        umat = Umat(write_plugin(unsymmetric, "model", tmp_path / host, host=host).shared)
        p = Point(n_statev=1, strain_increment=STEPS[0])
        umat(p)
        tangents[host] = p.ddsdde.reshape(6, 6)
        np.testing.assert_allclose(tangents["moose"] @ STEPS[0], p.stress, rtol=1e-12)
    np.testing.assert_array_equal(tangents["moose"], tangents["abaqus"].T)
    assert np.abs(tangents["moose"] - tangents["moose"].T).max() > 1.0


def test_plane_strain_and_axial_symmetry_have_four_components(plugin: Plugins) -> None:
    umat = plugin("j2_plastic-native")
    solid, plane = Point(), Point(kind=(3, 1))
    for step in STEPS:
        plane.strain_increment = step[:4] * 3
        solid.strain_increment = np.concatenate([step[:4] * 3, [0.0, 0.0]])
        umat(solid)
        umat(plane)
        np.testing.assert_array_equal(plane.stress, solid.stress[:4])
        np.testing.assert_array_equal(plane.ddsdde.reshape(4, 4), solid.ddsdde.reshape(6, 6)[:4, :4])
        np.testing.assert_array_equal(plane.statev, solid.statev)
        solid.next()
        plane.next()


def test_plane_stress_of_an_elastic_law(plugin: Plugins) -> None:
    umat = plugin("linear_elastic-native")
    E, nu = 200000.0, 0.3
    p = Point(kind=(2, 1), n_statev=3, strain_increment=np.array([1e-3, -4e-4, 7e-4]))
    umat(p)
    C = E / (1 - nu**2) * np.array([[1, nu, 0], [nu, 1, 0], [0, 0, (1 - nu) / 2]])
    np.testing.assert_allclose(p.ddsdde.reshape(3, 3), C, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(p.stress, C @ p.strain_increment, rtol=1e-12)
    assert p.statev[0] == pytest.approx(-nu / (1 - nu) * (1e-3 - 4e-4), rel=1e-12)


@pytest.mark.parametrize("name", ["j2_plastic-native", "j2_viscoplastic-native"])
def test_plane_stress_is_a_solid_without_stress_on_its_faces(plugin: Plugins, name: str) -> None:
    umat = plugin(name)
    p, solid = Point(kind=(2, 1)), Point()
    at = umat.places["out of plane"]
    for step in STEPS:
        start = p.statev.copy(), p.stress.copy()
        p.strain_increment = step[[0, 1, 3]]
        umat(p)
        thickness = p.statev[at] - start[0][at]
        solid.strain_increment = np.array([step[0], step[1], thickness, step[3], 0.0, 0.0])
        umat(solid)
        assert np.abs(solid.stress[2]) < 1e-7 * np.abs(solid.stress).max()
        np.testing.assert_allclose(p.stress, solid.stress[[0, 1, 3]], rtol=1e-9)
        np.testing.assert_allclose(p.statev[:at], solid.statev[:at], rtol=1e-9, atol=1e-15)

        def again(start: tuple[np.ndarray, np.ndarray] = start) -> Point:
            return Point(
                kind=(2, 1), time=p.time, statev=start[0].copy(), stress=start[1].copy(), strain=p.strain,
                strain_increment=p.strain_increment,
            )  # fmt: skip

        np.testing.assert_allclose(
            p.ddsdde.reshape(3, 3).T, numerical_tangent(umat, again), rtol=1e-4, atol=1e-4 * p.ddsdde.max()
        )
        p.next()
        solid.next()
    assert p.statev[umat.places["equivalent_plastic_strain"]] > 1e-4


def test_uniaxial_stress(plugin: Plugins) -> None:
    umat = plugin("linear_elastic-native")
    p = Point(kind=(1, 0), n_statev=5, strain_increment=np.array([1e-3]))
    umat(p)
    assert p.stress[0] == pytest.approx(200.0, rel=1e-12)
    assert p.ddsdde[0] == pytest.approx(200000.0, rel=1e-12)
    np.testing.assert_allclose(p.statev[:2], -3e-4, rtol=1e-12)


def rotation(seed: int) -> np.ndarray:
    q, r = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    return q * np.linalg.det(q)


def turned(R: np.ndarray, host: np.ndarray, shear: float = 1.0) -> np.ndarray:
    """Components of the host of a symmetric tensor, turned; `shear` is 2 for engineering strains."""
    xx, yy, zz, xy, xz, yz = host
    a = np.array([[xx, xy / shear, xz / shear], [xy / shear, yy, yz / shear], [xz / shear, yz / shear, zz]])
    b = R @ a @ R.T
    return np.array([b[0, 0], b[1, 1], b[2, 2], shear * b[0, 1], shear * b[0, 2], shear * b[1, 2]])


def test_state_turns_with_the_material(plugin: Plugins) -> None:
    umat = plugin("j2_plastic-native")
    still, moving = Point(), Point()
    for p in (still, moving):
        p.strain_increment = 3 * STEPS[0]
        umat(p)
        p.next()
    R = rotation(7)
    # The host turns what is its own: stress and strain of the start of the step.
    moving.stress = turned(R, moving.stress)
    moving.strain = turned(R, moving.strain, 2.0)
    moving.rotation = R
    still.strain_increment = STEPS[1]
    moving.strain_increment = turned(R, STEPS[1], 2.0)
    umat(still)
    umat(moving)
    np.testing.assert_allclose(moving.stress, turned(R, still.stress), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(moving.statev[:6], turned(R, still.statev[:6]), rtol=1e-10, atol=1e-15)
    np.testing.assert_allclose(moving.statev[6:], still.statev[6:], rtol=1e-10, atol=1e-15)
    assert np.abs(still.statev[6:]).max() > 1e-4


def test_a_step_too_large_changes_pnewdt_and_nothing_else(plugin: Plugins, capfd: pytest.CaptureFixture[str]) -> None:
    umat = plugin("j2_viscoplastic-native")
    p = Point(strain_increment=np.array([5e-2, 0.0, 0.0, 0.0, 0.0, 0.0]), dt=1e-3)
    p.stress[:] = 3.0
    umat(p)
    assert 0.0 < p.pnewdt < 1.0
    np.testing.assert_array_equal(p.stress, 3.0)
    np.testing.assert_array_equal(p.statev, 0.0)
    text = capfd.readouterr().err
    assert "did not converge" in text and "element 12, integration point 3" in text


def test_a_strain_that_is_no_number_is_named(plugin: Plugins, capfd: pytest.CaptureFixture[str]) -> None:
    umat = plugin("j2_viscoplastic-native")
    p = Point(strain_increment=np.array([0.0, np.nan, 0.0, 0.0, 0.0, 0.0]))
    umat(p)
    assert p.pnewdt < 1.0
    assert "'strain' (component 1) is nan" in capfd.readouterr().err


def test_parameters_come_from_props(plugin: Plugins) -> None:
    umat = plugin("linear_elastic-parameters")
    for E, nu in ((200000.0, 0.3), (70000.0, 0.33), (200000.0, 0.3)):
        p = Point(n_statev=1, props=(E, nu), strain_increment=np.array([1e-3, 0, 0, 1e-3, 0, 0]))
        umat(p)
        assert p.stress[0] == pytest.approx(1e-3 * E * (1 - nu) / (1 + nu) / (1 - 2 * nu), rel=1e-12)
        assert p.stress[3] == pytest.approx(1e-3 * E / 2 / (1 + nu), rel=1e-12)


def test_threads_and_several_plugins(plugin: Plugins) -> None:
    plugins = [plugin("j2_plastic-native", "one"), plugin("linear_elastic-native", "two")]

    def run(seed: int) -> np.ndarray:
        rng = np.random.default_rng(seed)
        p = Point()
        for _ in range(20):
            p.strain_increment = rng.normal(scale=5e-4, size=6)
            plugins[seed % 2](p)
            p.next()
        return np.concatenate([p.stress, p.statev])

    alone = [run(seed) for seed in range(24)]
    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(run, range(24)))
    np.testing.assert_array_equal(together, alone)
    assert np.abs(alone[0][6:]).max() > 0.0 and np.abs(alone[1][6:]).max() == 0.0


def test_an_input_file_is_evaluated_by_python(tmp_path: Path, plugin: Plugins, models: Path) -> None:
    eager = Umat(write_plugin(models / "j2_plastic.i", "model", tmp_path / "eager", host="abaqus").shared)
    compiled = plugin("j2_plastic-native")
    one, two = Point(), Point()
    for step in STEPS:
        one.strain_increment = two.strain_increment = step
        eager(one)
        compiled(two)
        np.testing.assert_allclose(one.stress, two.stress, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(one.ddsdde, two.ddsdde, rtol=1e-7, atol=1e-3)
        one.next()
        two.next()


CALL = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import numpy as np
from umat_host import Point, Umat
umat = Umat(Path(sys.argv[2]))
umat(eval(sys.argv[3]))
print("went on")
"""


def stopped(library: Path, point: str = "Point()") -> str:
    """What a host that calls prints; the call must have ended the run."""
    done = subprocess.run(
        [sys.executable, "-c", CALL, str(Path(__file__).parent), str(library), point],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": ""},
    )
    assert done.returncode == 1 and "went on" not in done.stdout, done.stdout + done.stderr
    return done.stderr


def test_of_the_folder_of_artifacts_the_law_alone_is_copied(artifact: Artifacts, tmp_path: Path) -> None:
    written = write_plugin(artifact("linear_elastic-native"), "model", tmp_path / "law")
    assert written.law == tmp_path / "law" / "model"
    assert (written.law / "metadata.json").is_file()


def test_mistakes_in_the_set_up_end_the_run(artifact: Artifacts, tmp_path: Path) -> None:
    stub = artifact("j2_viscoplastic-native") / "model_aoti.i"
    plugin = write_plugin(stub, "model", tmp_path / "law", link=True)
    text = plugin.settings.read_text()
    assert "needs 7" in stopped(plugin.shared, "Point(n_statev=6)")
    assert "NTENS = 5" in stopped(plugin.shared, "Point(n_tens=5)")
    assert "needs 10" in stopped(plugin.shared, "Point(kind=(2, 1), n_statev=9)")
    assert "'t' (component 0) is nan" in stopped(plugin.shared, "Point(dt=np.nan)")

    def with_settings(old: str, new: str) -> str:
        assert old in text
        plugin.settings.write_text(text.replace(old, new))
        return stopped(plugin.shared)

    assert "Did you mean 'strain'?" in with_settings("= 'strain'", "= 'strian'")
    assert "'on_failure'" in with_settings("on_failure =", "on_failur =")
    assert "'t' (Scalar)" in with_settings("    t = 'time'", "")
    assert "no output of the law is the 'stress'" in with_settings("stress = 'stress'", "stress = 'unused'")
    twice = with_settings("equivalent_plastic_strain = 'statev 7'", "equivalent_plastic_strain = 'statev 6'")
    assert "'plastic_strain' are both written to entry 6 of STATEV" in twice
    assert "one SR2" in with_settings("t = 'time'", "t = 'strain'")
    assert "does not exist" in with_settings(str(stub.parent), "/nowhere")
    assert "MATLAW_UMAT_LIBRARY" in with_settings("libmatlaw_umat.so", "libmatlaw_gone.so")
    plugin.settings.unlink()
    assert "law.umat.i cannot be read" in stopped(plugin.shared)
