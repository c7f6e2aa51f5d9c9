"""Derivatives by parameters of compiled laws against those of the same laws evaluated eagerly."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
import torch

import matlaw
from matlaw import ConvergenceError, FatalError
from matlaw.eager import EagerModel

E, SY = "update.system.elasticity.E", "update.system.normality.flow.yield.sy"
ROWS = 9


@pytest.fixture(params=["native", pytest.param("inductor", marks=pytest.mark.inductor)])
def laws(request, artifact, models):
    """Compiled and eager."""
    if request.param == "native":
        compiled = matlaw.load_model(artifact("j2_viscoplastic-parameter-derivatives") / "model_aoti.i", "model")
        return compiled, matlaw.load_model(models / "j2_viscoplastic.i", "model")
    stub = artifact("j2_viscoplastic-substepping-both") / "model_aoti.i"
    both = matlaw.load_model(stub, "model", backend="inductor"), matlaw.load_model(stub, "model", runtime="eager")
    for law in both:
        law.set_solver_config(max_substepping_level=0)
    return both


def inputs_of(law) -> dict[str, torch.Tensor]:
    """Rows from elastic to far beyond yield."""
    rng = np.random.default_rng(3)
    direction = rng.normal(size=(ROWS, 6))
    scale = np.linspace(2e-4, 3e-3, ROWS)[:, None] / np.linalg.norm(direction, axis=1, keepdims=True)
    values = {
        "strain": torch.tensor(direction * scale),
        "strain~1": torch.zeros(ROWS, 6, dtype=torch.float64),
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


def test_the_adjoint_after_and_beside_failing_calls_has_the_same_bits(laws):
    law = laws[0]
    inputs, seeds = inputs_of(law), {"stress": torch.ones(ROWS, 6, dtype=torch.float64)}
    bad = inputs | {"strain": inputs["strain"].clone()}
    bad["strain"][2] = 1e9
    expected = law.param_vjp(inputs, seeds)
    wrong: list[object] = []

    def call(fails: bool) -> None:
        for _ in range(30):
            try:
                found = law.param_vjp(bad if fails else inputs, seeds)
            except ConvergenceError as error:
                if not fails or error.failed_rows != [2]:
                    wrong.append(error)
                continue
            if fails or any(not torch.equal(found[name], value) for name, value in expected.items()):
                wrong.append(found)

    threads = [threading.Thread(target=call, args=(fails,)) for fails in (False, True, False, True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    call(False)
    assert not wrong


@pytest.mark.parametrize("shape", [(3,), (2,), (ROWS, 2), (0,)])
def test_a_parameter_per_row_that_fits_no_row_is_named(laws, shape):
    for law in laws:
        inputs = inputs_of(law)
        law.set_parameter(E, np.full(shape, 2e5))
        for call in (law.evaluate, law.forward, law.param_jacobian, lambda x, law=law: law.param_vjp(x, {})):
            with pytest.raises(FatalError, match=rf"broadcast.*{E}|{E}.*broadcast"):
                call(inputs)
        law.set_parameter(E, 2e5)
        assert law.evaluate(inputs).ok


def test_without_parameter_derivatives(artifact):
    law = matlaw.load_model(artifact("linear_elastic-parameters") / "model_aoti.i", "model")
    inputs = {"strain": np.zeros((2, 6))}
    for call in (lambda: law.param_jacobian(inputs), lambda: law.param_vjp(inputs, {})):
        with pytest.raises(FatalError, match=r"-d :model\.E"):
            call()


@pytest.mark.inductor
def test_packages_agree_with_kernels(artifact):
    stub = artifact("linear_elastic-parameters-both") / "model_aoti.i"
    inputs = {"strain": 1e-3 * torch.sin(torch.arange(30.0, dtype=torch.float64)).reshape(5, 6)}
    native, package = (
        matlaw.load_model(stub, "model", backend=b).param_jacobian(inputs)["stress"] for b in ("native", "inductor")
    )
    for parameter, block in native.items():
        assert_close(package[parameter], block)


TABLE = """
[Tensors]
  [knots]
    type = Python
    expr = 'Scalar(torch.linspace(0.0, 1.0, 100, dtype=torch.float64), sub_batch_ndim=1)'
  []
  [values]
    type = Python
    expr = 'Scalar(torch.sin(torch.linspace(0.0, 11.0, 100, dtype=torch.float64)), sub_batch_ndim=1)'
  []
[]
[Models]
  [model]
    type = ScalarLinearInterpolation
    argument = 'x'
    output = 'y'
    abscissa = 'knots'
    ordinate = 'values'
  []
[]
"""


@pytest.fixture(scope="module", params=["compiled", "eager"])
def table(request, tmp_path_factory):
    """A law with a parameter of 100 numbers: ``table(threads=1)`` loads it; an eager one has no such options."""
    from matlaw.artifact import compile_model

    folder = tmp_path_factory.mktemp("table")
    (folder / "table.i").write_text(TABLE)
    if request.param == "eager":
        return lambda **_: matlaw.load_model(folder / "table.i", "model")
    derivatives, parameters = [":model.ordinate"], ["model.ordinate"]
    compile_model(folder / "table.i", "model", folder / "made", derivatives, parameters, "native")
    return lambda **options: matlaw.load_model(folder / "made" / "model_aoti.i", "model", **options)


def peak_bytes() -> int:
    """Most memory that this process had resident since the peak was last forgotten."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split("VmHWM:")[1].split()[0])


def test_the_adjoint_by_a_large_parameter_needs_little_memory(table):
    law = table(threads=2)
    rows = 60000 if isinstance(law, EagerModel) else 100000  # whose derivatives take 48 or 80 MB
    rng = np.random.default_rng(4)
    inputs, cotangents = {"x": rng.uniform(size=rows)}, {"y": rng.normal(size=rows)}
    few = slice(0, 1000)
    block = law.param_jacobian({"x": inputs["x"][few]})["y"]["model.ordinate"]
    found = law.param_vjp({"x": inputs["x"][few]}, {"y": cotangents["y"][few]})["model.ordinate"]
    np.testing.assert_allclose(found, cotangents["y"][few] @ block, rtol=1e-12, atol=1e-12)
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pytest.skip("the peak of memory cannot be reset here")
    before = peak_bytes()
    found = law.param_vjp(inputs, cotangents)["model.ordinate"]
    # Eager operations on all rows at once take 280 MB.
    assert peak_bytes() - before < (150e6 if isinstance(law, EagerModel) else 40e6)
    for options in [] if isinstance(law, EagerModel) else [{"threads": 1}, {"threads": 3, "max_chunk_rows": 8}]:
        np.testing.assert_array_equal(table(**options).param_vjp(inputs, cotangents)["model.ordinate"], found)
    # The weights of the two knots around a point sum to one.
    np.testing.assert_allclose(found.sum(), cotangents["y"].sum(), rtol=1e-9)


def test_the_adjoint_names_rows_by_their_place_in_the_batch(table):
    law = table()
    inputs = {"x": np.linspace(0.0, 1.0, 30000)}
    inputs["x"][[20000, 29999]] = np.nan
    with pytest.raises(matlaw.InputError, match="20000"):
        law.param_vjp(inputs, {"y": np.ones(30000)})
    assert law.last_failure().failed_rows == [20000, 29999]


@pytest.mark.parametrize("rows", [0, 1, 9])
def test_the_adjoint_of_few_rows(table, rows):
    law = table()
    x = np.linspace(0.05, 0.95, rows)
    values = np.stack([np.linspace(0.0, 1.0, 100)] * rows) if rows else np.zeros((1, 100))
    law.set_parameter("model.ordinate", values)
    found = law.param_vjp({"x": x}, {"y": np.ones(())})["model.ordinate"]
    assert found.shape == values.shape
    np.testing.assert_allclose(found.sum(axis=-1), np.ones(max(rows, 1)) * (rows > 0), rtol=1e-12)
