"""Settings of solves at run time: of each implicit update, of derivatives, and what iterative solves say of rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from same_rows import assert_same, rows_of
from two_cubes import TWO_SOLVERS

import matlaw
from matlaw import FatalError, Reason, Status
from matlaw.artifact import compile_model

CHAIN = f"""{TWO_SOLVERS}
[Solvers]
  [newton]
    type = Newton
    abs_tol = 1e-13
    linear_solver = 'lu'
  []
  [other]
    type = Newton
    abs_tol = 1e-9
    max_its = 31
    linear_solver = 'lu'
  []
  [lu]
    type = DenseLU
  []
[]
"""


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the compiled law, beside its input file."""
    folder = tmp_path_factory.mktemp("settings")
    (folder / "chain.i").write_text(CHAIN)
    compile_model(folder / "chain.i", "model", folder, backend="both", jobs=2)
    return folder / "model"


@pytest.fixture(params=["native", "inductor", "source", "eager"])
def law(request, chain):
    if request.param == "eager":
        return matlaw.load_model(chain.parent / "chain.i", "model")
    if request.param == "source":
        return matlaw.load_model(chain, "model", runtime="eager")
    return matlaw.load_model(chain, "model", backend=request.param)


A = {"a": np.linspace(0.5, 40.0, 9)}


def test_each_implicit_update_has_settings_of_its_own(law, chain):
    assert law.implicit_updates == ["update_x", "update_y"]
    assert law.solver_configs["update_x"]["atol"] == law.solver_config["atol"] == 1e-13
    assert law.solver_configs["update_y"]["atol"] == 1e-9
    assert law.solver_configs["update_y"]["miters"] == 31
    assert law.evaluate(A).ok
    law.set_solver_config("update_y", miters=2)
    assert law.solver_configs["update_y"]["miters"] == 2
    assert law.solver_configs["update_x"]["miters"] == 25
    found = law.evaluate(A, history=True)
    assert found.failed_rows
    assert set(np.asarray(found.place)[found.failed_rows]) == {1}
    assert [h.step.shape[-1] for h in found.history] == [25, 2]
    failure = law.last_failure()
    assert failure.miters == 2
    assert failure.atol == 1e-9
    assert "iteration limit of 2 reached in 'update_y'" in failure.message()
    law.set_solver_config(miters=40)
    assert [config["miters"] for config in law.solver_configs.values()] == [40, 40]
    assert law.evaluate(A).ok


def test_wrong_settings_change_nothing(law):
    before = law.solver_configs
    for arguments, settings, message in (
        (("update_z",), {"miters": 3}, "'update_z'"),
        ((), {"iterations": 3}, "iterations"),
        ((), {"miters": -1}, "miters"),
        (("update_x",), {"krylov": {"rel_tol": 1e-3}}, "direct"),
        ((), {"input_sensitivity": {"rel_tol": 1e-3}}, "direct"),
    ):
        with pytest.raises(FatalError, match=message):
            law.set_solver_config(*arguments, **settings)
    assert law.solver_configs == before


@pytest.mark.parametrize(
    ("settings", "meant"),
    [
        ({"rel_tol": 1e-9}, "rtol"),
        ({"abs_tol": 1e-9}, "atol"),
        ({"max_its": 9}, "miters"),
        ({"linesearch_stopping_criteria": 0.1}, "ls_c"),
        ({"mitres": 9}, "miters"),
    ],
)
def test_names_of_input_files_are_answered_by_those_of_run_time(law, settings, meant):
    with pytest.raises(FatalError, match=f"no solver setting '{next(iter(settings))}'.* Did you mean '{meant}'"):
        law.set_solver_config(**settings)


@pytest.mark.parametrize(("given", "meant"), [("rtol", "rel_tol"), ("atol", "abs_tol"), ("miters", "max_its")])
def test_names_of_run_time_are_answered_by_those_of_iterative_solvers_and_input_files(given, meant, tmp_path):
    with pytest.raises(FatalError, match=rf"no solver setting 'krylov\.{given}'.* Did you mean '{meant}'"):
        matlaw._core.changed_solver_config({}, {"krylov": {given: 1}})
    (tmp_path / "chain.i").write_text(CHAIN.replace("abs_tol = 1e-13", f"{given} = 1"))
    with pytest.raises(FatalError, match=f"chain.i:.*{given}.*did you mean '{meant}'"):
        matlaw.load_model(tmp_path / "chain.i", "model")


def test_metadata_names_the_updates(chain):
    metadata = json.loads((chain / "metadata.json").read_text())
    assert [segment["update"] for segment in metadata["segments"]] == ["update_x", "update_y"]
    assert metadata["solver_config"]["atol"] == 1e-13
    assert "solver_config" not in metadata["segments"][0]
    assert metadata["segments"][1]["solver_config"]["atol"] == 1e-9


def test_a_replay_has_the_settings_of_each_update(chain, tmp_path, monkeypatch):
    from matlaw.replay import read_replay_file
    from matlaw.replay.law import replayed_law

    monkeypatch.setenv("MATLAW_FAILURE_DIR", str(tmp_path / "failures"))
    law = matlaw.load_model(chain, "model")
    law.set_solver_config("update_y", miters=2)
    law.evaluate(A)
    file = read_replay_file(next((tmp_path / "failures").iterdir()))
    assert replayed_law(file).solver_configs == law.solver_configs


@pytest.fixture(scope="module")
def iterative(models: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Stub of the viscoplastic law with an iterative linear solver; native kernels, compiled once for each."""
    folder = tmp_path_factory.mktemp("iterative")
    source = (models / "j2_viscoplastic.i").read_text()

    def build(name: str, newton: str = "type = DenseLU", update: str = "", blocks: str = "") -> Path:
        place = folder / name
        if not place.exists():
            text = source.replace("type = DenseLU", newton).replace("  [lu]", f"{blocks}  [lu]")
            text = text.replace("predictor = 'predictor'", f"predictor = 'predictor'\n{update}")
            (folder / f"{name}.i").write_text(text)
            derivatives = ("stress:strain", "stress:update.system.elastic_strain.offset")
            parameters = ("update.system.elastic_strain.offset",)
            compile_model(
                folder / f"{name}.i", "model", place, derivatives=derivatives, parameters=parameters, backend="native"
            )
        return place / "model_aoti.i"

    return build


def stiff(rows: int = 37) -> dict[str, np.ndarray]:
    """Steps far beyond yield."""
    rng = np.random.default_rng(12)
    direction = rng.normal(size=(rows, 6))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return {
        "strain": direction * np.linspace(1e-4, 4e-3, rows)[:, None],
        "plastic_strain~1": np.zeros((rows, 6)),
        "equivalent_plastic_strain~1": np.zeros(rows),
        "t": np.ones(rows),
        "t~1": np.zeros(rows),
    }


LOOSE = "  [loose]\n type = GMRES\n rel_tol = 1e-2\n []\n"


@pytest.mark.parametrize("by", ["input", "param"])
def test_tolerances_of_derivatives_can_be_set(iterative, by):
    stub = iterative(f"sensitive-{by}", update=f"{by}_sensitivity_solver = loose", blocks=LOOSE)
    exact = matlaw.load_model(iterative("lu"), "model")
    for law in (matlaw.load_model(stub, "model"), matlaw.load_model(stub, "model", runtime="eager")):

        def error(law=law) -> float:
            if by == "input":
                expected, found = (m.jacobian(stiff())[1]["stress"]["strain"] for m in (exact, law))
            else:
                expected, found = (
                    m.param_jacobian(stiff())["stress"]["update.system.elastic_strain.offset"] for m in (exact, law)
                )
            return float(np.abs(found - expected).max() / np.abs(expected).max())

        assert law.solver_config[f"{by}_sensitivity"]["rel_tol"] == 1e-2
        loose = error()
        law.set_solver_config(**{f"{by}_sensitivity": {"rel_tol": 1e-12}})
        assert law.solver_config[f"{by}_sensitivity"]["max_its"] == 1000
        assert loose > 1e-5 > 1e-8 > error()
        with pytest.raises(FatalError, match=f"{by}_sensitivity.rel_tol|rel_tol"):
            law.set_solver_config(**{f"{by}_sensitivity": {"rel_tol": 2.0}})


JACOBI = "  [pre]\n type = JacobiPreconditioner\n []\n"


@pytest.fixture
def preconditioned(iterative, artifact):
    """Loads the law with GMRES and a preconditioner, to run on native kernels, .pt2 graphs, or eagerly."""

    def load(runs_on: str):
        if runs_on == "inductor":
            return matlaw.load_model(artifact("j2_krylov-both"), "model", backend=runs_on)
        stub = iterative("jacobi", "type = GMRES\n preconditioner = pre", blocks=JACOBI)
        return matlaw.load_model(stub, "model", runtime="eager" if runs_on == "eager" else "aoti")

    return load


INDUCTOR = pytest.param("inductor", marks=pytest.mark.inductor)


@pytest.mark.parametrize("backend", ["native", INDUCTOR])
@pytest.mark.parametrize("tolerance", [1e-1, 1e-2, 1e-4])
def test_a_loose_linear_solver_loses_no_row(preconditioned, iterative, backend, tolerance):
    exact = matlaw.load_model(iterative("lu"), "model").evaluate(stiff())
    law = preconditioned(backend)
    law.set_solver_config(krylov={"rel_tol": tolerance})
    found = law.evaluate(stiff())
    np.testing.assert_array_equal(found.status, exact.status)
    scale = np.abs(exact.outputs["stress"]).max()
    np.testing.assert_allclose(found.outputs["stress"], exact.outputs["stress"], atol=1e-6 * scale)
    one = law.evaluate(rows_of(stiff(), [20]))
    assert_same(one.outputs, rows_of(found.outputs, [20]), backend)


@pytest.mark.parametrize("runs_on", ["native", INDUCTOR, "eager"])
def test_a_linear_solver_that_gives_up_is_the_reason(preconditioned, runs_on):
    law = preconditioned(runs_on)
    law.set_solver_config(krylov={"max_its": 1, "rel_tol": 1e-12})
    found = law.evaluate(stiff(), history=True)
    assert found.failed_rows
    failed = np.asarray(found.status) == Status.NOT_CONVERGED
    assert set(np.asarray(found.reason)[failed]) == {int(Reason.LINEAR_SOLVER)}
    assert "linear solver exhausted" in law.last_failure().message()
