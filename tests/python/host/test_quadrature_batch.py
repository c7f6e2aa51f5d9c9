"""QuadratureBatch against a law that can be checked by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from maxwell import RELAXATION, STIFFNESS, Maxwell

from matlaw import FatalError
from matlaw.host import QuadratureBatch

POINTS = 5


@pytest.fixture
def batch() -> QuadratureBatch:
    return QuadratureBatch(Maxwell(), POINTS)


def strain(seed: int = 0, points: int = POINTS) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1, 1, (points, 6))


def step(batch: QuadratureBatch, values: np.ndarray, t: float, tangent: bool = False):
    batch.set_input("strain", values)
    batch.set_input("t", t)
    return batch.evaluate(tangent)


def test_knows_which_variables_are_whose(batch):
    assert batch.input_names == ["strain", "t"]
    assert batch.state_names == ["stress~1", "strain~1", "t~1"]
    assert batch.output_names == ["stress"]
    assert batch.tangent_names == [("stress", "strain")]
    assert batch.shape("strain") == (6,)
    assert batch.shape("t~1") == ()


def test_one_step_equals_the_formula(batch):
    e = strain()
    verdict = step(batch, e, 0.25, tangent=True)
    factor = 1 / (1 + 0.25 / RELAXATION)
    assert verdict.ok
    assert verdict.dt_factor == 2.0
    assert verdict.status.tolist() == [0] * POINTS
    assert verdict.iterations.tolist() == [1] * POINTS
    np.testing.assert_allclose(batch.output("stress"), factor * STIFFNESS * e, rtol=1e-14)
    tangent = batch.tangent("stress", "strain")
    assert tangent.shape == (POINTS, 6, 6)
    np.testing.assert_allclose(tangent, np.broadcast_to(factor * STIFFNESS * np.eye(6), (POINTS, 6, 6)), rtol=1e-14)


def test_time_may_differ_from_point_to_point(batch):
    e, t = strain(), np.linspace(0.1, 0.5, POINTS)
    batch.set_input("strain", e)
    batch.set_input("t", t)
    batch.evaluate(tangent=True)
    factor = 1 / (1 + t / RELAXATION)
    np.testing.assert_allclose(batch.output("stress"), factor[:, None] * STIFFNESS * e, rtol=1e-14)
    np.testing.assert_allclose(batch.tangent("stress", "strain")[:, 2, 2], factor * STIFFNESS, rtol=1e-14)


def test_commit_feeds_state_and_force_variables(batch):
    e = strain()
    step(batch, e, 0.25)
    stress = batch.output("stress")
    assert not batch.state("stress~1").any()
    batch.commit()
    np.testing.assert_array_equal(batch.state("stress~1"), stress)
    np.testing.assert_array_equal(batch.state("strain~1"), e)
    np.testing.assert_array_equal(batch.state("t~1"), np.full(POINTS, 0.25))


def test_a_batch_keeps_copies(batch):
    e = strain()
    step(batch, e, 0.25)
    batch.commit()
    kept = e.copy()
    e[:] = 7.0
    np.testing.assert_array_equal(batch.state("strain~1"), kept)
    batch.set_input("strain", e)
    np.testing.assert_array_equal(batch.state("strain~1"), kept)


def test_views_are_read_only_and_outlive_the_next_step(batch):
    step(batch, strain(0), 0.25)
    stress = batch.output("stress")
    kept = stress.copy()
    with pytest.raises(ValueError):
        stress[0, 0] = 1.0
    batch.commit()
    step(batch, strain(1), 0.5)
    batch.commit()
    np.testing.assert_array_equal(stress, kept)
    del batch
    np.testing.assert_array_equal(stress, kept)


def test_views_share_memory(batch):
    step(batch, strain(), 0.25, tangent=True)
    assert batch.output("stress").ctypes.data == batch.output("stress").ctypes.data
    assert batch.tangent("stress", "strain").ctypes.data == batch.tangent("stress", "strain").ctypes.data


def test_a_failed_step_leaves_the_old_state_and_names_its_points(batch):
    step(batch, strain(0), 0.25)
    batch.commit()
    before = {name: batch.state(name).copy() for name in batch.state_names}
    bad = strain(1)
    bad[[1, 3], 4] = 11.0
    verdict = step(batch, bad, 0.5)
    assert not verdict.ok
    assert verdict.failed_rows == [1, 3]
    assert verdict.status.tolist() == [0, 1, 0, 1, 0]
    assert verdict.dt_factor == 0.5
    assert np.isnan(batch.output("stress")[[1, 3]]).all()
    assert np.isfinite(batch.output("stress")[[0, 2, 4]]).all()
    with pytest.raises(FatalError, match="2 points failed"):
        batch.commit()
    batch.revert()
    for name, values in before.items():
        np.testing.assert_array_equal(batch.state(name), values)


def test_cut_steps_equal_small_steps_bit_for_bit():
    cut, small = QuadratureBatch(Maxwell(), POINTS), QuadratureBatch(Maxwell(), POINTS)
    direction = strain()
    for part, t in ((0.3, 0.1), (0.6, 0.2), (0.9, 0.3)):
        step(small, part * direction, t)
        small.commit()
    step(cut, 0.3 * direction, 0.1)
    cut.commit()
    assert not step(cut, 100.0 * direction, 5.0).ok
    cut.revert()
    for part, t in ((0.6, 0.2), (0.9, 0.3)):
        step(cut, part * direction, t)
        cut.commit()
    for name in cut.state_names:
        assert cut.state(name).tobytes() == small.state(name).tobytes()


def test_revert_restores_the_inputs_of_the_last_commit(batch):
    step(batch, strain(0), 0.25)
    batch.commit()
    batch.evaluate()
    expected = batch.output("stress").tobytes()
    step(batch, strain(1), 0.75)
    assert batch.output("stress").tobytes() != expected
    batch.revert()
    with pytest.raises(FatalError, match="call evaluate first"):
        batch.output("stress")
    batch.evaluate()
    assert batch.output("stress").tobytes() == expected


def test_revert_before_the_first_commit_keeps_inputs(batch):
    e = strain()
    step(batch, e, 0.25)
    expected = batch.output("stress").tobytes()
    batch.revert()
    batch.evaluate()
    assert batch.output("stress").tobytes() == expected


def test_initial_state_comes_from_the_law():
    batch = QuadratureBatch(Maxwell(initial=3.0), POINTS)
    np.testing.assert_array_equal(batch.state("stress~1"), np.full((POINTS, 6), 3.0))
    step(batch, np.zeros((POINTS, 6)), RELAXATION)
    np.testing.assert_allclose(batch.output("stress"), 1.5, rtol=1e-14)


def test_set_state_gives_an_initial_field(batch):
    field = strain(3)
    batch.set_state("stress~1", field)
    step(batch, np.zeros((POINTS, 6)), RELAXATION)
    np.testing.assert_allclose(batch.output("stress"), field / 2, rtol=1e-14)
    batch.set_state("t~1", np.full((POINTS, 1), 0.25))
    np.testing.assert_array_equal(batch.state("t~1"), np.full(POINTS, 0.25))


def test_set_state_does_not_write_into_an_output(batch):
    step(batch, strain(), 0.25)
    stress = batch.output("stress")
    kept = stress.copy()
    batch.commit()
    batch.set_state("stress~1", np.ones((POINTS, 6)))
    np.testing.assert_array_equal(stress, kept)


def test_restart_is_bit_for_bit(batch):
    step(batch, strain(0), 0.25)
    batch.commit()
    saved = batch.save()
    step(batch, strain(1), 0.5)
    batch.commit()
    expected = {name: batch.state(name).tobytes() for name in batch.state_names}

    again = QuadratureBatch(Maxwell(), POINTS)
    again.restore(saved)
    assert again.save() == saved
    step(again, strain(1), 0.5)
    again.commit()
    assert {name: again.state(name).tobytes() for name in again.state_names} == expected


def test_restart_keeps_the_inputs_of_the_last_commit(batch):
    step(batch, strain(0), 0.25)
    batch.commit()
    batch.evaluate()
    again = QuadratureBatch(Maxwell(), POINTS)
    again.restore(batch.save())
    again.evaluate()
    assert again.output("stress").tobytes() == batch.output("stress").tobytes()


def test_restore_refuses_what_does_not_fit(batch):
    step(batch, strain(0), 0.25)
    batch.commit()
    saved = batch.save()
    state = batch.state("stress~1").tobytes()
    other = Maxwell()
    other.name = "other"
    with pytest.raises(FatalError, match="belongs to law 'maxwell'"):
        QuadratureBatch(other, POINTS).restore(saved)
    with pytest.raises(FatalError, match="5 points, this batch has 6"):
        QuadratureBatch(Maxwell(), 6).restore(saved)
    fewer = Maxwell()
    fewer.state_pairs = fewer.state_pairs[:2]
    with pytest.raises(FatalError, match="'t~1' is unknown"):
        QuadratureBatch(fewer, POINTS).restore(saved)
    for damaged in (b"", saved[:-1], saved[:100], saved + b"\0", saved[:200] + b"\xff" + saved[201:]):
        with pytest.raises(FatalError, match="damaged"):
            batch.restore(damaged)
    assert batch.state("stress~1").tobytes() == state


def test_resize_keeps_the_first_points_and_starts_new_ones():
    batch = QuadratureBatch(Maxwell(initial=2.0), 3)
    step(batch, strain(0, 3), 0.25)
    batch.commit()
    kept = batch.state("stress~1").copy()
    batch.resize(5)
    assert batch.n_points == 5
    np.testing.assert_array_equal(batch.state("stress~1")[:3], kept)
    np.testing.assert_array_equal(batch.state("stress~1")[3:], np.full((2, 6), 2.0))
    np.testing.assert_array_equal(batch.state("t~1"), [0.25, 0.25, 0.25, 0.0, 0.0])
    with pytest.raises(FatalError, match="'strain' was not set"):
        batch.evaluate()
    step(batch, strain(1, 5), 0.5)
    batch.commit()
    batch.resize(1)
    assert batch.state("stress~1").shape == (1, 6)


def test_float32_law_takes_and_gives_doubles():
    batch = QuadratureBatch(Maxwell(torch.float32), POINTS)
    e = strain()
    step(batch, e, 0.25, tangent=True)
    stress = batch.output("stress")
    assert stress.dtype == np.float64
    np.testing.assert_allclose(stress, STIFFNESS * e / 1.5, rtol=1e-6)
    assert batch.tangent("stress", "strain").dtype == np.float64
    batch.commit()
    np.testing.assert_array_equal(batch.state("stress~1"), stress)
    again = QuadratureBatch(Maxwell(torch.float32), POINTS)
    again.restore(batch.save())
    assert again.save() == batch.save()


def test_no_points():
    batch = QuadratureBatch(Maxwell(), 0)
    verdict = step(batch, np.zeros((0, 6)), 1.0, tangent=True)
    assert verdict.ok
    assert verdict.dt_factor == 1.0
    assert batch.output("stress").shape == (0, 6)
    assert batch.tangent("stress", "strain").shape == (0, 6, 6)
    batch.commit()
    QuadratureBatch(Maxwell(), 0).restore(batch.save())


@pytest.mark.parametrize(
    ("values", "shape"), [(np.zeros((4, 6)), r"\(4, 6\)"), (np.zeros(5), r"\(5,\)"), (1.0, r"\(\)")]
)
def test_a_wrong_shape_is_named(batch, values, shape):
    with pytest.raises(FatalError, match=rf"'strain' takes an array of shape \(5, 6\).*got {shape}"):
        batch.set_input("strain", values)


def test_wrong_calls_are_named(batch):
    with pytest.raises(FatalError, match="no variable 'strian'; inputs: 'strain', 't'"):
        batch.set_input("strian", 0.0)
    with pytest.raises(FatalError, match="use set_state"):
        batch.set_input("t~1", 0.0)
    with pytest.raises(FatalError, match="'strain' takes numbers"):
        batch.set_input("strain", "much")
    with pytest.raises(FatalError, match="'strain' was not set"):
        batch.evaluate()
    with pytest.raises(FatalError, match="call evaluate first"):
        batch.output("stress")
    step(batch, strain(), 0.25)
    with pytest.raises(FatalError, match="no output 'strain'"):
        batch.output("strain")
    with pytest.raises(FatalError, match="tangent = true"):
        batch.tangent("stress", "strain")
    with pytest.raises(FatalError, match="-d stress:t"):
        batch.tangent("stress", "t")
    with pytest.raises(FatalError, match="no old variable 'stress'"):
        batch.state("stress")
    with pytest.raises(FatalError, match="must not be negative"):
        batch.resize(-1)


def test_commit_wants_an_evaluation_of_the_inputs_set(batch):
    with pytest.raises(FatalError, match="call evaluate first"):
        batch.commit()
    step(batch, strain(), 0.25)
    batch.set_input("t", 0.5)
    with pytest.raises(FatalError, match="set after the last evaluate"):
        batch.commit()
    batch.evaluate()
    batch.commit()
    with pytest.raises(FatalError, match="committed already"):
        batch.commit()
    assert batch.output("stress").shape == (POINTS, 6)


def test_state_pairs_have_to_fit():
    law = Maxwell()
    law.state_pairs = [law.state_pairs[0]._replace(old="stress~2")]
    with pytest.raises(FatalError, match="'stress~2'"):
        QuadratureBatch(law, POINTS)
    law.state_pairs = [Maxwell().state_pairs[0]._replace(initial=(0.0,))]
    with pytest.raises(FatalError, match="has 1 components, expected 6"):
        QuadratureBatch(law, POINTS)


def test_an_error_of_the_law_changes_nothing(batch):
    step(batch, strain(), 0.25)
    stress = batch.output("stress").tobytes()

    def broken(inputs, jacobian=False):
        raise RuntimeError("out of order")

    batch.model.evaluate = broken
    with pytest.raises(FatalError, match="RuntimeError: out of order"):
        batch.evaluate()
    assert batch.output("stress").tobytes() == stress
