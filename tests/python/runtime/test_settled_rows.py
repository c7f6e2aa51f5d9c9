"""A step far too large has a huge first residual: what is below `rtol` of it need not be a solution."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matlaw

LARGE = np.array([2e-3, 1e-2, 5e-2, 0.1, 0.3])


def of_large_steps(law: Any, **settings: Any) -> matlaw.Evaluation:
    strain = np.zeros((len(LARGE), 6))
    strain[:, 0], strain[:, 1], strain[:, 3] = LARGE, -0.4 * LARGE, 0.2 * LARGE
    shapes = zip(law.input_names, law.input_base_shapes, strict=True)
    inputs = {name: np.zeros((len(LARGE), *base)) for name, base in shapes}
    law.set_solver_config(miters=200, max_substepping_level=0, **settings)
    return law.evaluate(inputs | {"strain": strain, "t": np.ones(len(LARGE))}, jacobian=True)


@pytest.mark.parametrize("how", ["native", "inductor", "eager"])
def test_a_loose_relative_tolerance_still_means_a_solution(
    artifact: Callable[[str], Path], models: Path, how: str
) -> None:
    law = (
        matlaw.load_model(models / "j2_viscoplastic.i", "model")
        if how == "eager"
        else matlaw.load_model(artifact("j2_viscoplastic-both"), "model", backend=how)
    )
    exact = of_large_steps(law, rtol=1e-14, atol=1e-10)
    assert exact.ok
    for rtol in (1e-8, 1e-4):
        loose = of_large_steps(law, rtol=rtol, atol=1e-10)
        assert loose.ok
        assert loose.iterations.max() <= exact.iterations.max()
        for name, value in exact.outputs.items():
            scale = np.abs(value).max(axis=tuple(range(1, value.ndim)), keepdims=True)
            np.testing.assert_allclose(loose.outputs[name] / scale, value / scale, atol=1e-5)
