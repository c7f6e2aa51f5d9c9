"""Derivatives by parameters of compiled laws against those of the same laws evaluated eagerly."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import matlaw
from matlaw import ConvergenceError, FatalError

E, SY = "update.system.elasticity.E", "update.system.normality.flow.yield.sy"
ROWS = 9


@pytest.fixture
def laws(artifact, models):
    compiled = matlaw.load_model(artifact("j2_viscoplastic-parameter-derivatives") / "model_aoti.i", "model")
    return compiled, matlaw.load_model(models / "j2_viscoplastic.i", "model")


def inputs_of(law) -> dict[str, torch.Tensor]:
    """Rows from elastic to far beyond yield."""
    rng = np.random.default_rng(3)
    direction = rng.normal(size=(ROWS, 6))
    scale = np.linspace(2e-4, 3e-3, ROWS)[:, None] / np.linalg.norm(direction, axis=1, keepdims=True)
    values = {
        "strain": torch.tensor(direction * scale),
        "plastic_strain~1": torch.tensor(rng.normal(size=(ROWS, 6)) * 1e-5),
        "equivalent_plastic_strain~1": torch.tensor(rng.uniform(0, 1e-3, ROWS)),
        "t": torch.ones(ROWS, dtype=torch.float64),
        "t~1": torch.zeros(ROWS, dtype=torch.float64),
    }
    return {name: values[name] for name in law.input_names}


def assert_close(found: torch.Tensor, expected: torch.Tensor) -> None:
    assert found.shape == expected.shape
    assert float(expected.abs().max()) > 0
    torch.testing.assert_close(found, expected, rtol=1e-8, atol=1e-10 * float(expected.abs().max()))


@pytest.mark.parametrize("youngs", [None, np.linspace(1.5e5, 2.5e5, ROWS)])
def test_blocks_and_adjoint_agree_with_eager(laws, youngs):
    compiled, eager = laws
    inputs = inputs_of(compiled)
    if youngs is not None:
        for law in laws:
            law.set_parameter(E, youngs)
    found, expected = compiled.param_jacobian(inputs), eager.param_jacobian(inputs)
    cotangents = {"stress": torch.sin(torch.arange(6.0 * ROWS, dtype=torch.float64)).reshape(ROWS, 6)}
    cotangents["equivalent_plastic_strain"] = torch.full((ROWS,), 1e3, dtype=torch.float64)
    gradients, expected_gradients = (law.param_vjp(inputs, cotangents) for law in laws)
    assert set(gradients) == {E, SY}
    for parameter in (E, SY):
        for output in compiled.output_names:
            assert_close(found[output][parameter], expected[output][parameter])
        assert_close(gradients[parameter], expected_gradients[parameter])
    assert gradients[E].shape == (() if youngs is None else (ROWS,))


def test_numpy_in_numpy_out(laws):
    inputs = {name: value.numpy() for name, value in inputs_of(laws[0]).items()}
    assert isinstance(laws[0].param_jacobian(inputs)["stress"][E], np.ndarray)
    assert isinstance(laws[0].param_vjp(inputs, {"stress": np.ones((ROWS, 6))})[SY], np.ndarray)


def test_rows_that_fail_raise(laws):
    inputs = inputs_of(laws[0])
    inputs["strain"][2] = 1e9
    with pytest.raises(ConvergenceError) as caught:
        laws[0].param_jacobian(inputs)
    assert list(caught.value.failed_rows) == [2]
    with pytest.raises(ConvergenceError):
        laws[0].param_vjp(inputs, {})


def test_without_parameter_derivatives(artifact):
    law = matlaw.load_model(artifact("linear_elastic-parameters") / "model_aoti.i", "model")
    inputs = {"strain": np.zeros((2, 6))}
    for call in (lambda: law.param_jacobian(inputs), lambda: law.param_vjp(inputs, {})):
        with pytest.raises(FatalError, match=r"-d :model\.E"):
            call()


@pytest.mark.inductor
def test_packages_agree_with_kernels(models, tmp_path):
    from matlaw.artifact import compile_model

    compile_model(
        models / "linear_elastic.i",
        "model",
        tmp_path,
        [":strain", ":model.E", ":model.nu"],
        ["model.E", "model.nu"],
        "both",
    )
    stub = tmp_path / "model_aoti.i"
    inputs = {"strain": 1e-3 * torch.sin(torch.arange(30.0, dtype=torch.float64)).reshape(5, 6)}
    native, package = (
        matlaw.load_model(stub, "model", backend=b).param_jacobian(inputs)["stress"] for b in ("native", "inductor")
    )
    for parameter, block in native.items():
        assert_close(package[parameter], block)
