"""Line searches from an input file, in eager and compiled laws, and solver settings at run time."""

from __future__ import annotations

import artifacts
import numpy as np
import pytest
import torch

import matlaw
from matlaw import ConvergenceError, FatalError, Status, _core
from matlaw.artifact import compile_model


def arctangent(start):
    """atan(u) = 0, for which Newton's steps grow from ``|u| > 1.39``."""

    def residual(u, rows):
        return -torch.atan(u)

    def jacobian(u, rows):
        return (1 / (1 + u**2)).unsqueeze(0), residual(u, rows)

    return residual, jacobian, torch.tensor([start], dtype=torch.float64)


@pytest.mark.parametrize("kind", ["BACKTRACKING", "STRONG_WOLFE"])
def test_converges_where_newton_diverges(kind):
    system = arctangent([0.5, 3.0, -20.0])
    _, status, *_ = _core.newton(*system, 1e-12, 1e-12, 40)
    assert status.tolist() == [Status.CONVERGED, Status.NOT_CONVERGED, Status.NOT_CONVERGED]
    u, status, iterations, *_ = _core.newton(*system, 1e-12, 1e-12, 40, ls_type=kind)
    assert status.tolist() == [Status.CONVERGED] * 3
    assert float(u.abs().max()) < 1e-11
    for row, start in enumerate([0.5, 3.0, -20.0]):
        alone, _, count, *_ = _core.newton(*arctangent([start]), 1e-12, 1e-12, 40, ls_type=kind)
        assert torch.equal(alone[:, 0], u[:, row])
        assert count[0] == iterations[row]


@pytest.mark.parametrize(
    ("options", "message"),
    [({"ls_type": "wolfe"}, "'wolfe'"), ({"ls_cutback": 0.5}, "ls_cutback"), ({"ls_max_iters": 0}, "ls_max_iters")],
)
def test_wrong_options(options, message):
    with pytest.raises(FatalError, match=message):
        _core.newton(*arctangent([1.0]), 1e-12, 1e-12, 40, **options)


@pytest.fixture
def law_file(models, tmp_path):
    """Writes j2_viscoplastic.i with a line search."""

    def write(options: str):
        text = (models / "j2_viscoplastic.i").read_text()
        assert text.count("type = Newton\n") == 1
        path = tmp_path / "law.i"
        path.write_text(text.replace("type = Newton\n", f"type = NewtonWithLineSearch\n{options}\n"))
        return path

    return write


def first_step(rows: int) -> dict[str, np.ndarray]:
    return {
        "strain": 2e-3 * np.sin(1.0 + np.arange(rows * 6)).reshape(rows, 6),
        "t": np.full(rows, 0.1),
        "t~1": np.zeros(rows),
        "plastic_strain~1": np.zeros((rows, 6)),
        "equivalent_plastic_strain~1": np.zeros(rows),
    }


@pytest.mark.inductor
@pytest.mark.parametrize("kind", ["BACKTRACKING", "STRONG_WOLFE"])
def test_compiled_and_eager_search_alike(kind, law_file, shared_law, models, tmp_path):
    shared_law("j2_viscoplastic", "inductor")  # whose graphs are those of this law
    path = law_file(f"linesearch_type = {kind}\nmax_linesearch_iterations = 7\nlinesearch_stopping_criteria = 0.01")
    compile_model(path, "model", tmp_path / "out", ("stress:strain",), cache=artifacts.cache())
    inputs = first_step(12)
    eager = matlaw.load_model(path, "model").evaluate(inputs, jacobian=True, pairs=[("stress", "strain")])
    plain = matlaw.load_model(models / "j2_viscoplastic.i", "model").evaluate(inputs)
    for backend in ("native", "inductor"):
        compiled = matlaw.load_model(tmp_path / "out" / "model_aoti.i", "model", backend=backend)
        assert compiled.backend == backend
        config = compiled.solver_config
        searches = tuple(config[name] for name in ("ls_type", "ls_max_iters", "ls_cutback", "ls_c"))
        assert searches == (kind, 7, 2.0, 0.01)
        found = compiled.evaluate(inputs, jacobian=True)
        assert not found.failed_rows
        np.testing.assert_array_equal(found.iterations, eager.iterations)
        np.testing.assert_allclose(found.outputs["stress"], eager.outputs["stress"], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(found.outputs["stress"], plain.outputs["stress"], rtol=1e-6, atol=1e-6)
        block = eager.jacobian["stress"]["strain"]
        np.testing.assert_allclose(found.jacobian["stress"]["strain"], block, atol=1e-9 * np.abs(block).max())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("linesearch_type = BACKTRACK", "BACKTRACK"),
        ("linesearch_cutback = 1", "above 1"),
        ("max_linesearch_iterations = 0", "1 or more"),
        ("linesearch_stopping_criteria = 1.5", "between 0 and 1"),
        ("linesearch_stopping_criteria = 0.7\ncheck_negative_criterion = true", "below 0.5"),
    ],
)
def test_wrong_options_in_an_input_file(options, message, law_file):
    with pytest.raises(FatalError, match=message):
        matlaw.load_model(law_file(options), "model")


@pytest.mark.parametrize("backend", ["native", pytest.param("inductor", marks=pytest.mark.inductor)])
def test_settings_at_run_time(shared_law, backend):
    law = shared_law("j2_viscoplastic", backend)
    before = law.solver_config
    assert before["ls_type"] == "NONE"
    inputs = first_step(5)
    stress = law.forward(inputs)["stress"]
    law.set_solver_config(miters=1)
    assert law.solver_config == {**before, "miters": 1}
    with pytest.raises(ConvergenceError):
        law.forward(inputs)
    law.set_solver_config(miters=before["miters"], ls_type="BACKTRACKING")
    np.testing.assert_allclose(law.forward(inputs)["stress"], stress, rtol=1e-6, atol=1e-6)
    for settings, message in (({"mitres": 1}, "mitres"), ({"miters": "many"}, "miters"), ({"atol": -1.0}, "atol")):
        with pytest.raises(FatalError, match=message):
            law.set_solver_config(**settings)


@pytest.mark.parametrize("backend", ["native", pytest.param("inductor", marks=pytest.mark.inductor)])
def test_a_law_that_solves_nothing(shared_law, backend):
    law = shared_law("linear_elastic", backend)
    with pytest.raises(FatalError, match="solves nothing"):
        law.set_solver_config(miters=3)
    strain = np.ones((4, 6))
    block = law.jacobian({"strain": strain})[1]["stress"]["strain"]
    assert block.shape == (6, 6)
    np.testing.assert_allclose(strain @ block.T, law.forward({"strain": strain})["stress"])
