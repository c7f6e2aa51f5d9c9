"""Replay files: written where MATLAW_FAILURE_DIR asks for it, opened by matlaw-replay."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys

import numpy as np
import pytest
from failing_calls import BAD, failing, step

import matlaw
from matlaw.cli.replay import main
from matlaw.errors import FatalError
from matlaw.replay import read_replay_file, replayed_law, row_inputs, trace_row

CODE = """
import numpy as np, sys
import matlaw
sys.path.insert(0, {tests!r})
from failing_calls import failing, step
law = matlaw.load_model({path!r}, "model")
"""


@pytest.fixture(scope="module", params=["native", pytest.param("inductor", marks=pytest.mark.inductor), "eager"])
def law_path(request, artifact, models):
    if request.param == "eager":
        return models / "j2_viscoplastic.i"
    return artifact("j2_viscoplastic-" + ("both" if request.param == "inductor" else "native")) / "model_aoti.i"


@pytest.fixture
def compiled_path(artifact):
    return artifact("j2_viscoplastic-native") / "model_aoti.i"


def run(path, body: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A process of its own: the number of files is bounded for each."""
    code = CODE.format(tests=os.path.dirname(__file__), path=str(path)) + body
    return subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def file(law_path, tmp_path_factory):
    folder = tmp_path_factory.mktemp("calls") / "failures"
    done = run(
        law_path,
        "try:\n    law.forward(failing())\nexcept matlaw.ConvergenceError as error:\n    print(error)\n",
        MATLAW_FAILURE_DIR=str(folder),
        MATLAW_BACKEND="inductor" if law_path.parent.name.endswith("-both") else "auto",
    )
    assert done.stderr == ""
    [path] = folder.iterdir()
    assert done.stdout.strip().endswith(f"Step through it: matlaw-replay {path}")
    return path


def test_a_failing_call_writes_one_file(file, law_path):
    found = read_replay_file(file)
    assert found.model == "model" and found.n_rows == 6 and found.n_failed == 2
    assert [row.row for row in found.rows] == BAD
    assert [settings["miters"] for settings in found.solvers.values()] == [16]
    assert found.runtime == ("eager" if law_path.name == "j2_viscoplastic.i" else "compiled")
    assert "[Models]" in found.source and found.dtype == "float64"
    np.testing.assert_array_equal(found.rows[1].inputs["strain"], failing()["strain"][4])
    for row in found.rows:
        assert len(row.residuals) == len(row.steps) + 1 == row.iterations + 1
    with pytest.raises(FatalError, match="no row 3; it holds the rows 1, 4"):
        found.row(3)


def test_the_trace_is_what_the_failing_call_did(file):
    found = read_replay_file(file)
    law = replayed_law(found)
    assert law.solver_config["miters"] == 16
    for row in found.rows:
        trace = trace_row(law, row_inputs(found, row, law))
        assert trace.reason == row.reason and trace.text == row.text
        [segment] = trace.segments
        norms = [iteration.norm for iteration in segment.iterations]
        assert len(norms) == len(row.residuals)
        np.testing.assert_allclose(norms[:3], row.residuals[:3], rtol=1e-5)
        for iteration in segment.iterations:
            if math.isfinite(iteration.norm):
                squares = sum(value**2 for value in iteration.residuals.values())
                assert iteration.norm == pytest.approx(math.sqrt(squares))
                assert iteration.residuals[iteration.worst] == max(iteration.residuals.values())
                assert iteration.condition >= 1
            assert {name: len(values) for name, values in iteration.unknowns.items()} == {
                "plastic_strain": 6, "equivalent_plastic_strain": 1,
            }  # fmt: skip


def test_a_replay_writes_no_replay_files(file, monkeypatch):
    monkeypatch.setenv("MATLAW_FAILURE_DIR", str(file.parent))
    assert main([str(file)]) == 1
    assert list(file.parent.iterdir()) == [file]


def test_the_command_prints_tables(file, capsys):
    assert main([str(file)]) == 1
    out = " ".join(capsys.readouterr().out.split())
    for part in ("2 of 6 rows failed", "cond(A)", "equivalent_plastic_strain", "rows in the file", "eager: "):
        assert part in out
    assert main([str(file), "--row", "4"]) == 1
    assert "row 4" in capsys.readouterr().out


def test_the_command_writes_data(file, capsys, tmp_path):
    assert main([str(file), "--all", "--json", "-"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert [row["row"] for row in data["rows"]] == BAD
    [segment] = data["rows"][0]["segments"]
    assert segment[0].keys() == {"norm", "residuals", "worst", "unknowns", "condition", "step"}
    assert main([str(file), "--json", str(tmp_path / "trace.json")]) == 1
    assert json.loads((tmp_path / "trace.json").read_text())["n_failed"] == 2


def test_the_command_evaluates_the_compiled_law_too(file, law_path, capsys):
    code = main([str(file), "--runtime", "--json", "-"])
    if law_path.name == "j2_viscoplastic.i":
        assert code == 2
        assert "evaluated eagerly" in capsys.readouterr().err
        return
    assert code == 1
    [row] = json.loads(capsys.readouterr().out)["rows"]
    assert row["compiled"]["text"] == row["text"] and row["compiled"]["status"] == "NOT_CONVERGED"


def test_a_cured_call_is_no_failure(file, tmp_path, capsys):
    data = json.loads(file.read_text())
    for row in data["rows"]:
        row["inputs"]["strain"] = [1e-6] * 6
    (tmp_path / "cured.json").write_text(json.dumps(data))
    assert main([str(tmp_path / "cured.json"), "--all"]) == 0
    assert "eager: converged" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not a replay file"),
        ("[]", "not a replay file; expected one that matlaw wrote"),
        ('{"matlaw_failure": 2}', "version 2; this matlaw reads version 1"),
        ('{"matlaw_failure": 1}', "a damaged replay file"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path, capsys, text, message):
    path = tmp_path / "failure.json"
    path.write_text(text)
    assert main([str(path)]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("matlaw-replay: error: ") and message in line


def test_an_edited_file_that_does_not_fit_is_one_line(file, tmp_path, capsys):
    path = tmp_path / "edited.json"

    def told(edit):
        data = json.loads(file.read_text())
        edit(data)
        path.write_text(json.dumps(data))
        assert main([str(path), "--all"]) == 2
        [line] = capsys.readouterr().err.splitlines()
        return line

    row = json.loads(file.read_text())["rows"][0]["row"]
    assert f"row {row} has 5 numbers for the input 'strain', expected 6" in told(
        lambda data: data["rows"][0]["inputs"]["strain"].pop()
    )
    assert "'text' has to be a text, not 3" in told(lambda data: data["source"].update(text=3))
    assert "the parameter 'E' has 1 numbers, of its shape (2,) are 2" in told(
        lambda data: data["parameters"].update(E={"shape": [2], "value": [1.0]})
    )


def test_missing_files_and_rows(file, tmp_path, capsys):
    assert main([str(tmp_path / "none.json")]) == 2
    assert main([str(file), "--row", "0"]) == 2
    assert "there is no row 0" in capsys.readouterr().err


def test_the_number_of_files_is_bounded(compiled_path, tmp_path):
    done = run(compiled_path, "for _ in range(25): law.evaluate(failing())", MATLAW_FAILURE_DIR=str(tmp_path / "f"))
    assert done.returncode == 0 and done.stderr == ""
    assert len(list((tmp_path / "f").iterdir())) == 20


def test_a_folder_that_cannot_be_written_breaks_nothing(compiled_path, tmp_path):
    (tmp_path / "file").write_text("")
    done = run(
        compiled_path,
        "for _ in range(3): print(law.evaluate(failing()).failed_rows)",
        MATLAW_FAILURE_DIR=str(tmp_path / "file"),
    )
    assert done.returncode == 0 and done.stdout == f"{BAD}\n" * 3
    [line] = done.stderr.splitlines()  # said once
    assert (
        line.startswith("matlaw: MATLAW_FAILURE_DIR: no replay file was written: ") and str(tmp_path / "file") in line
    )


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_breaks_nothing(compiled_path, tmp_path):
    folder = tmp_path / "full"
    folder.mkdir()
    # The limit on the size of files stands for a full disk.
    body = (
        "import resource, signal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "print(law.evaluate(failing()).failed_rows)"
    )
    done = run(compiled_path, body, MATLAW_FAILURE_DIR=str(folder), PYTHONDONTWRITEBYTECODE="1")
    assert done.returncode == 0 and done.stdout == f"{BAD}\n"
    assert str(folder) in done.stderr and "large" in done.stderr
    assert list(folder.iterdir()) == []  # nothing half-written


def test_nothing_is_written_for_good_calls(compiled_path, tmp_path):
    run(compiled_path, "law.evaluate(step())", MATLAW_FAILURE_DIR=str(tmp_path / "f"))
    assert not (tmp_path / "f").exists()


def test_names_and_parameters_of_a_renamed_law(models, tmp_path, monkeypatch):
    from matlaw.artifact import compile_model

    compile_model(
        models / "j2_viscoplastic.i", "model", tmp_path, backend="native", verify="none",
        parameters=["update.system.elasticity.E"], rename_inputs=["strain=eps"],
        rename_parameters=["update.system.elasticity.E=youngs"],
    )  # fmt: skip
    monkeypatch.setenv("MATLAW_FAILURE_DIR", str(tmp_path / "f"))
    law = matlaw.load_model(tmp_path / "model_aoti.i", "model")
    law.set_parameter("youngs", 123456.0)
    law.set_solver_config(miters=1)
    inputs = step()
    inputs["eps"] = inputs.pop("strain")
    assert not law.evaluate(inputs).ok
    [path] = (tmp_path / "f").iterdir()
    found = read_replay_file(path)
    assert "strain" in found.rows[0].inputs and found.original_names["eps"] == "strain"
    replay = replayed_law(found)
    assert float(replay.named_parameters()["update.system.elasticity.E"]) == 123456.0
    assert main([str(path), "--runtime"]) == 1
