"""The two J2 laws at quadrature points: every way to run them gives the same history."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import matlaw
from matlaw.host import QuadratureBatch

POINTS = 19
LAWS = ["j2_viscoplastic", "j2_plastic"]


def path(k: int) -> np.ndarray:
    """Strain after step k: every point its own direction, out and back."""
    row = np.arange(POINTS)[:, None]
    direction = np.sin(1.7 * row + np.arange(6)) * (0.5 + row / POINTS)
    return 2e-3 * direction * np.sin(0.45 * k)


def take_step(batch: QuadratureBatch, strain: np.ndarray, t: float, tangent: bool = False):
    batch.set_input("strain", strain)
    batch.set_input("t", t)
    return batch.evaluate(tangent)


def history(batch: QuadratureBatch, steps: int = 8) -> dict[str, np.ndarray]:
    """Outputs and tangent, each (steps, POINTS, ...)."""
    found: dict[str, list[np.ndarray]] = {name: [] for name in (*batch.output_names, "tangent")}
    for k in range(1, steps + 1):
        assert take_step(batch, path(k), 0.2 * k, tangent=True).ok
        for name in batch.output_names:
            found[name].append(batch.output(name))
        found["tangent"].append(batch.tangent("stress", "strain"))
        batch.commit()
    return {name: np.stack(values) for name, values in found.items()}


def states(batch: QuadratureBatch) -> dict[str, bytes]:
    return {name: batch.state(name).tobytes() for name in batch.state_names}


def assert_same(got: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    for name, values in expected.items():
        # Relative to the whole history: an unloading step leaves a rate of zero within the solver's tolerance.
        assert np.abs(got[name] - values).max() <= 1e-10 * np.abs(values).max(), name


def as_bytes(found: dict[str, np.ndarray]) -> dict[str, bytes]:
    return {name: values.tobytes() for name, values in found.items()}


@pytest.fixture(params=LAWS)
def law(request) -> str:
    return request.param


@pytest.fixture
def native(law, artifact):
    return matlaw.load_model(artifact(f"{law}-native") / "model_aoti.i", "model", backend="native")


def test_native_agrees_with_eager(law, native, models):
    eager = matlaw.load_model(models / f"{law}.i", "model")
    expected = history(QuadratureBatch(eager, POINTS))
    assert_same(history(QuadratureBatch(native, POINTS)), expected)
    assert expected["equivalent_plastic_strain"].max() > 1e-4, "the history should yield"


@pytest.mark.inductor
def test_pt2_agrees_with_native(law, artifact):
    place = artifact(f"{law}-both") / "model_aoti.i"
    native, pt2 = (matlaw.load_model(place, "model", backend=backend) for backend in ("native", "inductor"))
    assert native.backend == "native"
    assert pt2.backend == "inductor"
    assert_same(history(QuadratureBatch(pt2, POINTS)), history(QuadratureBatch(native, POINTS)))


def test_a_cut_step_equals_small_steps_bit_for_bit(native):
    cut, small = QuadratureBatch(native, POINTS), QuadratureBatch(native, POINTS)
    for k in (1, 2, 3):
        assert take_step(small, path(k), 0.2 * k).ok
        small.commit()

    assert take_step(cut, path(1), 0.2).ok
    cut.commit()
    before = states(cut)
    bad = path(3)
    bad[[4, 11]] = np.nan
    bad[7] *= 1e9
    verdict = take_step(cut, bad, 0.6, tangent=True)
    assert not verdict.ok
    assert {4, 11} <= set(verdict.failed_rows)
    with pytest.raises(matlaw.FatalError, match="cannot be committed"):
        cut.commit()
    cut.revert()
    assert states(cut) == before
    for k in (2, 3):
        assert take_step(cut, path(k), 0.2 * k).ok
        cut.commit()
    assert states(cut) == states(small)


def test_a_restart_is_bit_for_bit(native):
    whole = QuadratureBatch(native, POINTS)
    for k in (1, 2, 3, 4):
        take_step(whole, path(k), 0.2 * k)
        whole.commit()
        if k == 2:
            saved = whole.save()
    again = QuadratureBatch(native, POINTS)
    again.restore(saved)
    for k in (3, 4):
        take_step(again, path(k), 0.2 * k)
        again.commit()
    assert states(again) == states(whole)


def test_a_point_does_not_know_the_others(native):
    whole = history(QuadratureBatch(native, POINTS), 3)
    one = QuadratureBatch(native, 1)
    for k in (1, 2, 3):
        take_step(one, path(k)[5:6], 0.2 * k, tangent=True)
        one.commit()
    assert one.tangent("stress", "strain")[0].tobytes() == whole["tangent"][-1, 5].tobytes()


def test_threads_may_share_a_law(native):
    expected = as_bytes(history(QuadratureBatch(native, POINTS), 4))
    found: list[dict[str, bytes]] = []

    def work() -> None:
        found.append(as_bytes(history(QuadratureBatch(native, POINTS), 4)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


def test_chunks_and_threads_do_not_change_a_bit(law, artifact):
    place = artifact(f"{law}-native") / "model"
    results = [
        as_bytes(history(QuadratureBatch(matlaw.load_model(place, **options), POINTS), 3))
        for options in ({"threads": 1}, {"threads": 2, "max_chunk_rows": 8}, {"threads": 1, "max_chunk_rows": 8})
    ]
    assert results[0] == results[1] == results[2]


def test_float32_takes_and_gives_doubles(artifact):
    single = matlaw.load_model(artifact("j2_viscoplastic-float32") / "model_aoti.i", "model")
    double = matlaw.load_model(artifact("j2_viscoplastic-native") / "model_aoti.i", "model")
    assert str(single.dtype) == "torch.float32"
    got, expected = QuadratureBatch(single, POINTS), QuadratureBatch(double, POINTS)
    for batch in (got, expected):
        take_step(batch, 0.3 * path(1), 0.2)
    stress = got.output("stress")
    assert stress.dtype == np.float64
    np.testing.assert_allclose(stress, expected.output("stress"), rtol=1e-3, atol=1e-3 * np.abs(stress).max())


@pytest.mark.parametrize("thing", [None, "aoti/model_aoti.i"])
def test_only_a_law_makes_a_batch(thing):
    with pytest.raises(matlaw.FatalError, match=r"expected a law from matlaw\.load_model, got"):
        QuadratureBatch(thing, 3)
