"""Some of the points of a batch, meshes that change, parameters and initial values per point."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from maxwell import RELAXATION, STIFFNESS, Maxwell

import matlaw
from matlaw import BatchGroup, FatalError, QuadratureBatch

POINTS = 9


def strain(seed: int = 0, points: int = POINTS) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1e-3, 1e-3, (points, 6))


@pytest.fixture(scope="module")
def plastic(artifact):
    return matlaw.load_model(artifact("j2_viscoplastic-native") / "model_aoti.i", "model")


def ready(law, seed: int = 0, points: int = POINTS) -> QuadratureBatch:
    batch = QuadratureBatch(law, points)
    batch.set_input("strain", 3 * strain(seed, points))
    batch.set_input("t", 0.5)
    return batch


@pytest.mark.parametrize(
    "parts",
    [[slice(0, 4), slice(4, None)], [[8, 0, 3], np.array([1, 2, 4, 5, 6, 7])], [slice(0, 9, 2), slice(1, 9, 2)]],
)
def test_parts_give_the_bits_of_the_whole(plastic, parts):
    whole, split = ready(plastic), ready(plastic)
    whole.evaluate(tangent=True)
    for part in parts:
        verdict = split.evaluate(tangent=True, points=part)
        assert verdict.ok
        assert len(verdict.status) == len(np.arange(POINTS)[part])
    for name in whole.output_names:
        assert split.output(name).tobytes() == whole.output(name).tobytes()
    assert split.tangent("stress", "strain").tobytes() == whole.tangent("stress", "strain").tobytes()
    whole.commit()
    split.commit()
    assert split.save() == whole.save()


def test_points_that_were_not_evaluated_are_nan_and_cannot_be_committed(plastic):
    batch = ready(plastic)
    batch.evaluate(points=[2, 5])
    assert np.isfinite(batch.output("stress")[[2, 5]]).all()
    assert np.isnan(np.delete(batch.output("stress"), [2, 5], axis=0)).all()
    with pytest.raises(FatalError, match=r"7 points \(the first is 0\) have an input that was set after"):
        batch.commit()
    batch.evaluate(points=[0, 1, 3, 4, 6, 7, 8])
    batch.set_input("strain", np.zeros((1, 6)), points=[4])
    with pytest.raises(FatalError, match=r"1 points \(the first is 4\)"):
        batch.commit()
    batch.evaluate(points=slice(4, 5))
    batch.commit()
    # A new step begins: every point has to be evaluated again.
    batch.evaluate(points=[0])
    with pytest.raises(FatalError, match=r"8 points \(the first is 1\)"):
        batch.commit()


def test_others_keep_their_results(plastic):
    batch = ready(plastic)
    batch.evaluate(tangent=True)
    before = batch.output("stress")
    kept = before.copy()
    batch.set_input("strain", 2 * strain(1, 2), points=[6, 1])
    batch.evaluate(tangent=True, points=[6, 1])
    np.testing.assert_array_equal(before, kept, "an array that was handed out keeps its values")
    after = batch.output("stress")
    others = [0, 2, 3, 4, 5, 7, 8]
    assert after[others].tobytes() == kept[others].tobytes()
    assert (after[[6, 1]] != kept[[6, 1]]).any(axis=1).all()
    expected = ready(plastic)
    values = 3 * strain()
    values[[6, 1]] = 2 * strain(1, 2)
    expected.set_input("strain", values)
    expected.evaluate(tangent=True)
    assert after.tobytes() == expected.output("stress").tobytes()
    assert batch.tangent("stress", "strain").tobytes() == expected.tangent("stress", "strain").tobytes()


def test_failed_rows_have_the_numbers_of_the_batch(plastic):
    batch = ready(plastic)
    batch.set_input("strain", np.full((1, 6), np.nan), points=[7])
    verdict = batch.evaluate(points=[3, 7])
    assert verdict.failed_rows == [7]
    assert verdict.status.tolist() == [0, 2]
    batch.evaluate(points=[0, 1, 2, 4, 5, 6, 8])
    with pytest.raises(FatalError, match=r"1 points failed \(the first is 7\)"):
        batch.commit()


def test_inputs_of_some_points_only():
    batch = QuadratureBatch(Maxwell(), 3)
    batch.set_input("strain", np.ones((2, 6)), points=[0, 2])
    batch.set_input("t", 0.0)
    batch.set_input("t", [0.5], points=[2])
    batch.evaluate()
    np.testing.assert_allclose(batch.output("stress")[:, 0], [STIFFNESS, np.nan, STIFFNESS / 2])


def test_an_eager_law_computes_missing_tangents_of_parts(models):
    law = matlaw.load_model(models / "j2_viscoplastic.i", "model")
    whole, split = ready(law), ready(law)
    whole.evaluate(tangent=True)
    expected = {pair: whole.tangent(*pair).copy() for pair in (("stress", "strain"), ("stress", "t"))}
    for batch in (whole, split):
        batch.evaluate(tangent=True)
        batch.tangent("stress", "strain")
        batch.evaluate(tangent=True)
    split.evaluate(tangent=True, points=[1, 4])
    split.evaluate(tangent=True, points=[0, 5])
    for pair, values in expected.items():
        np.testing.assert_allclose(split.tangent(*pair), values, rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([9], "no point 9; there are 9 points"),
        ([-1], "no point -1"),
        ([2, 3, 2], "point 2 is listed twice"),
        ([0.5], "whole numbers"),
        ([True, False], "whole numbers"),
        ([[1, 2]], "one dimension"),
    ],
)
def test_wrong_points_are_named(plastic, points, message):
    with pytest.raises(FatalError, match=message):
        ready(plastic).evaluate(points=points)


def test_a_wrong_batch_is_named(plastic):
    with pytest.raises(FatalError, match=r"n_points has to be a whole number, got 2\.5"):
        QuadratureBatch(plastic, 2.5)
    with pytest.raises(FatalError, match="expected a hypothesis such as '3d', or Kinematics, got None"):
        QuadratureBatch(plastic, 2, None)


def test_no_points_of_many(plastic):
    batch = ready(plastic)
    assert batch.evaluate(points=[]).ok
    assert batch.evaluate(points=slice(5, 2)).ok


def test_a_refined_mesh_takes_the_state_of_its_parents(plastic):
    batch = ready(plastic)
    batch.evaluate()
    batch.commit()
    parents = [0, 0, 1, 8, 8, 8, 3]
    expected = {name: batch.state(name)[parents] for name in batch.state_names}
    batch.remap(parents)
    assert batch.n_points == 7
    for name, values in expected.items():
        np.testing.assert_array_equal(batch.state(name), values)
    # The inputs moved along.
    assert batch.evaluate().ok
    reference = ready(plastic)
    reference.evaluate()
    reference.commit()
    reference.evaluate()
    assert batch.output("stress").tobytes() == reference.output("stress")[parents].tobytes()
    assert batch.revert() is None
    assert batch.evaluate().ok


def test_new_points_start_from_the_initial_state_or_a_given_one():
    batch = QuadratureBatch(Maxwell(initial=2.0), 3)
    batch.set_input("strain", strain(0, 3))
    batch.set_input("t", 0.25)
    batch.evaluate()
    batch.commit()
    old = batch.state("stress~1").copy()
    batch.remap([2, -1, 0, -1])
    np.testing.assert_array_equal(batch.state("stress~1"), [old[2], np.full(6, 2.0), old[0], np.full(6, 2.0)])
    np.testing.assert_array_equal(batch.state("t~1"), [0.25, 0.0, 0.25, 0.0])
    batch.set_state("t~1", [0.25, 0.25], points=[1, 3])
    np.testing.assert_array_equal(batch.state("t~1"), np.full(4, 0.25))
    with pytest.raises(FatalError, match="'strain' was not set"):
        batch.evaluate()
    for wrong in ([3], [-2]):
        with pytest.raises(FatalError, match="cannot take the state"):
            batch.remap([0, 7, *wrong])
    batch.remap([])
    batch.remap([-1, -1])
    np.testing.assert_array_equal(batch.state("stress~1"), np.full((2, 6), 2.0))


def test_initial_state_of_some_points():
    batch = QuadratureBatch(Maxwell(), 4)
    kept = batch.state("stress~1")
    batch.set_state("stress~1", np.full((2, 6), 8.0), points=[3, 1])
    assert not kept.any(), "an array that was handed out keeps its values"
    batch.set_input("strain", np.zeros((4, 6)))
    batch.set_input("t", RELAXATION)
    batch.evaluate()
    np.testing.assert_allclose(batch.output("stress")[:, 2], [0.0, 4.0, 0.0, 4.0])


@pytest.mark.parametrize("eager", [True, False])
def test_parameters_per_point(artifact, models, eager):
    place = models / "linear_elastic.i" if eager else artifact("linear_elastic-parameters") / "model_aoti.i"
    law = matlaw.load_model(place, "model")
    name = next(n for n in law.named_parameters() if n.endswith("E"))
    batch, other = QuadratureBatch(law, 3), QuadratureBatch(law, 3)
    values = np.tile([1e-3, 0, 0, 0, 0, 0], (3, 1))
    for b in (batch, other):
        b.set_input("strain", values)
        b.evaluate(tangent=True)
    base = other.output("stress").copy()
    tangent = other.tangent("stress", "strain").copy()
    factor = np.array([1.0, 2.0, 0.25])
    batch.set_parameter(name, 200000 * factor)
    with pytest.raises(FatalError, match="call evaluate first"):
        batch.output("stress")
    assert batch.evaluate(tangent=True).ok
    np.testing.assert_allclose(batch.output("stress"), factor[:, None] * base, rtol=1e-12)
    np.testing.assert_allclose(batch.tangent("stress", "strain"), factor[:, None, None] * tangent, rtol=1e-12)
    other.evaluate()
    assert other.output("stress").tobytes() == base.tobytes(), "the law itself is as before"

    batch.evaluate(points=[2, 1])
    np.testing.assert_allclose(batch.output("stress"), factor[:, None] * base, rtol=1e-12)
    again = QuadratureBatch(law, 3)
    batch.evaluate()
    batch.commit()
    again.restore(batch.save())
    assert again.save() == batch.save()
    again.evaluate()
    assert again.output("stress").tobytes() == batch.output("stress").tobytes()

    batch.remap([1, 1])
    batch.evaluate()
    np.testing.assert_allclose(batch.output("stress"), 2 * base[:2], rtol=1e-12)
    batch.remap([1, -1])
    batch.set_input("strain", values[:2])
    with pytest.raises(FatalError, match="was set per point, and the points changed"):
        batch.evaluate()
    batch.set_parameter(name, 400000.0)
    batch.evaluate()
    np.testing.assert_allclose(batch.output("stress"), 2 * base[:2], rtol=1e-12)

    with pytest.raises(FatalError, match="no parameter 'young'; there are"):
        batch.set_parameter("young", 1.0)
    with pytest.raises(FatalError, match="takes 2 values"):
        batch.set_parameter(name, np.ones(5))


def test_parameters_per_point_in_plane_stress(artifact):
    law = matlaw.load_model(artifact("linear_elastic-parameters") / "model_aoti.i", "model")
    name = next(n for n in law.named_parameters() if n.endswith("E"))
    batch = QuadratureBatch(law, 2, "uniaxial_stress")
    batch.set_parameter(name, [100.0, 300.0])
    batch.set_input("strain", [[0.5], [0.1]])
    assert batch.evaluate(tangent=True).ok
    np.testing.assert_allclose(batch.output("stress")[:, 0], [50.0, 30.0], rtol=1e-10)
    np.testing.assert_allclose(batch.tangent("stress", "strain")[:, 0, 0], [100.0, 300.0], rtol=1e-10)


def test_another_format_version_is_refused(plastic):
    batch = ready(plastic)
    batch.evaluate()
    batch.commit()
    saved = bytearray(batch.save())
    version = 8 + len("matlaw QuadratureBatch")
    assert saved[version : version + 8] == (2).to_bytes(8, "little")
    saved[version] = 3
    # The checksum at the end is FNV-1a.
    checksum = 0xCBF29CE484222325
    for byte in saved[:-8]:
        checksum = (checksum ^ byte) * 0x100000001B3 % 2**64
    saved[-8:] = checksum.to_bytes(8, "little")
    with pytest.raises(FatalError, match="format version 3, this matlaw reads version 2"):
        QuadratureBatch(plastic, POINTS).restore(bytes(saved))


def test_what_no_save_returned(plastic):
    with pytest.raises(FatalError, match="QuadratureBatch: restore takes the bytes that save returned; got NoneType"):
        QuadratureBatch(plastic, POINTS).restore(None)
    with pytest.raises(FatalError, match="BatchGroup: restore takes the bytes that save returned; got str"):
        BatchGroup(POINTS).restore("state")


def test_a_restart_in_another_process_is_bit_for_bit(artifact, plastic, tmp_path):
    code = (
        "import sys, numpy as np, matlaw\n"
        "law = matlaw.load_model(sys.argv[1], 'model')\n"
        "batch = matlaw.QuadratureBatch(law, 9, 'plane_stress')\n"
        "batch.restore(open(sys.argv[2], 'rb').read())\n"
        "batch.set_input('strain', np.load(sys.argv[3]))\n"
        "batch.set_input('t', 1.0)\n"
        "assert batch.evaluate().ok\n"
        "batch.commit()\n"
        "open(sys.argv[4], 'wb').write(batch.save())\n"
    )
    batch = QuadratureBatch(plastic, POINTS, "plane_stress")
    for k in (1, 2):
        if k == 2:
            (tmp_path / "first").write_bytes(batch.save())
        batch.set_input("strain", k * 2 * strain()[:, :3])
        batch.set_input("t", 0.5 * k)
        assert batch.evaluate().ok
        batch.commit()
    np.save(tmp_path / "strain.npy", 4 * strain()[:, :3])
    arguments = [artifact("j2_viscoplastic-native") / "model_aoti.i", tmp_path / "first", tmp_path / "strain.npy"]
    subprocess.run([sys.executable, "-c", code, *map(str, arguments), str(tmp_path / "second")], check=True)
    assert (tmp_path / "second").read_bytes() == batch.save()
