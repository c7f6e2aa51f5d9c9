"""Kinematic hypotheses: closed forms, the same law in three dimensions, finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from maxwell import Maxwell

import matlaw
from matlaw import FatalError, Kinematics, QuadratureBatch, Status

E, NU = 200000.0, 0.3
COMPONENTS = {
    "plane_strain": [0, 1, 5],
    "axisymmetric": [0, 1, 2, 5],
    "plane_stress": [0, 1, 5],
    "uniaxial_stress": [0],
}
STRESS_FREE = {"plane_stress": [2, 3, 4], "uniaxial_stress": [1, 2, 3, 4, 5]}
POINTS = 13


@pytest.fixture(scope="module")
def elastic(artifact):
    return matlaw.load_model(artifact("linear_elastic-native") / "model_aoti.i", "model")


@pytest.fixture(scope="module")
def plastic(artifact):
    return matlaw.load_model(artifact("j2_plastic-native") / "model_aoti.i", "model")


def path(hypothesis: str, k: int) -> np.ndarray:
    """Host strain after step k, far into the plastic range for most points."""
    row = np.arange(POINTS)[:, None]
    direction = np.sin(1.7 * row + np.arange(len(COMPONENTS[hypothesis]))) * (0.2 + row / POINTS)
    return 6e-3 * direction * np.sin(0.45 * k)


def take_step(batch, strain, t, tangent=False):
    batch.set_input("strain", strain)
    if "t" in batch.input_names:
        batch.set_input("t", t)
    return batch.evaluate(tangent)


def stiffness() -> np.ndarray:
    lame, shear = E * NU / (1 + NU) / (1 - 2 * NU), E / 2 / (1 + NU)
    one = np.array([1.0, 1, 1, 0, 0, 0])
    return lame * np.outer(one, one) + 2 * shear * np.eye(6)


@pytest.mark.parametrize("hypothesis", COMPONENTS)
def test_elastic_tangents_in_closed_form(elastic, hypothesis):
    keep = COMPONENTS[hypothesis]
    expected = {
        "plane_stress": E / (1 - NU**2) * np.array([[1, NU, 0], [NU, 1, 0], [0, 0, 1 - NU]]),
        "uniaxial_stress": np.array([[E]]),
    }.get(hypothesis, stiffness()[np.ix_(keep, keep)])
    batch = QuadratureBatch(elastic, POINTS, hypothesis)
    assert batch.hypothesis == hypothesis
    assert batch.shape("strain") == batch.shape("stress") == (len(keep),)
    strain = path(hypothesis, 1)
    assert take_step(batch, strain, 1.0, tangent=True).ok
    tangent = batch.tangent("stress", "strain")
    assert tangent.shape == (POINTS, len(keep), len(keep))
    np.testing.assert_allclose(tangent, np.broadcast_to(expected, tangent.shape), rtol=1e-12, atol=1e-9 * E)
    np.testing.assert_allclose(batch.output("stress"), strain @ expected, rtol=1e-11, atol=1e-9)


@pytest.mark.parametrize("hypothesis", COMPONENTS)
def test_the_law_in_three_dimensions_agrees(plastic, hypothesis):
    reduced, full = QuadratureBatch(plastic, POINTS, hypothesis), QuadratureBatch(plastic, POINTS)
    for k in range(1, 7):
        assert take_step(reduced, path(hypothesis, k), 0.1 * k, tangent=True).ok
        strain, stress = reduced.full_strain(), reduced.full_stress()
        np.testing.assert_array_equal(strain[:, COMPONENTS[hypothesis]], path(hypothesis, k))
        assert take_step(full, strain, 0.1 * k).ok
        assert full.output("stress").tobytes() == stress.tobytes()
        np.testing.assert_array_equal(reduced.output("stress"), stress[:, COMPONENTS[hypothesis]])
        free = STRESS_FREE.get(hypothesis, [])
        assert (np.abs(stress[:, free]) <= 1e-10 * np.abs(stress).max(1, keepdims=True)).all()
        fixed = sorted({*range(6)} - {*COMPONENTS[hypothesis], *free})
        assert not strain[:, fixed].any()
        reduced.commit()
        full.commit()
    assert full.state("equivalent_plastic_strain~1").max() > 1e-3, "the history should yield"


@pytest.mark.parametrize("hypothesis", COMPONENTS)
def test_tangents_are_the_derivatives(plastic, hypothesis):
    batch = QuadratureBatch(plastic, POINTS, Kinematics(hypothesis, tolerance=1e-13))
    for k in (1, 2):
        assert take_step(batch, path(hypothesis, k), 0.1 * k).ok
        batch.commit()
    assert take_step(batch, path(hypothesis, 3), 0.3, tangent=True).ok
    tangent = batch.tangent("stress", "strain")
    h = 1e-7
    for column in range(len(COMPONENTS[hypothesis])):
        either = []
        for sign in (1, -1):
            strain = path(hypothesis, 3)
            strain[:, column] += sign * h
            assert take_step(batch, strain, 0.3).ok
            either.append(batch.output("stress"))
        difference = (either[0] - either[1]) / (2 * h)
        np.testing.assert_allclose(tangent[:, :, column], difference, rtol=1e-4, atol=1e-4 * E)


def test_other_derivatives_are_condensed_too(models):
    """Of another output, by another input: with the derivatives that an eager law has."""
    batch = QuadratureBatch(matlaw.load_model(models / "j2_viscoplastic.i", "model"), POINTS, "plane_stress")
    strain = 0.3 * path("plane_stress", 2)
    assert take_step(batch, strain, 0.5, tangent=True).ok
    by_time = batch.tangent("stress", "t")
    plastic_strain = batch.tangent("plastic_strain", "strain")
    assert by_time.shape == (POINTS, 3)
    assert plastic_strain.shape == (POINTS, 6, 3)
    results = {}
    for h in (1e-4, -1e-4):
        assert take_step(batch, strain, 0.5 + h).ok
        results[h] = batch.output("stress")
    difference = (results[1e-4] - results[-1e-4]) / 2e-4
    np.testing.assert_allclose(by_time, difference, rtol=1e-4, atol=1e-4 * np.abs(by_time).max())
    for h in (1e-7, -1e-7):
        moved = strain.copy()
        moved[:, 1] += h
        assert take_step(batch, moved, 0.5).ok
        results[h] = batch.output("plastic_strain")
    difference = (results[1e-7] - results[-1e-7]) / 2e-7
    np.testing.assert_allclose(plastic_strain[:, :, 1], difference, rtol=1e-3, atol=1e-3)


def test_uniaxial_stress_follows_the_curve_of_the_law(plastic):
    """stress = 250 + 100 (1 - exp(-20 p)) with p = strain - stress / E."""
    batch = QuadratureBatch(plastic, 3, "uniaxial_stress")
    for k, strain in enumerate(np.linspace(0.0, 0.05, 11)[1:]):
        assert take_step(batch, strain * np.array([[1.0], [0.5], [-1.0]]), 0.1 * (k + 1)).ok
        batch.commit()
    for row, factor in enumerate((1.0, 0.5, -1.0)):
        p = 0.0
        for _ in range(200):
            p = 0.05 * abs(factor) - (250 + 100 * (1 - np.exp(-20 * p))) / E
        assert batch.output("stress")[row, 0] == pytest.approx(np.sign(factor) * E * (0.05 * abs(factor) - p), rel=1e-8)


def test_points_do_not_know_each_other(plastic):
    strain = path("plane_stress", 3)
    whole = QuadratureBatch(plastic, POINTS, "plane_stress")
    assert take_step(whole, strain, 0.3, tangent=True).ok
    expected = whole.output("stress").copy(), whole.tangent("stress", "strain").copy()
    bad = strain.copy()
    bad[4] = np.nan
    verdict = take_step(whole, bad, 0.3, tangent=True)
    assert verdict.failed_rows == [4]
    assert verdict.status[4] == Status.BAD_INPUT
    assert np.isnan(whole.output("stress")[4]).all()
    others = np.arange(POINTS) != 4
    assert whole.output("stress")[others].tobytes() == expected[0][others].tobytes()
    assert whole.tangent("stress", "strain")[others].tobytes() == expected[1][others].tobytes()
    one = QuadratureBatch(plastic, 1, "plane_stress")
    take_step(one, strain[7:8], 0.3, tangent=True)
    assert one.output("stress")[0].tobytes() == expected[0][7].tobytes()


def test_a_point_that_finds_no_strain_has_not_converged(plastic):
    batch = QuadratureBatch(plastic, 2, Kinematics("plane_stress", max_iterations=2))
    strain = np.array([[1e-4, 0.0, 0.0], [2e-2, -1e-2, 3e-3]])
    verdict = take_step(batch, strain, 1.0, tangent=True)
    assert verdict.failed_rows == [1], "the elastic point needs two iterations"
    assert verdict.status.tolist() == [Status.CONVERGED, Status.NOT_CONVERGED]
    assert verdict.dt_factor < 1
    assert np.isnan(batch.output("stress")[1]).all()
    assert np.isnan(batch.tangent("stress", "strain")[1]).all()
    assert np.isfinite(batch.tangent("stress", "strain")[0]).all()
    with pytest.raises(FatalError, match="1 points failed"):
        batch.commit()


def test_zero_strain_is_zero_stress(plastic):
    batch = QuadratureBatch(plastic, 2, "plane_stress")
    assert take_step(batch, np.zeros((2, 3)), 1.0, tangent=True).ok
    assert not batch.output("stress").any()


def test_the_old_strain_has_all_components():
    law = Maxwell()
    batch = QuadratureBatch(law, 2, "plane_strain")
    take_step(batch, np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), 0.5)
    batch.commit()
    np.testing.assert_array_equal(batch.state("strain~1"), [[1, 2, 0, 0, 0, 3], [4, 5, 0, 0, 0, 6]])
    batch.set_input("strain", np.zeros(3))
    batch.set_input("t", 0.75)
    assert batch.evaluate().ok


def test_restart_and_cut_steps_are_bit_for_bit(plastic):
    whole, again = (QuadratureBatch(plastic, POINTS, "plane_stress") for _ in range(2))
    for k in (1, 2, 3):
        assert take_step(whole, path("plane_stress", k), 0.1 * k).ok
        whole.commit()
        if k == 2:
            saved = whole.save()
    again.restore(saved)
    assert again.save() == saved
    assert not take_step(again, np.full((POINTS, 3), np.inf), 5.0).ok
    take_step(again, 2 * path("plane_stress", 4), 4.0)
    again.revert()
    assert take_step(again, path("plane_stress", 3), 0.1 * 3).ok
    again.commit()
    assert again.save() == whole.save()
    with pytest.raises(FatalError, match="hypothesis 'plane_stress', this batch has '3d'"):
        QuadratureBatch(plastic, POINTS).restore(saved)


def test_float32(artifact):
    law = matlaw.load_model(artifact("j2_viscoplastic-float32") / "model_aoti.i", "model")
    double = matlaw.load_model(artifact("j2_viscoplastic-native") / "model_aoti.i", "model")
    got, expected = (QuadratureBatch(model, POINTS, "plane_stress") for model in (law, double))
    strain = 0.1 * path("plane_stress", 1)
    assert take_step(got, strain, 1.0, tangent=True).ok
    assert take_step(expected, strain, 1.0, tangent=True).ok
    scale = np.abs(expected.output("stress")).max()
    np.testing.assert_allclose(got.output("stress"), expected.output("stress"), rtol=2e-3, atol=2e-3 * scale)


def test_no_points(plastic):
    batch = QuadratureBatch(plastic, 0, "plane_stress")
    assert take_step(batch, np.zeros((0, 3)), 1.0, tangent=True).ok
    assert batch.tangent("stress", "strain").shape == (0, 3, 3)
    batch.commit()


def test_what_a_hypothesis_needs_is_said(elastic, plastic):
    with pytest.raises(FatalError, match="no kinematic hypothesis 'plane'; there are: '3d', 'plane_strain'"):
        QuadratureBatch(elastic, 1, "plane")
    with pytest.raises(FatalError, match=r"'stress' cannot be the strain .* SR2 are: 'strain'"):
        QuadratureBatch(elastic, 1, Kinematics("plane_stress", strain="stress"))
    law = Maxwell()
    law.derivative_pairs = ()
    with pytest.raises(FatalError, match="Compile the law with -d stress:strain"):
        QuadratureBatch(law, 1, "plane_stress")
    QuadratureBatch(law, 1, "plane_strain")
    with pytest.raises(FatalError, match="tolerance above 0"):
        QuadratureBatch(elastic, 1, Kinematics("plane_stress", tolerance=0.0))
    with pytest.raises(FatalError, match=r"takes an array of shape \(2, 3\).*got \(2, 6\)"):
        QuadratureBatch(elastic, 2, "plane_stress").set_input("strain", np.zeros((2, 6)))
    with pytest.raises(FatalError, match="full_strain is for a hypothesis"):
        QuadratureBatch(elastic, 2).full_strain()
