"""Several laws side by side."""

from __future__ import annotations

import numpy as np
import pytest
from maxwell import Maxwell

import matlaw
from matlaw import BatchGroup, FatalError, QuadratureBatch

POINTS = 10
SOFT = [0, 3, 4, 9]
HARD = [8, 1, 2, 5, 6, 7]


def strain(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-2e-3, 2e-3, (POINTS, 6))


@pytest.fixture(scope="module")
def laws(artifact):
    return [matlaw.load_model(artifact(f"{name}-native") / "model_aoti.i", "model")
            for name in ("linear_elastic", "j2_viscoplastic")]  # fmt: skip


@pytest.fixture
def group(laws) -> BatchGroup:
    group = BatchGroup(POINTS)
    group.add("soft", laws[0], SOFT)
    group.add("hard", laws[1], HARD)
    return group


def step(group, seed: int, t: float, tangent: bool = False):
    group.set_input("strain", strain(seed))
    group.set_input("t", t)
    return group.evaluate(tangent)


def test_it_equals_the_batches_one_by_one(group, laws):
    assert group.names == ["soft", "hard"]
    np.testing.assert_array_equal(group.points("hard"), HARD)
    alone = [(QuadratureBatch(laws[0], len(SOFT)), SOFT), (QuadratureBatch(laws[1], len(HARD)), HARD)]
    for k in (1, 2):
        assert step(group, k, 0.5 * k, tangent=True).ok
        stress, tangent = group.output("stress"), group.tangent("stress", "strain")
        assert stress.shape == (POINTS, 6)
        assert tangent.shape == (POINTS, 6, 6)
        for batch, points in alone:
            batch.set_input("strain", strain(k)[points])
            if "t" in batch.input_names:
                batch.set_input("t", 0.5 * k)
            batch.evaluate(tangent=True)
            np.testing.assert_array_equal(stress[points], batch.output("stress"))
            np.testing.assert_array_equal(tangent[points], batch.tangent("stress", "strain"))
            batch.commit()
        group.commit()
    np.testing.assert_array_equal(group["hard"].state("plastic_strain~1"), alone[1][0].state("plastic_strain~1"))


def test_a_failed_point_has_the_number_of_the_host_and_commits_nothing(group):
    assert step(group, 1, 0.5).ok
    group.commit()
    before = group.save()
    bad = strain(2)
    bad[[8, 3]] = np.nan
    group.set_input("strain", bad)
    group.set_input("t", 1.0)
    verdict = group.evaluate()
    assert verdict.failed_rows == [3, 8]
    assert verdict.status.tolist() == [0, 0, 0, 2, 0, 0, 0, 0, 2, 0]
    with pytest.raises(FatalError, match="1 points failed"):
        group.commit()
    group.revert()
    assert group.save() == before
    # Only the second batch fails: the first must not be committed either.
    bad = strain(2)
    bad[8] = np.nan
    group.set_input("strain", bad)
    group.evaluate()
    with pytest.raises(FatalError, match="cannot be committed"):
        group.commit()
    assert group.save() == before


def test_restart(group, laws):
    step(group, 1, 0.5)
    group.commit()
    saved = group.save()
    step(group, 2, 1.0)
    group.commit()
    again = BatchGroup(POINTS)
    again.add("soft", laws[0], SOFT)
    again.add("hard", laws[1], HARD)
    again.restore(saved)
    step(again, 2, 1.0)
    again.commit()
    assert again.save() == group.save()
    other = BatchGroup(POINTS)
    other.add("soft", laws[0], HARD)
    other.add("hard", laws[1], SOFT)
    with pytest.raises(FatalError, match="'soft' was saved with other points"):
        other.restore(saved)
    with pytest.raises(FatalError, match="2 batches, this group has 0"):
        BatchGroup(POINTS).restore(saved)


def test_a_restore_that_one_batch_refuses_changes_none(group, laws):
    step(group, 1, 0.5)
    group.commit()
    saved = group.save()
    swapped = BatchGroup(POINTS)
    swapped.add("soft", laws[0], SOFT)
    swapped.add("hard", Maxwell(), HARD)
    before = swapped.save()
    with pytest.raises(FatalError, match="belongs to law 'model'"):
        swapped.restore(saved)
    assert swapped.save() == before


def test_wrong_use_is_named(group, laws):
    with pytest.raises(FatalError, match="point 3 of batch 'more' has a law already"):
        group.add("more", laws[0], [3])
    with pytest.raises(FatalError, match="a batch 'soft' already"):
        group.add("soft", laws[0], [])
    with pytest.raises(FatalError, match="wants point 10"):
        group.add("more", laws[0], [10])
    with pytest.raises(FatalError, match="there is no batch 'steel'; there are: soft, hard"):
        group["steel"]
    with pytest.raises(FatalError, match="no law has an input 'temperature'"):
        group.set_input("temperature", 1.0)
    with pytest.raises(FatalError, match=r"takes 60 values \(10 x 6\), got 12"):
        group.set_input("strain", np.zeros((2, 6)))
    with pytest.raises(FatalError, match="call evaluate first"):
        group.commit()
    half = BatchGroup(POINTS)
    half.add("soft", laws[0], SOFT)
    with pytest.raises(FatalError, match="point 1 has no law"):
        half.evaluate()
    step(group, 1, 0.5)
    with pytest.raises(FatalError, match="has no variable 'plastic_strain'"):
        group.output("plastic_strain")
