"""The scikit-fem example: its own elasticity, equilibrium, and the curve of the law."""

from __future__ import annotations

import numpy as np
import pytest
from skfem import condense, solve
from skfem.models.elasticity import lame_parameters, linear_elasticity

import matlaw

E, NU = 200000.0, 0.3


@pytest.mark.parametrize("hypothesis", ["plane_stress", "plane_strain"])
def test_elasticity_equals_that_of_scikit_fem(python_hosts, artifact, hypothesis):
    from scikit_fem_plate import Plate

    law = matlaw.load_model(artifact("linear_elastic-native") / "model_aoti.i", "model")
    plate = Plate(law, hypothesis, refinements=2)
    plate.step(1e-3, 1.0)
    lame, shear = lame_parameters(E, NU)
    if hypothesis == "plane_stress":
        lame = 2 * lame * shear / (lame + 2 * shear)
    matrix = linear_elasticity(lame, shear).assemble(plate.basis)
    x = plate.basis.zeros()
    x[plate.right] = 1e-3
    expected = solve(*condense(matrix, x=x, D=plate.prescribed))
    np.testing.assert_allclose(plate.u, expected, rtol=1e-9, atol=1e-14)
    assert plate.force == pytest.approx((matrix @ expected)[plate.right].sum(), rel=1e-9)
    assert plate.iterations == [1]


def test_plasticity(python_hosts, artifact):
    from scikit_fem_plate import Plate

    law = matlaw.load_model(artifact("j2_plastic-native") / "model_aoti.i", "model")
    forces = {}
    for hypothesis in ("plane_stress", "plane_strain"):
        plate = Plate(law, hypothesis, refinements=2)
        for k in range(1, 6):
            plate.step(1e-3 * k, 0.2 * k)
        forces[hypothesis] = plate.force
        assert plate.batch.state("equivalent_plastic_strain~1").max() > 1e-3
        assert max(plate.iterations) <= 6, "the tangent is consistent"
        stress = plate.batch.full_stress()
        if hypothesis == "plane_stress":
            assert np.abs(stress[:, 2]).max() <= 1e-9 * np.abs(stress).max()
            thickness = plate.batch.full_strain()[:, 2]
            assert thickness.max() < 0, "it gets thinner"
    # A wide plate that may thin out carries less.
    assert 250 < forces["plane_stress"] < forces["plane_strain"]
