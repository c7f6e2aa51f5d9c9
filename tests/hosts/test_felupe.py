"""FElupe with laws of matlaw against FElupe with its own."""

from __future__ import annotations

import numpy as np
import pytest

import matlaw

felupe = pytest.importorskip(
    "felupe", reason="FElupe is not installed: pip install --no-deps -r scripts/requirements-hosts.txt"
)


def pulled(material, stretches, before_step=lambda k: None):
    """Forces on the moved face and displacements of a block pulled step by step."""
    mesh = felupe.Cube(b=(2, 1, 1), n=(4, 3, 3))
    field = felupe.FieldContainer([felupe.Field(felupe.RegionHexahedron(mesh), dim=3)])
    boundaries = felupe.dof.uniaxial(field, clamped=True, sym=False, return_loadcase=False)
    dof0, dof1 = felupe.dof.partition(field, boundaries)
    solid = felupe.SolidBody(material, field)
    forces = []
    for k, stretch in enumerate(stretches):
        before_step(k)
        boundaries["move"].update(stretch)
        ext0 = felupe.dof.apply(field, boundaries, dof0)
        result = felupe.newtonraphson(items=[solid], dof0=dof0, dof1=dof1, ext0=ext0, tol=1e-10, verbose=0)
        assert result.success
        forces.append(felupe.tools.force(field, result.fun, boundaries["move"])[0])
    return np.array(forces), field[0].values.copy()


def test_elasticity(python_hosts, models):
    from felupe_material import SmallStrainLaw

    law = matlaw.load_model(models / "linear_elastic.i", "model")
    got = pulled(SmallStrainLaw(law), [1e-3, 2e-3])
    expected = pulled(felupe.LinearElastic(E=200000.0, nu=0.3), [1e-3, 2e-3])
    for ours, theirs in zip(got, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


def test_plasticity_with_its_state_in_felupe(python_hosts, models, tmp_path):
    from felupe_material import SmallStrainLaw

    from matlaw.artifact import compile_model

    compile_model(models / "linear_isotropic_hardening.i", "model", tmp_path, derivatives=["stress:strain"],
                  backend="native")  # fmt: skip
    material = SmallStrainLaw(matlaw.load_model(tmp_path / "model_aoti.i", "model"))

    def move_on(k: int) -> None:
        material.time = 0.1 * (k + 1)

    # Loading, unloading and loading the other way.
    stretches = [2e-3, 6e-3, 1e-2, 6e-3, 0.0, -4e-3]
    got = pulled(material, stretches, move_on)
    own = felupe.LinearElasticPlasticIsotropicHardening(E=200000.0, nu=0.3, sy=250.0, K=2000.0)
    expected = pulled(own, stretches)
    for ours, theirs in zip(got, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-9 * np.abs(theirs).max())
    assert expected[0][2] < 1.5 * expected[0][1], "the history should yield"


def test_a_failed_point_is_a_convergence_error(python_hosts, models):
    from felupe_material import SmallStrainLaw

    material = SmallStrainLaw(matlaw.load_model(models / "j2_plastic.i", "model"))
    gradient = np.tile(np.eye(3)[:, :, None, None], (1, 1, 2, 3))
    gradient[0, 0, 1, 2] = np.nan
    with pytest.raises(matlaw.ConvergenceError) as failed:
        material.gradient([gradient, np.zeros((material.x[1].size, 2, 3))])
    assert failed.value.failed_rows == [5]
