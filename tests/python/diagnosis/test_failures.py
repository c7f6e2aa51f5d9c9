"""Why calls fail: histories, reasons, messages; the same for compiled and eager laws."""

from __future__ import annotations

import math
import threading

import numpy as np
import pytest
import torch
from failing_calls import BAD, failing, step

import matlaw
from matlaw import ConvergenceError, FatalError, InputError, Reason, Status


@pytest.fixture(params=["native", pytest.param("inductor", marks=pytest.mark.inductor), "eager"])
def law(request, shared_law):
    return shared_law("j2_viscoplastic", request.param)


@pytest.fixture(params=["native", pytest.param("inductor", marks=pytest.mark.inductor)])
def both(request, shared_law):
    """Compiled and eager."""
    return shared_law("j2_viscoplastic", request.param), shared_law("j2_viscoplastic", "eager")


def test_history_of_every_row(law):
    inputs = step()
    inputs["strain"][0] *= 1e-3  # elastic: solved at once
    r = law.evaluate(inputs, history=True)
    assert r.ok and len(r.history) == 1
    miters = law.solver_config["miters"]
    [solve] = r.history
    assert solve.residual.shape == (6, miters + 1) and solve.step.shape == (6, miters)
    assert set(solve.unknowns) == {"plastic_strain", "equivalent_plastic_strain"}
    for row in range(6):
        k = r.iterations[row]
        assert np.isfinite(solve.residual[row, : k + 1]).all() and np.isnan(solve.residual[row, k + 1 :]).all()
        assert (solve.step[row, :k] == 1).all() and np.isnan(solve.step[row, k:]).all()
        last, first = solve.residual[row, k], solve.residual[row, 0]
        assert last < law.solver_config["atol"] or last < law.solver_config["rtol"] * first
    assert r.iterations[0] == 0 and r.iterations[1:].min() > 0
    assert (r.reason == Reason.NONE).all() and (r.place == -1).all()


def test_history_does_not_change_the_results(law):
    inputs = failing()
    plain, told = law.evaluate(inputs, jacobian=True), law.evaluate(inputs, jacobian=True, history=True)
    assert plain.history == [] and plain.reason is None
    np.testing.assert_array_equal(plain.outputs["stress"], told.outputs["stress"])
    np.testing.assert_array_equal(plain.jacobian["stress"]["strain"], told.jacobian["stress"]["strain"])
    np.testing.assert_array_equal(plain.status, told.status)


def test_history_shows_the_line_search(law):
    law.set_solver_config(ls_type="BACKTRACKING")
    r = law.evaluate(step(size=4.0), history=True)  # far from any solution
    taken = r.history[0].step[np.isfinite(r.history[0].step)]
    assert (taken < 1).any() and ((0 < taken) & (taken <= 1)).all()
    plain = law.evaluate(step(size=4.0)).iterations
    law.set_solver_config(ls_type="NONE")
    assert (law.evaluate(step(size=4.0)).iterations != plain).any()


def test_batch_axes_of_the_history(law):
    flat = law.evaluate(step(), history=True)
    shaped = {n: v.reshape(2, 3, *v.shape[1:]) for n, v in step().items()}
    r = law.evaluate({n: torch.tensor(v) for n, v in shaped.items()}, history=True)
    assert isinstance(r.history[0].residual, torch.Tensor)
    assert r.history[0].residual.shape[:2] == (2, 3) and r.reason.shape == (2, 3)
    np.testing.assert_allclose(r.history[0].residual.reshape(6, -1), flat.history[0].residual, rtol=1e-12)


def test_compiled_and_eager_give_the_same_history(both):
    inputs = failing()
    compiled, eager = (law.evaluate(inputs, history=True) for law in both)
    assert compiled.failed_rows == eager.failed_rows == BAD
    np.testing.assert_array_equal(compiled.reason, eager.reason)
    np.testing.assert_array_equal(compiled.place, eager.place)
    good = [0, 2, 3, 5]
    a, b = compiled.history[0].residual[good], eager.history[0].residual[good]
    np.testing.assert_array_equal(np.isnan(a), np.isnan(b))
    # Norms that are round-off differ by themselves.
    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def test_last_failure(law):
    assert law.last_failure() is None
    assert law.evaluate(step()).ok
    assert law.last_failure() is None
    inputs = failing()
    assert law.evaluate(inputs).failed_rows == BAD
    failure = law.last_failure()
    assert failure.model == "model" and failure.n_rows == 6 and failure.failed_rows == BAD
    assert [row.row for row in failure.rows] == BAD
    for row in failure.rows:
        assert row.status == Status.NOT_CONVERGED
        assert row.reason in (Reason.ITERATION_LIMIT, Reason.RESIDUAL_NOT_FINITE, Reason.SINGULAR_JACOBIAN)
        assert row.place == 0 and len(row.residuals) == len(row.steps) + 1 == row.iterations + 1
    np.testing.assert_array_equal(failure.inputs["strain"], inputs["strain"][BAD])
    inputs["strain"][:] = 0  # the report has copies
    assert np.abs(np.asarray(law.last_failure().inputs["strain"])).min() > 0
    # A call without failures does not replace it.
    assert law.evaluate(step()).ok
    assert law.last_failure().failed_rows == BAD


def test_the_same_reasons_for_compiled_and_eager(both):
    cases = {
        "limit": ({"miters": 2}, step()),
        "overflow": ({}, step(size=1e200)),
        "bad": ({}, {**step(), "t": np.array([0.1, np.nan, 0.1, np.inf, 0.1, 0.1])}),
    }
    for name, (settings, inputs) in cases.items():
        texts = []
        for law in both:
            before = law.solver_config
            law.set_solver_config(**settings)
            assert not law.evaluate(inputs).ok, name
            failure = law.last_failure()
            texts.append([(row.row, row.reason, row.place, row.text) for row in failure.rows])
            law.set_solver_config(**before)
        assert texts[0] == texts[1], name
    assert [text for *_, text in texts[0]] == ["'t' is NaN or infinite"] * 2


def test_an_iteration_limit_in_words(law):
    law.set_solver_config(miters=2)
    with pytest.raises(ConvergenceError) as caught:
        law.forward(step())
    failure = law.last_failure()
    worst = failure.worst
    assert worst.residuals[-1] == max(row.residuals[-1] for row in failure.rows)
    assert worst.text == f"iteration limit of 2 reached with |r| = {worst.residuals[-1]:.4g}"
    message = str(caught.value)
    for part in (f"row {worst.row}: ", worst.text, "needed < 1e-10", "still converging: raise max_its"):
        assert part in message
    assert message == failure.message()


def test_the_message_names_inputs_that_stand_out(law):
    with pytest.raises(ConvergenceError, match=r"in 2 of 6 rows \(1, 4\)") as caught:
        law.forward(failing())
    assert "stand out: 'strain' (norm " in str(caught.value)
    assert caught.value.failed_rows == BAD


def test_at_most_sixteen_rows_are_looked_at(law):
    law.set_solver_config(miters=1)
    assert len(law.evaluate(step(40)).failed_rows) > 16
    failure = law.last_failure()
    assert len(failure.rows) == 16 and len(failure.failed_rows) > 16
    assert failure.inputs["strain"].shape == (16, 6)
    assert "(" in failure.message() and "..." in failure.message()


def test_one_row_without_a_batch(law):
    law.set_solver_config(miters=1)
    inputs = {name: value[1] for name, value in step().items()}
    assert law.evaluate(inputs).failed_rows == [0]
    assert law.last_failure().inputs["strain"].shape == (1, 6)
    assert "Its inputs: " in law.last_failure().message()


def test_a_time_that_does_not_advance_is_a_mistake(law):
    law.set_solver_config(miters=3)  # so that plastic rows fail for want of iterations
    inputs = step()
    inputs["t"][3], inputs["t~1"][3] = 2.0, 2.5
    r = law.evaluate(inputs, history=True)
    assert r.status[3] == Status.BAD_INPUT and r.reason[3] == Reason.TIME_DOES_NOT_ADVANCE
    assert Status.NOT_CONVERGED in r.status
    with pytest.raises(
        InputError, match=r"row 3 .*'t' is 2\.0? and 't~1' is 2\.5|'t' is 2 and 't~1' is 2\.5"
    ) as caught:
        law.forward(inputs)
    assert caught.value.variable == "t" and caught.value.row == 3 and not caught.value.recoverable
    with pytest.raises(InputError):
        law.jacobian(inputs)
    [row] = [row for row in law.last_failure().rows if row.row == 3]
    assert row.text == "time 't' does not advance" and row.status == Status.BAD_INPUT
    assert law.times == [("t", "t~1")]


def test_a_law_that_can_do_without_a_step_still_does(law):
    inputs = step(dt=0.0)  # viscous: nothing flows in no time
    assert law.evaluate(inputs).ok


def test_a_host_ends_where_time_stands_still(law):
    law.set_solver_config(miters=3)
    batch = matlaw.QuadratureBatch(law, 6)
    batch.set_input("strain", step()["strain"])
    batch.set_input("t", -1.0)
    with pytest.raises(InputError, match="Time does not advance"):
        batch.evaluate()
    batch.set_input("t", 1.0)
    assert not batch.evaluate().ok  # an ordinary failure: the host cuts its step


@pytest.mark.parametrize("backend", ["native", pytest.param("inductor", marks=pytest.mark.inductor)])
def test_parameters_of_every_row(artifact, backend):
    law = matlaw.load_model(artifact("j2_viscoplastic-substepping-both"), "model", backend=backend)
    law.set_solver_config(max_substepping_level=0)
    [name] = [n for n in law.named_parameters() if n.endswith(".sy")]
    value = float(law.named_parameters()[name])
    law.set_parameter(name, value * np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1e-9]))
    law.set_solver_config(miters=4)
    inputs = step(size=1e-3)
    failed = law.evaluate(inputs | {"strain~1": 0.0 * inputs["strain"]}).failed_rows
    assert 5 in failed
    failure = law.last_failure()
    assert failure.failed_rows == failed
    np.testing.assert_allclose(failure.parameters[name][failed.index(5)], value * 1e-9)


def test_callers_at_once_each_get_their_own_message(law):
    """A message is that of its own call; last_failure() that of one of them, whole."""
    law.set_solver_config(miters=1)
    wrong = []

    def call(rows: int) -> None:
        for _ in range(5):
            try:
                law.forward(step(rows))
            except ConvergenceError as error:
                if f"of {rows} rows" not in str(error):
                    wrong.append(str(error))
            failure = law.last_failure()
            if max(failure.failed_rows) >= failure.n_rows:
                wrong.append(failure.message())

    threads = [threading.Thread(target=call, args=(rows,)) for rows in (3, 17, 40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_failing_calls_leave_the_law_as_it_was(law):
    good = law.evaluate(step()).outputs["stress"]
    for _ in range(3):
        law.evaluate(failing())
        law.last_failure()
    np.testing.assert_array_equal(law.evaluate(step()).outputs["stress"], good)


OVERFLOW = """
[Models]
  [model]
    type = ScalarMultiplication
    from = 'x x'
    to = 'y'
  []
[]
"""


def test_an_output_that_is_not_finite_is_a_failure(write_law):
    law = matlaw.load_model(write_law(OVERFLOW), "model")
    r = law.evaluate({"x": np.array([1.0, 1e200])}, history=True)
    assert r.failed_rows == [1] and r.reason[1] == Reason.OUTPUT_NOT_FINITE and math.isnan(r.outputs["y"][1])
    with pytest.raises(ConvergenceError, match="output 'y' not finite"):
        law.forward({"x": np.array([1.0, 1e200])})


@pytest.fixture
def write_law(tmp_path):
    def write(text: str):
        path = tmp_path / "law.i"
        path.write_text(text)
        return path

    return write


def test_wrong_calls_are_no_failures(law):
    with pytest.raises(FatalError):
        law.evaluate({"strian": np.zeros(6)})
    assert law.last_failure() is None
