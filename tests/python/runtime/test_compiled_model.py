"""CompiledModel and its eager twin: arrays in, the same kind out, errors with names."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import torch
from same_rows import assert_same

import matlaw
from matlaw import ConvergenceError, FatalError, InputError, Status
from matlaw.runtime import CompiledModel

RUN_ON = ["native", pytest.param("inductor", marks=pytest.mark.inductor), "eager"]


@pytest.fixture(params=RUN_ON)
def elastic(request, shared_law):
    return shared_law("linear_elastic", request.param)


@pytest.fixture(params=RUN_ON)
def viscoplastic(request, shared_law):
    return shared_law("j2_viscoplastic", request.param)


def strains(*batch: int) -> np.ndarray:
    return 1e-3 * np.sin(1.0 + np.arange(np.prod(batch, dtype=int) * 6)).reshape(*batch, 6)


def test_tangents_may_have_a_larger_batch(viscoplastic):
    """Many directions at one state, and one for each of several states."""
    inputs = first_step(strains(3))
    outputs, jacobian = viscoplastic.jacobian(inputs)
    directions = np.random.default_rng(7).normal(size=(4, 3, 6))
    values, slopes = viscoplastic.jvp(inputs, {"strain": directions})
    np.testing.assert_array_equal(values["stress"], outputs["stress"])
    expected = np.einsum("bij,dbj->dbi", jacobian["stress"]["strain"], directions)
    np.testing.assert_allclose(slopes["stress"], expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())
    one = {name: value[1] for name, value in inputs.items()}
    value, slopes = viscoplastic.jvp(one, {"strain": directions[:, 1]})
    assert value["stress"].shape == (6,)
    np.testing.assert_allclose(slopes["stress"], expected[:, 1], rtol=1e-10, atol=1e-10 * np.abs(expected).max())
    with pytest.raises(FatalError, match=r"(?s)broadcast"):
        viscoplastic.jvp(inputs, {"strain": directions[:2, 0]})


def test_a_column_of_numbers_is_no_batch_of_two_axes(viscoplastic):
    """(n, 1) for a scalar beside (n, 6) would be n x n rows."""
    inputs = first_step(strains(5))
    column = inputs | {"t": inputs["t"][:, None]}
    message = r"scalar 't' has shape \(5, 1\), expected \(5,\) .* 25 rows"
    for call in (viscoplastic.forward, viscoplastic.jacobian, viscoplastic.evaluate):
        with pytest.raises(FatalError, match=message):
            call(column)
    expected = viscoplastic.forward(inputs)["stress"]
    # All in one column, and a grid that every axis of is written out.
    columns = {name: value[:, None] for name, value in inputs.items()}
    np.testing.assert_array_equal(viscoplastic.forward(columns)["stress"], expected[:, None])
    grid = {name: value if name == "t" else value[None] for name, value in column.items()}
    np.testing.assert_array_equal(viscoplastic.forward(grid)["stress"], np.broadcast_to(expected, (5, 5, 6)))


def test_a_wrong_dtype_is_said_in_the_terms_of_the_caller(elastic):
    with pytest.raises(
        FatalError, match=r"'strain': expected an array of float64, .* of float32.*astype.*dtype='float32'"
    ):
        elastic.forward({"strain": strains(3).astype(np.float32)})
    with pytest.raises(
        FatalError, match=r"'strain': expected an array of float64, got one of int64; .*astype\(np.float64\)$"
    ):
        elastic.forward({"strain": np.ones((3, 6), dtype=np.int64)})
    with pytest.raises(
        FatalError, match=r"'strain': expected torch\.float64, got torch\.float32; .*\.to\(torch\.float64\)"
    ):
        elastic.forward({"strain": torch.zeros(3, 6)})


def first_step(strain) -> dict:
    zero = strain[..., 0] * 0
    return {
        "strain": strain,
        "t": zero + 0.1,
        "t~1": zero,
        "plastic_strain~1": strain * 0,
        "equivalent_plastic_strain~1": zero,
    }


def hooke(strain: np.ndarray, youngs: float = 200000.0, poisson: float = 0.3) -> np.ndarray:
    shear, lame = youngs / 2 / (1 + poisson), youngs * poisson / (1 + poisson) / (1 - 2 * poisson)
    identity = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    return 2 * shear * strain + lame * strain[..., :3].sum(-1, keepdims=True) * identity


@pytest.mark.parametrize("batch", [(), (1,), (3,), (2, 4), (0,)])
def test_numpy_in_numpy_out(elastic, batch):
    strain = strains(*batch)
    stress = elastic.forward({"strain": strain})["stress"]
    assert isinstance(stress, np.ndarray)
    assert stress.shape == (*batch, 6)
    np.testing.assert_allclose(stress, hooke(strain), rtol=1e-13, atol=1e-12)


def test_tensors_in_tensors_out(elastic):
    strain = torch.from_numpy(strains(4))
    result = elastic.evaluate({"strain": strain}, jacobian=True)
    for value in (*result.outputs.values(), result.status, result.iterations, result.dt_factor):
        assert isinstance(value, torch.Tensor)
    assert isinstance(result.jacobian["stress"]["strain"], torch.Tensor)
    assert torch.equal(result.outputs["stress"], elastic.forward({"strain": strain})["stress"])


def test_evaluate_of_arrays(elastic):
    result = elastic.evaluate({"strain": strains(4)}, jacobian=True)
    assert isinstance(result, matlaw.Evaluation)
    assert result.ok
    assert result.status.dtype == np.int8
    assert result.iterations.dtype == np.int32
    assert result.dt_factor.dtype == np.float64
    assert result.status.shape == result.iterations.shape == result.dt_factor.shape == (4,)
    block = np.broadcast_to(result.jacobian["stress"]["strain"], (4, 6, 6))
    np.testing.assert_allclose(block[0] @ strains(4)[0], result.outputs["stress"][0], rtol=1e-12)


def test_jvp_and_jacobian_of_arrays(elastic):
    strain, tangent = strains(4), strains(4)[::-1]
    outputs, derivative = elastic.jvp({"strain": strain}, {"strain": tangent})
    assert isinstance(derivative["stress"], np.ndarray)
    np.testing.assert_allclose(derivative["stress"], hooke(tangent), rtol=1e-12, atol=1e-10)
    same, blocks = elastic.jacobian({"strain": strain})
    np.testing.assert_array_equal(outputs["stress"], same["stress"])
    assert isinstance(blocks["stress"]["strain"], np.ndarray)


def test_numbers_and_unusual_arrays(elastic):
    strain = strains(4)
    expected = elastic.forward({"strain": strain})["stress"]
    read_only = strain.copy()
    read_only.flags.writeable = False
    for same in (strain.tolist(), read_only, np.asfortranarray(strain), strain[::-1].copy()[::-1]):
        np.testing.assert_array_equal(elastic.forward({"strain": same})["stress"], expected)
    np.testing.assert_array_equal(
        elastic.forward({"strain": np.broadcast_to(strain[0], (3, 6))})["stress"][2], expected[0]
    )


def test_inputs_are_left_as_they_are(viscoplastic):
    inputs = first_step(strains(5))
    kept = {name: value.copy() for name, value in inputs.items()}
    viscoplastic.evaluate(inputs, jacobian=True)
    for name, value in inputs.items():
        np.testing.assert_array_equal(value, kept[name])


def test_metadata_agrees(artifact, models):
    compiled = matlaw.load_model(artifact("j2_viscoplastic-native") / "model_aoti.i", "model")
    eager = matlaw.load_model(models / "j2_viscoplastic.i", "model")
    assert isinstance(compiled, CompiledModel)
    assert isinstance(eager, matlaw.EagerModel)
    for what in (
        "name", "input_names", "output_names", "input_base_shapes", "output_base_shapes", "input_sub_batch_shapes",
        "output_sub_batch_shapes", "input_types", "output_types", "device", "dtype",
    ):  # fmt: skip
        assert getattr(compiled, what) == getattr(eager, what), what
    assert sorted(compiled.state_pairs) == sorted(eager.state_pairs)
    assert compiled.derivative_pairs == [("stress", "strain")]
    assert ("stress", "strain") in eager.derivative_pairs
    assert "native" in repr(compiled)


def test_rows_that_fail_are_named(viscoplastic):
    strain = strains(64)
    good = viscoplastic.evaluate(first_step(strain))
    strain[[7, 40]] *= 1e9
    result = viscoplastic.evaluate(first_step(strain))
    assert result.failed_rows == [7, 40]
    assert not result.ok
    assert set(result.status[[7, 40]].tolist()) == {int(Status.NOT_CONVERGED)}
    assert np.isnan(result.outputs["stress"][[7, 40]]).all()
    others = np.setdiff1d(np.arange(64), [7, 40])
    np.testing.assert_allclose(result.outputs["stress"][others], good.outputs["stress"][others], rtol=1e-14, atol=0)
    for call in (viscoplastic.forward, viscoplastic.jacobian):
        with pytest.raises(ConvergenceError) as caught:
            call(first_step(strain))
        assert caught.value.failed_rows == [7, 40]
        assert caught.value.recoverable


def test_an_input_that_is_not_finite_is_named(viscoplastic):
    inputs = first_step(strains(5))
    inputs["plastic_strain~1"][3, 2] = np.inf
    with pytest.raises(InputError) as caught:
        viscoplastic.forward(inputs)
    assert caught.value.variable == "plastic_strain~1"
    assert caught.value.row == 3
    assert viscoplastic.evaluate(inputs).status.tolist() == [0, 0, 0, int(Status.BAD_INPUT), 0]


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({}, "strain"),
        ({"strain": np.zeros((4, 1))}, "strain.*6"),
        ({"strain": np.zeros((4, 6)), "starin": np.zeros((4, 6))}, "starin"),
        ({"strain": np.zeros((4, 6), np.float32)}, "strain.*(float64|Double)"),
        ({"strain": torch.zeros(4, 6, dtype=torch.float16)}, "strain.*(float64|Double)"),
        ({"strain": "much"}, "strain.*expected numbers"),
        ({"strain": np.array([object()] * 6)}, "strain.*expected numbers"),
        (np.zeros((4, 6)), "expected a dict"),
    ],
)
def test_a_wrong_call_is_a_fatal_error(elastic, inputs, message):
    with pytest.raises(FatalError, match=message):
        elastic.forward(inputs)


@pytest.fixture(params=RUN_ON)
def with_parameters(request, artifact, models):
    """The elastic law, of which all parameters can be set."""
    if request.param == "eager":
        return matlaw.load_model(models / "linear_elastic.i", "model")
    return matlaw.load_model(artifact("linear_elastic-parameters-both"), "model", backend=request.param)


@pytest.mark.parametrize("of_parameter", [(), (1,), (3,), (1, 1)])
@pytest.mark.parametrize("of_inputs", [(), (1,), (3,), (4, 1)])
def test_a_call_has_the_batch_of_inputs_and_parameters_together(with_parameters, of_inputs, of_parameter):
    law, inputs = with_parameters, {"strain": strains(*of_inputs)}
    law.set_parameter("model.E", np.full(of_parameter, 1e5))
    batch = np.broadcast_shapes(of_inputs, of_parameter)
    result = law.evaluate(inputs, jacobian=True)
    assert result.outputs["stress"].shape == (*batch, 6)
    np.testing.assert_allclose(
        result.outputs["stress"], np.broadcast_to(hooke(inputs["strain"], 1e5), (*batch, 6)), rtol=1e-12, atol=1e-12
    )
    assert result.status.shape == batch
    assert result.jacobian["stress"]["strain"].shape == (*batch, 6, 6)
    assert law.jvp(inputs, {"strain": np.ones(6)})[1]["stress"].shape == (*batch, 6)
    for name in ("model.E", "model.nu"):
        assert law.param_jacobian(inputs)["stress"][name].shape == (*batch, 6)
    assert law.param_vjp(inputs, {"stress": np.ones(6)})["model.E"].shape == of_parameter


def test_parameters(with_parameters):
    law = with_parameters
    assert set(law.named_parameters()) == {"model.E", "model.nu"}
    assert float(law.named_parameters()["model.E"]) == 200000.0
    law.set_parameter("model.E", 1000.0)
    np.testing.assert_allclose(law.forward({"strain": strains(3)})["stress"], hooke(strains(3), 1000.0), rtol=1e-12)
    each = np.array([1000.0, 2000.0, 3000.0])
    law.set_parameter("model.E", each)
    expected = np.stack([hooke(row, youngs) for row, youngs in zip(strains(3), each, strict=True)])
    np.testing.assert_allclose(law.forward({"strain": strains(3)})["stress"], expected, rtol=1e-12, atol=1e-15)
    with pytest.raises(FatalError, match=r"nothing\.E"):
        law.set_parameter("nothing.E", 1.0)
    with pytest.raises(FatalError, match=r"model\.E"):
        law.set_parameter("model.E", torch.ones((), dtype=torch.float32))
    for integers in (torch.ones((), dtype=torch.int64), np.array(1), torch.ones((), dtype=torch.bool)):
        with pytest.raises(FatalError, match=r"model\.E.*float64"):
            law.set_parameter("model.E", integers)
    law.set_parameter("model.E", 1000)  # a number without a type
    assert law.named_parameters()["model.E"].dtype == torch.float64
    law.set_parameter("model.E", each[:, None])
    with pytest.raises(FatalError, match=r"scalar 'model\.E' has shape \(3, 1\), expected \(3,\)"):
        law.forward({"strain": strains(3)})
    assert law.forward({"strain": strains(2)})["stress"].shape == (3, 2, 6)


def test_tolerances_of_float32(artifact):
    """What matlaw-compile advises is enough for rows that fail with tolerances made for float64."""
    law = matlaw.load_model(artifact("j2_viscoplastic-float32") / "model_aoti.i", "model", dtype="float32")
    expected = matlaw.load_model(artifact("j2_viscoplastic-native") / "model_aoti.i", "model")
    direction = np.random.default_rng(0).normal(size=(400, 6))
    inputs = first_step(direction / np.linalg.norm(direction, axis=1)[:, None] * np.linspace(1e-5, 3e-3, 400)[:, None])
    single = {name: value.astype(np.float32) for name, value in inputs.items()}
    assert law.evaluate(single).failed_rows
    law.set_solver_config(atol=1e-7)
    stress = law.forward(single)["stress"]
    assert stress.dtype == np.float32
    reference = expected.forward(inputs)["stress"]
    np.testing.assert_allclose(stress, reference, atol=1e-4 * np.abs(reference).max())


def test_a_law_without_parameters(artifact):
    law = matlaw.load_model(artifact("linear_elastic-native") / "model_aoti.i", "model")
    assert law.named_parameters() == {}
    with pytest.raises(FatalError, match=r"model\.E"):
        law.set_parameter("model.E", 1.0)


@pytest.mark.parametrize("backend", RUN_ON[:2])
def test_calls_from_threads(shared_law, backend):
    law = shared_law("j2_viscoplastic", backend)
    inputs = first_step(strains(500))
    expected = law.forward(inputs)["stress"].tobytes()
    found: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: found.extend(law.forward(inputs)["stress"].tobytes() for _ in range(5)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 20


@pytest.mark.parametrize("call", ["evaluate", "forward", "jacobian", "param_jacobian"])
@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (None, "inputs: expected a dict keyed by variable name, got NoneType"),
        ([1.0], "inputs: expected a dict keyed by variable name, got list"),
        ({3: np.zeros(6)}, "inputs: expected a dict keyed by variable name, got the key 3"),
        ({3: torch.zeros(6, dtype=torch.float64)}, "inputs: expected a dict keyed by variable name, got the key 3"),
        ({"strain": None}, "input 'strain': expected numbers"),
        ({"strain": torch.zeros(6)}, "input 'strain': expected torch.float64, got torch.float32; convert it with"),
    ],
)
def test_inputs_that_are_no_mapping_of_numbers(elastic, call, inputs, message):
    with pytest.raises(FatalError, match=message):
        getattr(elastic, call)(inputs)


def test_every_kind_of_tensor_is_one(elastic):
    strain = torch.rand(4, 6, dtype=torch.float64) * 1e-3
    expected = elastic.forward({"strain": strain})["stress"]
    kinds = [torch.nn.Parameter(strain), strain.clone().requires_grad_(), strain.mT.contiguous().mT]
    for kind in kinds:
        inputs = {"strain": kind}
        found = elastic.forward(inputs)["stress"]
        assert inputs["strain"] is kind
        assert not found.requires_grad
        torch.testing.assert_close(found, expected, rtol=0, atol=0)


@pytest.mark.parametrize("backend", RUN_ON[:2])
def test_memory_of_a_call_is_bounded(shared_law, backend):
    def load(**options):
        return shared_law("j2_viscoplastic", backend, **options)

    free = load(threads=2)
    smallest = load(threads=1, max_chunk_rows=8).memory_per_call()
    inputs = first_step(strains(3000))
    expected = free.evaluate(inputs, jacobian=True)
    for bound in (smallest, 3 * smallest, 20 * smallest):
        law = load(threads=2, max_bytes=bound)
        assert law.memory_per_call() <= bound
        found = law.evaluate(inputs, jacobian=True)
        assert_same(found.outputs, expected.outputs, backend)
        assert_same(found.jacobian["stress"], expected.jacobian["stress"], backend)
    with pytest.raises(FatalError, match=rf"max_bytes is {smallest - 1}; .* needs {smallest} bytes for .* 8 rows"):
        load(max_bytes=smallest - 1)
    with pytest.raises(FatalError, match="max_bytes is -1; it must not be negative"):
        load(max_bytes=-1)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"miters": -1}, "miters is -1; it must be a whole number"),
        ({"rtol": -1e-9}, "rtol is -1e-09; it must be a number"),
        ({"ls_c": float("nan")}, "ls_c is nan; it must be between 0 and 1"),
    ],
)
def test_a_wrong_setting_is_said_as_it_was_given(viscoplastic, settings, message):
    kept = viscoplastic.solver_config
    with pytest.raises(FatalError, match=message):
        viscoplastic.set_solver_config(**settings)
    assert viscoplastic.solver_config == kept


def test_a_tangent_that_does_not_fit_is_told_from_the_input(shared_law):
    law = shared_law("j2_viscoplastic", "native")
    with pytest.raises(FatalError, match=r"'strain' does not broadcast .*'strain \(tangent\)', which has extent 4"):
        law.jvp(first_step(strains(9)), {"strain": np.ones((4, 6))})


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([("stress", "strian")], r"no derivative 'stress:strian'; it has '?stress:strain"),
        (["stress:strain"], r"pairs: expected \(output, input\) for each.*got 'stress:strain'"),
        ([("stress", 0)], r"pairs: expected \(output, input\) for each.*got \('stress', 0\)"),
    ],
)
def test_a_derivative_that_there_is_not_is_not_passed_over(elastic, pairs, message):
    with pytest.raises(matlaw.FatalError, match=message):
        elastic.evaluate({"strain": np.zeros(6)}, jacobian=True, pairs=pairs)


def test_masked_values_are_no_numbers(elastic):
    strain = np.ma.masked_greater(np.zeros((3, 6)), 1.0)
    assert elastic.evaluate({"strain": strain}).ok
    strain[1] = np.ma.masked
    with pytest.raises(matlaw.FatalError, match=r"input 'strain': values of it are masked"):
        elastic.evaluate({"strain": strain})
