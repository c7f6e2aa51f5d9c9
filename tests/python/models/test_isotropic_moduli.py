"""Every pair of elastic constants describes the same solid."""

import itertools

import pytest
import torch

from matlaw.models.solid_mechanics.elasticity.isotropic_moduli import CONVERSIONS, SYMBOLS
from matlaw.tensors import SR2

E, NU = 200.0, 0.3
G, K = E / (2 * (1 + NU)), E / (3 * (1 - 2 * NU))
VALUES = {
    "YOUNGS_MODULUS": E,
    "POISSONS_RATIO": NU,
    "SHEAR_MODULUS": G,
    "BULK_MODULUS": K,
    "LAME_LAMBDA": K - 2 * G / 3,
    "P_WAVE_MODULUS": K + 4 * G / 3,
}


def test_all_pairs_are_there():
    assert {frozenset(p) for p in CONVERSIONS} == {frozenset(p) for p in itertools.combinations(SYMBOLS, 2)}
    assert set(VALUES) == set(SYMBOLS)


@pytest.mark.parametrize("pair", list(itertools.permutations(VALUES, 2)), ids="-".join)
def test_stress(model, pair):
    a, b = pair
    m = model(
        f"[m]\ntype = LinearIsotropicElasticity\ncoefficients = '{VALUES[a]:.17g} {VALUES[b]:.17g}'\n"
        f"coefficient_types = '{a} {b}'\n[]"
    )
    assert set(m.named_parameters()) == {f"m.{SYMBOLS[a]}", f"m.{SYMBOLS[b]}"}
    strain = SR2.constant([1e-3, 2e-3, -1e-3, 5e-4, 2e-4, -7e-4])
    stress = m.evaluate({"strain": strain})["stress"].data[:, 0]
    lam, two_g = VALUES["LAME_LAMBDA"] * 2e-3, 2 * G
    expected = torch.tensor([lam + two_g * 1e-3, lam + two_g * 2e-3, lam - two_g * 1e-3, two_g * 5e-4, two_g * 2e-4,
                             -two_g * 7e-4], dtype=torch.float64)  # fmt: skip
    torch.testing.assert_close(stress, expected, rtol=1e-12, atol=1e-15)
