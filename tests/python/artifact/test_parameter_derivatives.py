"""Derivatives by promoted parameters: kernels chained over the segments against eager and finite differences."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from chained_artifact import ChainedArtifact

from matlaw.eager import load_model

Artifact = Callable[[str], Path]
E, SY = "update.system.elasticity.E", "update.system.normality.flow.yield.sy"
ROWS = 9


def test_records(artifact: Artifact) -> None:
    m = ChainedArtifact(artifact("j2_viscoplastic-parameter-derivatives")).metadata
    outputs = [o["name"] for o in m["outputs"]]
    assert m["param_derivatives"] == [
        {"output": o, "parameter": p, "batch_independent": False} for o in outputs for p in (E, SY)
    ]
    implicit, forward = m["segments"]
    assert implicit["graphs"]["dr_dparam"]["parameters"] == [
        {"name": E, "size": 1, "offset": 0},
        {"name": SY, "size": 1, "offset": 1},
    ]
    pairs = implicit["graphs"]["solve_param"]["pairs"]
    assert {(p["output"], p["parameter"], p["row_offset"], p["col_offset"]) for p in pairs} >= {
        ("plastic_strain", E, 0, 0),
        ("plastic_strain", SY, 0, 1),
    }
    assert forward["graphs"]["param_jvp"]["pairs"] == [{"output": "stress", "parameter": E, "batch_independent": False}]
    found = m["verification"]
    assert 0 < found["cpu/float64/model_seg0_dr_dparam"]["finite_differences"] < 1e-3
    assert found["cpu/float64/model_seg0_dr_dparam"]["native"] < 1e-11
    assert found["cpu/float64/model_seg1_param_jvp"]["native"] < 1e-11


def history() -> dict[str, torch.Tensor]:
    """Rows from elastic to far beyond yield."""
    rng = np.random.default_rng(0)
    direction = rng.normal(size=(ROWS, 6))
    scale = np.linspace(2e-4, 3e-3, ROWS)[:, None] / np.linalg.norm(direction, axis=1, keepdims=True)
    return {
        "strain": torch.tensor(direction * scale),
        "plastic_strain~1": torch.tensor(rng.normal(size=(ROWS, 6)) * 1e-5),
        "equivalent_plastic_strain~1": torch.tensor(rng.uniform(0, 1e-3, ROWS)),
        "t": torch.full((ROWS,), 1.0, dtype=torch.float64),
        "t~1": torch.zeros(ROWS, dtype=torch.float64),
    }


def test_total_derivative_of_a_parameter_in_both_kinds_of_segment(artifact: Artifact, models: Path) -> None:
    chained = ChainedArtifact(artifact("j2_viscoplastic-parameter-derivatives"))
    law = load_model(models / "j2_viscoplastic.i", "model")
    inputs = {name: x for name, x in history().items() if name in law.input_names}
    outputs = law.forward(inputs)
    values = {p["name"]: p["value"][0] for p in chained.metadata["parameters"]}
    state = {name: np.moveaxis(x.numpy(), 0, -1) for name, x in {**inputs, **outputs}.items()}
    state |= {name: np.full(ROWS, value) for name, value in values.items()}
    found = chained.by_parameters(state)
    expected = law.param_jacobian(inputs)
    for o in found:
        for p in (E, SY):
            reference = np.moveaxis(expected[o][p].numpy(), 0, -1).reshape(found[o][p].shape)
            np.testing.assert_allclose(found[o][p], reference, rtol=1e-9, atol=1e-12 * np.abs(reference).max())
            assert np.abs(reference).max() > 0
    for p in (E, SY):
        sides = []
        for sign in (1, -1):
            law.set_parameter(p, torch.tensor(values[p] * (1 + sign * 1e-5), dtype=torch.float64))
            sides.append(law.forward(inputs))
        law.set_parameter(p, torch.tensor(values[p], dtype=torch.float64))
        for o in found:
            slope = np.moveaxis((sides[0][o] - sides[1][o]).numpy(), 0, -1) / (2e-5 * values[p])
            assert np.abs(found[o][p].reshape(slope.shape) - slope).max() < 1e-5 * np.abs(slope).max()


def test_forward_law_by_hand(artifact: Artifact) -> None:
    """Hooke's law is linear in Young's modulus."""
    chained = ChainedArtifact(artifact("linear_elastic-parameter-derivatives"))
    strain = np.random.default_rng(1).normal(size=(6, 5))
    e, n = 210.0, 0.3
    state = {"strain": strain, "model.E": np.full(5, e), "model.nu": np.full(5, n)}
    blocks = chained.by_parameters(state)["stress"]
    lam, mu = e * n / ((1 + n) * (1 - 2 * n)), e / (2 * (1 + n))
    stress = 2 * mu * strain
    stress[:3] += lam * strain[:3].sum(0)
    np.testing.assert_allclose(blocks["model.E"][:, 0], stress / e, rtol=1e-12)
    by_nu = -2 * e / (2 * (1 + n) ** 2) * strain
    by_nu[:3] += e * (1 + 2 * n**2) / ((1 + n) * (1 - 2 * n)) ** 2 * strain[:3].sum(0)
    np.testing.assert_allclose(blocks["model.nu"][:, 0], by_nu, rtol=1e-11)


@pytest.mark.inductor
def test_packages_of_parameter_derivatives(tmp_path: Path, models: Path) -> None:
    """``.pt2`` graphs agree with eager: the self-check refuses others."""
    from matlaw.artifact import compile_model

    report = compile_model(
        models / "linear_elastic.i", "model", tmp_path, [":model.nu"], ["model.nu"], "inductor", stub=False
    )
    assert [Path(f.path).name for f in report.files] == ["model.pt2", "model_param_jvp.pt2"]
    assert report.verification["cpu/float64/model_param_jvp"]["inductor"] < 1e-11
