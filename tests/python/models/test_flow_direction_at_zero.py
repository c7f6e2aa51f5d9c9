"""The flow direction of J2 plasticity where there is no deviator, or hardly one."""

from __future__ import annotations

import numpy as np
import pytest

import matlaw
from matlaw.artifact import compile_model

LAW = "[Models]\n[model]\ntype = AssociativeJ2FlowDirection\n[]\n[]\n"


@pytest.fixture(scope="module", params=["float64", "float32"])
def law(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> matlaw.CompiledModel:
    folder = tmp_path_factory.mktemp("direction")
    (folder / "law.i").write_text(LAW, encoding="utf-8")
    compile_model(folder / "law.i", "model", folder / "out", derivatives=(":",), backend="native", dtype=request.param)
    return matlaw.load_model(folder / "out", "model", dtype=request.param)


def real(law: matlaw.CompiledModel) -> type:
    return np.float64 if "64" in str(law.dtype) else np.float32


def test_hydrostatic_stress_has_no_direction(law: matlaw.CompiledModel) -> None:
    pressures = np.random.default_rng(0).uniform(-1000.0, 1000.0, 5000).astype(real(law))
    stress = pressures[:, None] * np.array([1, 1, 1, 0, 0, 0], real(law))
    result = law.evaluate({"mandel_stress": stress}, jacobian=True)
    assert not result.failed_rows
    assert not result.outputs["flow_direction"].any()
    assert not result.jacobian["flow_direction"]["mandel_stress"].any()


def test_derivatives_are_finite_for_any_size_of_the_deviator(law: matlaw.CompiledModel) -> None:
    low = -320 if real(law) is np.float64 else -44
    sizes = np.logspace(low, 18, 3000)
    shapes = np.random.default_rng(1).normal(size=(3000, 6))
    shapes[::2, :3] -= shapes[::2, :3].mean(axis=1, keepdims=True)
    shapes[::3] = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]
    stress = (sizes[:, None] * shapes).astype(real(law))
    result = law.evaluate({"mandel_stress": stress}, jacobian=True)
    assert not result.failed_rows
    assert np.isfinite(result.jacobian["flow_direction"]["mandel_stress"]).all()
    norms = np.linalg.norm(result.outputs["flow_direction"].astype(np.float64), axis=1)
    assert np.isclose(norms[sizes > 1e-8], 1.5**0.5, rtol=1e-5).all()
    assert (np.isclose(norms, 1.5**0.5, rtol=1e-5) | (norms == 0.0)).all()
