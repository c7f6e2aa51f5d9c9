"""A law on several devices gives what it gives on one."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from same_rows import assert_same

import matlaw
from matlaw import AggregateError, ConvergenceError, FatalError
from matlaw.dispatch import DeviceConfig, DispatchedModel, SimpleScheduler, StaticHybridScheduler, device_of_rank
from matlaw.dispatch import load_model as load_dispatched


def two_workers(chunk_rows: int = 7) -> StaticHybridScheduler:
    return StaticHybridScheduler([DeviceConfig("cpu", chunk_rows)] * 2, several_cpus=True)


def step(law, rows: int = 40) -> dict[str, np.ndarray]:
    shapes = zip(law.input_names, law.input_base_shapes, strict=True)
    inputs = {name: np.zeros((rows, *shape)) for name, shape in shapes}
    inputs["strain"] = 2e-3 * np.sin(np.arange(6.0 * rows)).reshape(rows, 6)
    if "t" in inputs:
        inputs["t"] = np.full(rows, 0.5)
    return inputs


@pytest.fixture(params=["native", pytest.param("inductor", marks=pytest.mark.inductor)])
def pair(request, artifact):
    """A law alone and on two workers."""
    native = request.param == "native"
    made = artifact("j2_viscoplastic-parameter-derivatives" if native else "j2_viscoplastic-substepping-both")
    laws = (
        matlaw.load_model(made / "model", "model", backend=request.param),
        load_dispatched(made / "model", "model", two_workers(), backend=request.param),
    )
    for law in laws:
        law.set_solver_config(max_substepping_level=0)
    return laws


def test_outputs_derivatives_and_verdicts(pair):
    one, several = pair
    assert isinstance(several, DispatchedModel)
    assert repr(several) == "DispatchedModel('model' on cpu, cpu)"
    assert several.input_names == one.input_names
    assert several.backend == one.backend
    assert several.memory_per_call() == 2 * one.memory_per_call()
    inputs = step(one)
    expected, found = one.evaluate(inputs, jacobian=True), several.evaluate(inputs, jacobian=True)
    assert isinstance(found.outputs["stress"], np.ndarray)
    assert_same(found.outputs, expected.outputs, one.backend)
    assert_same(found.jacobian["stress"], expected.jacobian["stress"], one.backend)
    np.testing.assert_array_equal(found.iterations, expected.iterations)
    tensors = {name: torch.from_numpy(value) for name, value in inputs.items()}
    assert isinstance(several.forward(tensors)["stress"], torch.Tensor)


def test_tangents_with_a_larger_batch(pair):
    one, law = pair
    inputs = step(one, 5)
    directions = np.random.default_rng(3).normal(size=(8, 5, 6))
    values, slopes = law.jvp(inputs, {"strain": directions})
    expected, expected_slopes = one.jvp(inputs, {"strain": directions})
    assert slopes["stress"].shape == (8, 5, 6)
    assert_same(values, expected, one.backend)
    np.testing.assert_allclose(slopes["stress"], expected_slopes["stress"], rtol=1e-12)


def test_parameters_and_settings_reach_every_copy(pair):
    one, several = pair
    inputs, name = step(one), "update.system.elasticity.E"
    for value in (1.5e5, np.linspace(1e5, 2e5, 40)):
        for law in pair:
            law.set_parameter(name, np.asarray(value))
        assert_same(several.forward(inputs), one.forward(inputs), one.backend)
        seed = {"stress": np.ones((40, 6))}
        np.testing.assert_allclose(several.param_vjp(inputs, seed)[name], one.param_vjp(inputs, seed)[name], rtol=1e-12)
        assert_same(several.param_jacobian(inputs)["stress"], one.param_jacobian(inputs)["stress"], one.backend)
    several.set_solver_config(miters=1)
    assert several.solver_config["miters"] == 1
    assert several.evaluate(inputs).failed_rows


def test_failures_carry_rows_of_the_whole_batch(pair):
    _, several = pair
    inputs = step(several)
    inputs["strain"][[3, 30]] *= 1e9
    with pytest.raises(ConvergenceError) as raised:
        several.forward(inputs)
    assert raised.value.failed_rows == [3, 30]
    with pytest.raises(AggregateError, match=r"2 chunks of the call failed\..*rows 0 to 6.*rows 28 to 34") as gathered:
        several.jvp(inputs, {"strain": np.ones(6)})
    assert gathered.value.recoverable
    assert gathered.value.failed_rows == [3, 30]
    assert [failure[:3] for failure in gathered.value.failures] == [("cpu", 0, 7), ("cpu", 28, 7)]
    inputs["strain"][10] = np.nan
    with pytest.raises(AggregateError) as gathered:
        several.jvp(inputs, {"strain": np.ones(6)})
    assert not gathered.value.recoverable
    assert not several.evaluate(step(several)).failed_rows


def test_a_derivative_that_the_law_lacks_is_refused_as_by_one(pair):
    for law in pair:
        with pytest.raises(FatalError, match="has no derivative 'stress:x'"):
            law.evaluate(step(law), jacobian=True, pairs=[("stress", "x")])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SimpleScheduler("cpu", 2.5), "SimpleScheduler: chunk_rows must be a whole number; got 2.5"),
        (lambda: DeviceConfig("cpu", capacity="many"), "DeviceConfig: capacity must be a whole number; got 'many'"),
        (lambda: load_dispatched("law.i", "model", None), "scheduler must be a scheduler, such as .*; got None"),
    ],
)
def test_schedulers_of_wrong_types(make, message):
    with pytest.raises(FatalError, match=message):
        make()


def test_rows_that_fail_leave_the_others_alone(pair):
    one, several = pair
    inputs = step(one)
    inputs["strain"][3], inputs["strain"][30] = np.nan, 1e9
    expected, found = one.evaluate(inputs, jacobian=True), several.evaluate(inputs, jacobian=True)
    assert found.failed_rows == expected.failed_rows == [3, 30]
    assert_same(found.outputs, expected.outputs, one.backend)
    assert_same(found.jacobian["stress"], expected.jacobian["stress"], one.backend)


def test_the_last_failure_is_that_of_the_whole_call(pair):
    one, several = pair
    inputs = step(one)
    inputs["strain"][[3, 30]] *= 1e9
    for law in pair:
        law.evaluate(inputs, history=True)
    found, expected = several.last_failure(), one.last_failure()
    assert found.failed_rows == [3, 30]
    assert found.message() == expected.message()
    for row, same in zip(found.rows, expected.rows, strict=True):
        assert_same({"residuals": row.residuals}, {"residuals": same.residuals}, one.backend)


def test_an_eager_law_tells_of_its_failures_too():
    import artifacts

    law = load_dispatched(artifacts.MODELS / "j2_viscoplastic.i", "model", two_workers(16))
    inputs = step(law)
    inputs["strain"][[3, 30]] *= 1e9
    with pytest.raises(ConvergenceError, match=r"2 of 40 rows \(3, 30\)"):
        law.forward(inputs)
    assert [row.row for row in law.last_failure().rows] == [3, 30]


def test_a_simple_scheduler(artifact):
    stub = artifact("linear_elastic-native") / "model_aoti.i"
    scheduler = SimpleScheduler("cpu", chunk_rows=16)
    assert [(d.device, d.chunk_rows, d.capacity) for d in scheduler.devices] == [("cpu", 16, 32)]
    law = load_dispatched(stub, "model", scheduler)
    expected = matlaw.load_model(stub, "model").jacobian(step(law))
    found = law.jacobian(step(law))
    np.testing.assert_array_equal(found[0]["stress"], expected[0]["stress"])
    assert found[1]["stress"]["strain"].shape == (6, 6)


def test_an_input_file_is_evaluated_eagerly_on_each_worker():
    import artifacts

    law = load_dispatched(artifacts.MODELS / "j2_viscoplastic.i", "model", two_workers(16))
    assert law.backend == "eager"
    expected = matlaw.load_model(artifacts.MODELS / "j2_viscoplastic.i", "model").jacobian(step(law))
    found = law.jacobian(step(law))
    np.testing.assert_allclose(found[0]["stress"], expected[0]["stress"], rtol=1e-12, atol=1e-10)
    np.testing.assert_allclose(found[1]["stress"]["strain"], expected[1]["stress"]["strain"], rtol=1e-10, atol=1e-6)
    with pytest.raises(FatalError, match="evaluated eagerly"):
        law.memory_per_call()


def test_wrong_schedulers_are_refused(artifact):
    with pytest.raises(FatalError, match="at most one CPU"):
        StaticHybridScheduler([DeviceConfig("cpu", 8), DeviceConfig("cpu", 8)])
    with pytest.raises(FatalError, match="There is no device 'gpu'"):
        SimpleScheduler("gpu")
    with pytest.raises(FatalError, match="capacity of 4 rows is below one chunk of 8 rows"):
        SimpleScheduler("cpu", 8, 4)
    with pytest.raises(FatalError, match="cuda"):
        load_dispatched(
            artifact("linear_elastic-native") / "model_aoti.i", "model", SimpleScheduler("cuda"), fallback="none"
        )


def test_devices_of_ranks():
    assert [device_of_rank(rank, 2, ["cuda:0", "cuda:1"]) for rank in (0, 1)] == ["cuda:0", "cuda:1"]
    assert device_of_rank(2, 3, ["cuda:0", "cuda:1"], share=True) == "cuda:0"
    with pytest.raises(FatalError, match="3 processes run on this machine, but it has 2 devices"):
        device_of_rank(0, 3, ["cuda:0", "cuda:1"])
