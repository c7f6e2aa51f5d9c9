"""An eager law computes the derivatives that a host uses, and others when they are asked for."""

from __future__ import annotations

import numpy as np

import matlaw
from matlaw.runtime.eager import EagerLaw


class Recorded(EagerLaw):
    """Keeps which pairs every evaluation was asked for."""

    asked: list

    def evaluate(self, inputs, jacobian=False, pairs=None):
        self.asked.append(pairs if jacobian else [])
        return super().evaluate(inputs, jacobian, pairs)


def test_only_the_tangents_that_are_used_are_computed(models):
    law = Recorded(models / "j2_viscoplastic.i", "model")
    law.asked = []
    batch = matlaw.QuadratureBatch(law, 3)
    strain = 1e-3 * np.sin(np.arange(18.0)).reshape(3, 6)
    batch.set_input("strain", strain)
    batch.set_input("t", 1.0)
    assert batch.evaluate(tangent=True).ok
    first = batch.tangent("stress", "strain").copy()
    assert batch.evaluate(tangent=True).ok
    np.testing.assert_allclose(batch.tangent("stress", "strain"), first, rtol=1e-11, atol=1e-6)
    assert law.asked == [None, [("stress", "strain")]]

    # One more: computed for the inputs that were evaluated, whatever was set since.
    batch.set_input("strain", 2 * strain)
    by_time = batch.tangent("stress", "t").copy()
    assert law.asked[2:] == [[("stress", "t")]]
    batch.set_input("strain", strain)
    batch.evaluate(tangent=True)
    assert sorted(law.asked[-1]) == [("stress", "strain"), ("stress", "t")]
    np.testing.assert_allclose(batch.tangent("stress", "t"), by_time, rtol=1e-11, atol=1e-6)
    np.testing.assert_allclose(batch.tangent("stress", "strain"), first, rtol=1e-11, atol=1e-6)
    batch.evaluate()
    assert law.asked[-1] == []
