"""Newton's method inside a kernel gives what the general solver gives, row by row."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import matlaw
from matlaw import Status

LAWS = ["j2_viscoplastic-native", "j2_plastic-native"]
Artifact = Callable[[str], Path]


def step(law: matlaw.runtime.CompiledModel, rows: int) -> dict[str, np.ndarray]:
    """A step from a state with plastic strain, from elastic rows to ones far beyond yield."""
    strain = 1.5e-3 * np.sin(1.0 + np.arange(rows * 6)).reshape(rows, 6) * np.linspace(0.02, 2.0, rows)[:, None]
    zero = np.zeros(rows)
    first = {name: strain if name == "strain" else zero for name in law.input_names}
    first |= {"t": zero + 0.5, "plastic_strain~1": 0 * strain}
    state = law.forward(first)
    old = {f"{name}~1": value for name, value in state.items() if f"{name}~1" in first}
    return first | old | {"strain": strain[::-1] * 1.1, "t": zero + 1.0, "t~1": zero + 0.5}


@pytest.mark.parametrize("name", LAWS)
def test_as_the_general_solver(artifact: Artifact, name: str) -> None:
    """Who asks for the history gets the general solver."""
    law = matlaw.load_model(artifact(name) / "model_aoti.i", "model")
    inputs = step(law, 203)
    fast = law.evaluate(inputs, jacobian=True)
    general = law.evaluate(inputs, jacobian=True, history=True)
    assert not fast.failed_rows
    assert fast.iterations.max() > 2
    np.testing.assert_array_equal(fast.iterations, general.iterations)
    np.testing.assert_array_equal(fast.dt_factor, general.dt_factor)
    for output, value in general.outputs.items():
        np.testing.assert_allclose(fast.outputs[output], value, rtol=1e-10, atol=1e-10)
    tangent, expected = (r.jacobian["stress"]["strain"] for r in (fast, general))
    np.testing.assert_allclose(tangent, expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("miters", [1, 3, 5, 8])
def test_rows_that_it_leaves(artifact: Artifact, name: str, miters: int) -> None:
    """Rows that are out of iterations have the verdict of the general solver, and spoil no other."""
    law = matlaw.load_model(artifact(name) / "model_aoti.i", "model")
    inputs = step(law, 101)
    whole = law.evaluate(inputs)
    law.set_solver_config(miters=miters)
    fast, general = law.evaluate(inputs), law.evaluate(inputs, history=True)
    np.testing.assert_array_equal(fast.status, general.status)
    np.testing.assert_array_equal(fast.iterations, general.iterations)
    expected = np.where(whole.iterations <= miters, int(Status.CONVERGED), int(Status.NOT_CONVERGED))
    np.testing.assert_array_equal(fast.status, expected)
    good = expected == int(Status.CONVERGED)
    assert good.any() or miters < 8
    np.testing.assert_array_equal(fast.outputs["stress"][good], whole.outputs["stress"][good])
    assert np.isnan(fast.outputs["stress"][~good]).all()


@pytest.mark.parametrize("name", LAWS)
def test_no_row_knows_of_others(artifact: Artifact, name: str) -> None:
    law = matlaw.load_model(artifact(name) / "model_aoti.i", "model")
    inputs = step(law, 67)
    inputs["strain"][13] = np.nan
    inputs["strain"][29] *= 1e12
    whole = law.evaluate(inputs)
    for row in (0, 12, 13, 14, 29, 30, 66):
        alone = law.evaluate({key: value[row : row + 1] for key, value in inputs.items()})
        assert alone.status[0] == whole.status[row]
        np.testing.assert_array_equal(alone.outputs["stress"][0], whole.outputs["stress"][row])
    order = np.random.default_rng(1).permutation(67)
    permuted = law.evaluate({key: value[order] for key, value in inputs.items()})
    np.testing.assert_array_equal(permuted.outputs["stress"], whole.outputs["stress"][order])
