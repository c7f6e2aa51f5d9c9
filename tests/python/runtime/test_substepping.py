"""Increments too large for one solve, compiled and eager: J2 viscoplasticity far beyond what Newton can do at once."""

import numpy as np
import pytest
import torch
from same_rows import assert_same, blocks_by_row, rows_of

import matlaw
from matlaw import Status
from matlaw.eager import EagerModel
from matlaw.errors import ConvergenceError, FatalError, InputFileError
from matlaw.host import QuadratureBatch

OVERRIDES = ["Models/update/max_substepping_level:=7", "Models/update/incremental_variables:='strain'"]
DIRECTION = np.array([1.0, -0.4, -0.3, 0.1, 0.0, 0.5])
#: Elastic, plastic at once, and what takes a few and many substeps.
SIZES = np.array([5e-4, 2e-3, 8e-3, 2e-2, 1e-4, 5e-2, 3e-3])
STATES = ("plastic_strain", "equivalent_plastic_strain")


@pytest.fixture(scope="module")
def folder(artifact):
    """The compiled law, with derivatives by all that moves in a step and by parameters."""
    return artifact("j2_viscoplastic-substepping-both")


@pytest.fixture(params=["native", "inductor", "eager"])
def law(request, folder):
    if request.param == "eager":
        return matlaw.load_model(folder / "model", "model", runtime="eager")
    return matlaw.load_model(folder / "model_aoti.i", "model", backend=request.param)


def inputs_of(sizes=SIZES, old_size=2e-4):
    rows = len(sizes)
    return {
        "strain": np.outer(sizes, DIRECTION),
        "strain~1": np.outer(np.full(rows, old_size), DIRECTION[::-1]),
        "t": np.full(rows, 0.7),
        "t~1": np.full(rows, 0.6),
        "plastic_strain~1": np.tile([1e-4, -5e-5, -5e-5, 0.0, 0.0, 2e-5], (rows, 1)),
        "equivalent_plastic_strain~1": np.full(rows, 2e-4),
    }


def by_hand(law, inputs, level):
    """One row, driven in steps as a host would do it that halves a step that fails."""
    steps = 2**level
    config = law.solver_config
    law.set_solver_config(max_substepping_level=0)
    at, size, count = 0, steps, 0
    old = {name: value.copy() for name, value in inputs.items()}
    while at < steps:
        end = at + size
        now = dict(old)
        for name in ("strain", "t"):
            whole, begin = inputs[name], inputs[f"{name}~1"]
            now[name] = whole if end == steps else begin + end / steps * (whole - begin)
        result = law.evaluate(now)
        if result.failed_rows:
            assert size > 1
            size //= 2
            continue
        at, count = end, count + 1
        for name in STATES:
            old[f"{name}~1"] = result.outputs[name]
        for name in ("strain", "t"):
            old[f"{name}~1"] = now[name]
        easy = result.iterations[0] <= max(4, config["miters"] // 3)
        size *= 2 if easy and at % (2 * size) == 0 else 1
    law.set_solver_config(max_substepping_level=config["max_substepping_level"])
    return result.outputs, count


def test_substeps_are_the_steps_that_a_host_would_take(law):
    law.set_solver_config(substep_del_tol=1e10)  # a step at level 0 looks at the residual alone
    inputs = inputs_of()
    found = law.evaluate(inputs)
    assert not found.failed_rows
    assert found.substeps[0] == found.substeps[1] == 1
    assert len(set(found.substeps)) >= 4
    for row in range(len(SIZES)):
        outputs, count = by_hand(law, {name: value[row : row + 1] for name, value in inputs.items()}, 7)
        assert found.substeps[row] == count
        backend = "eager" if isinstance(law, EagerModel) else law.backend
        assert_same(rows_of(found.outputs, [row]), outputs, backend)


@pytest.mark.parametrize("backend", ["native", "inductor"])
def test_compiled_and_eager_take_the_same_substeps(folder, backend):
    law = matlaw.load_model(folder / "model_aoti.i", "model", backend=backend)
    assert law.backend == backend
    compiled = law.evaluate(inputs_of(), jacobian=True)
    eager = matlaw.load_model(folder / "model", "model", runtime="eager").evaluate(inputs_of(), jacobian=True)
    np.testing.assert_array_equal(compiled.substeps, eager.substeps)
    np.testing.assert_array_equal(compiled.iterations, eager.iterations)
    np.testing.assert_array_equal(compiled.dt_factor, eager.dt_factor)
    for name, value in eager.outputs.items():
        np.testing.assert_allclose(compiled.outputs[name], value, rtol=1e-9, atol=1e-12)
    for output, row in eager.jacobian.items():
        for given, block in row.items():
            scale = np.abs(block).max()
            np.testing.assert_allclose(compiled.jacobian[output][given], block, rtol=1e-7, atol=1e-9 * scale)


def test_without_substeps_these_rows_fail(law):
    law.set_solver_config(max_substepping_level=0)
    found = law.evaluate(inputs_of())
    assert len(found.failed_rows) >= 3
    assert np.all(found.substeps == (found.status == Status.CONVERGED))


def test_the_tangent_is_that_of_the_chain_of_substeps(law):
    inputs = inputs_of()
    found = law.evaluate(inputs, jacobian=True)
    assert not found.failed_rows
    for given, step in (("strain", 1e-8), ("strain~1", 1e-8), ("t", 1e-6), ("t~1", 1e-6), ("plastic_strain~1", 1e-8)):
        block = np.broadcast_to(found.jacobian["stress"][given], (len(SIZES), 6, *inputs[given].shape[1:])).reshape(
            len(SIZES), 6, -1
        )
        numbers = np.empty_like(block)
        for k in range(block.shape[-1]):
            sides = []
            for sign in (1.0, -1.0):
                value = inputs[given].reshape(len(SIZES), -1).copy()
                value[:, k] += sign * step
                moved = law.evaluate({**inputs, given: value.reshape(inputs[given].shape)})
                np.testing.assert_array_equal(moved.substeps, found.substeps)
                sides.append(moved.outputs["stress"])
            numbers[..., k] = (sides[0] - sides[1]) / (2.0 * step)
        scale = np.abs(block).max(axis=(1, 2), keepdims=True) + 1e-3
        np.testing.assert_allclose(numbers / scale, block / scale, atol=2e-5, err_msg=given)


def test_directional_derivative(law):
    inputs = inputs_of()
    direction = {"strain": np.outer(np.arange(1.0, 8.0), DIRECTION), "t": np.full(7, 0.3)}
    _, along = law.jvp(inputs, {"strain": direction["strain"]})
    blocks = law.jacobian(inputs)[1]
    np.testing.assert_allclose(
        along["stress"], np.einsum("bij,bj->bi", blocks["stress"]["strain"], direction["strain"]), rtol=1e-9
    )


def test_derivatives_by_parameters(law):
    inputs = inputs_of()
    blocks = law.param_jacobian(inputs)["stress"]
    substeps = law.evaluate(inputs).substeps
    for name in ("update.system.normality.flow.yield.sy", "update.system.elasticity.E"):
        value = law.named_parameters()[name].item()
        sides = []
        for sign in (1.0, -1.0):
            law.set_parameter(name, torch.tensor(value * (1.0 + sign * 1e-6), dtype=torch.float64))
            moved = law.evaluate(inputs)
            np.testing.assert_array_equal(moved.substeps, substeps)
            sides.append(moved.outputs["stress"])
        law.set_parameter(name, torch.tensor(value, dtype=torch.float64))
        numbers = (sides[0] - sides[1]) / (2e-6 * value)
        scale = np.abs(blocks[name]).max(axis=1, keepdims=True) + 1e-9
        np.testing.assert_allclose(numbers / scale, blocks[name] / scale, atol=2e-5, err_msg=name)
    gradient = law.param_vjp(inputs, {"stress": np.ones((7, 6))})
    assert gradient["update.system.elasticity.E"].item() == pytest.approx(
        blocks["update.system.elasticity.E"].sum(), rel=1e-9
    )


@pytest.mark.parametrize("backend", ["native", "inductor"])
@pytest.mark.parametrize("options", [{}, {"threads": 4, "max_chunk_rows": 8}, {"max_chunk_rows": 64}])
def test_a_row_is_the_same_in_any_company(folder, options, backend):
    sizes = np.tile(SIZES, 11) * np.linspace(0.9, 1.1, 77)
    inputs = inputs_of(sizes)
    whole = matlaw.load_model(folder / "model_aoti.i", "model", backend=backend).evaluate(inputs, jacobian=True)
    law = matlaw.load_model(folder / "model_aoti.i", "model", backend=backend, **options)
    order = np.random.default_rng(3).permutation(77)
    for rows in (order, [5]):
        found = law.evaluate(rows_of(inputs, rows), jacobian=True)
        np.testing.assert_array_equal(found.substeps, whole.substeps[rows])
        np.testing.assert_array_equal(found.iterations, whole.iterations[rows])
        assert_same(found.outputs, rows_of(whole.outputs, rows), backend)
        blocks = rows_of(blocks_by_row(whole.jacobian, 77), rows)
        assert len(blocks) >= 5
        assert_same(blocks_by_row(found.jacobian, len(rows)), blocks, backend)


def test_a_row_that_is_out_of_levels_fails_and_the_next_call_does_not_know(law):
    inputs = inputs_of()
    before = law.evaluate(inputs, jacobian=True)
    law.set_solver_config(max_substepping_level=1)
    failed = law.evaluate(inputs, jacobian=True)
    assert failed.failed_rows
    assert 5 in failed.failed_rows
    for row in failed.failed_rows:
        assert failed.status[row] == Status.NOT_CONVERGED
        assert failed.dt_factor[row] == 0.25
        assert all(np.isnan(value[row]).all() for value in failed.outputs.values())
        assert np.isnan(failed.jacobian["stress"]["strain"][row]).all()
    with pytest.raises(ConvergenceError) as raised:
        law.forward(inputs)
    assert raised.value.failed_rows == failed.failed_rows
    law.set_solver_config(max_substepping_level=7)
    again = law.evaluate(inputs, jacobian=True)
    for name, value in before.outputs.items():
        np.testing.assert_array_equal(again.outputs[name], value)
    np.testing.assert_array_equal(again.jacobian["stress"]["strain"], before.jacobian["stress"]["strain"])


def test_a_bad_row_stays_bad(law):
    inputs = inputs_of()
    inputs["strain"][2, 0] = np.nan
    found = law.evaluate(inputs)
    assert found.failed_rows == [2]
    assert found.status[2] == Status.BAD_INPUT
    assert found.substeps[2] == 0


def test_a_host_that_cannot_cut_its_step_gets_through(law):
    batch = QuadratureBatch(law, len(SIZES))
    for time in (0.1, 0.2):
        batch.set_input("strain", np.outer(SIZES * time / 0.1, DIRECTION))
        batch.set_input("t", np.full(len(SIZES), time))
        verdict = batch.evaluate(tangent=True)
        assert verdict.ok
        assert max(verdict.substeps) > 4
        batch.commit()
    law.set_solver_config(max_substepping_level=0)
    batch.set_input("strain", np.outer(SIZES * 3.0, DIRECTION))
    batch.set_input("t", np.full(len(SIZES), 0.3))
    assert not batch.evaluate().ok


def test_settings(law):
    config = law.solver_config
    assert (config["max_substepping_level"], config["substep_del_tol"]) == (7, 1e-6)
    for settings, message in (
        ({"max_substepping_level": -1}, "max_substepping_level"),
        ({"max_substepping_level": 31}, "from 0 to 30"),
        ({"substep_del_tol": 0.0}, "substep_del_tol"),
    ):
        with pytest.raises(FatalError, match=message):
            law.set_solver_config(**settings)
    assert law.solver_config == config


def test_a_step_that_has_not_settled_does_not_count(law):
    inputs = inputs_of(np.array([2e-3]))
    law.set_solver_config(rtol=0.5, atol=1e-14, substep_del_tol=1e10)
    loose = law.evaluate(inputs)
    law.set_solver_config(substep_del_tol=1e-6)
    careful = law.evaluate(inputs)
    assert careful.iterations[0] > loose.iterations[0]
    law.set_solver_config(max_substepping_level=0)
    assert loose.iterations[0] < law.evaluate(inputs).iterations[0] <= careful.iterations[0]


def test_the_old_value_of_an_incremental_variable_is_an_input(models):
    law = matlaw.load_model(models / "j2_viscoplastic.i", "model")
    assert "strain~1" not in law.input_names
    law = EagerModel(models / "j2_viscoplastic.i", "model", overrides=OVERRIDES)
    assert ("strain", "strain~1", "force") in [(p.current, p.old, p.role) for p in law.state_pairs]
    # An input of the law, not of the update.
    law = EagerModel(models / "radial_return.i", "model", overrides=["Models/update/incremental_variables:='strain'"])
    assert "strain~1" in law.input_names


@pytest.mark.parametrize(
    ("variable", "message"),
    [
        ("strian", "strain"),
        ("t~1", "list 't' itself"),
        ("plastic_strain", "computed by model 'model' itself"),
    ],
)
def test_wrong_incremental_variables(variable, message, models):
    with pytest.raises(InputFileError, match=message):
        EagerModel(
            models / "j2_viscoplastic.i", "model", overrides=[f"Models/update/incremental_variables:='{variable}'"]
        )


def test_a_variable_that_the_law_computes_itself_cannot_be_ramped(models):
    overrides = ["Models/update/incremental_variables:='elastic_trial_stress'"]
    with pytest.raises(InputFileError, match=r"computed by model 'model' itself.* strain"):
        EagerModel(models / "radial_return.i", "model", overrides=overrides)


@pytest.mark.inductor
def test_a_law_of_pt2_graphs_takes_substeps_without_a_recompile(artifact):
    place = artifact("radial_return-inductor")
    laws = [
        matlaw.load_model(place, "model"),
        matlaw.load_model(place / "model", "model", runtime="eager"),
    ]
    assert laws[0].backend == "inductor"
    assert laws[0].solver_config["max_substepping_level"] == 0
    inputs = {name: value for name, value in inputs_of(SIZES[:2]).items() if name in laws[0].input_names}
    for law in laws:
        law.set_solver_config(max_substepping_level=4, miters=8)
    found, expected = (law.evaluate(inputs, jacobian=True) for law in laws)
    assert not found.failed_rows
    assert found.substeps[0] == 1
    assert found.substeps[1] > 1
    np.testing.assert_array_equal(found.substeps, expected.substeps)
    block = expected.jacobian["stress"]["strain"]
    np.testing.assert_allclose(found.jacobian["stress"]["strain"], block, rtol=1e-9, atol=1e-9 * np.abs(block).max())


@pytest.mark.inductor
def test_derivatives_without_their_pt2_graphs_are_refused_by_name(artifact):
    stub = artifact("j2_viscoplastic-both") / "model_aoti.i"
    law = matlaw.load_model(stub, "model", backend="inductor")
    inputs = {name: value for name, value in inputs_of().items() if name != "strain~1"}
    law.set_solver_config(max_substepping_level=3)
    law.evaluate(inputs)
    with pytest.raises(
        FatalError, match=r"max_substepping_level is 3.*backend = auto or native, or give .* matlaw-compile"
    ):
        law.evaluate(inputs, jacobian=True)
    matlaw.load_model(stub, "model", backend="native").evaluate(inputs, jacobian=True)
