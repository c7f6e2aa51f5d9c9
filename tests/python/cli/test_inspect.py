"""The command matlaw-inspect."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from matlaw.cli.inspect import main

LAW = Path(__file__).parents[3] / "examples" / "models" / "j2_viscoplastic.i"
ELASTIC = LAW.with_name("linear_elastic.i")


@pytest.fixture(scope="module")
def artifact(tmp_path_factory):
    """A compiled law: the folder and the stub."""
    from matlaw.artifact.compile import compile_model

    folder = tmp_path_factory.mktemp("inspected")
    compile_model(ELASTIC, "model", folder, ["stress:strain"], backend="native")
    return folder / "model", folder / "model_aoti.i"


@pytest.fixture
def copy(artifact, tmp_path):
    """A copy that may be damaged."""
    return Path(shutil.copytree(artifact[0], tmp_path / "model"))


def described(capsys, *arguments):
    code = main([*map(str, arguments), "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_the_three_ways_to_an_artifact(capsys, artifact):
    folder, stub = artifact
    first = described(capsys, folder)
    assert first == described(capsys, folder / "metadata.json")
    assert described(capsys, stub)[1]["inputs"] == first[1]["inputs"]
    assert described(capsys, stub, "model")[1]["name"] == "model"


def test_artifact_as_data(capsys, artifact):
    code, found = described(capsys, artifact[0])
    assert code == 0 and found["problems"] == [] and found["schema_version"] == 13
    assert [(v["name"], v["type"]) for v in found["inputs"]] == [("strain", "SR2")]
    assert [(d["output"], d["input"]) for d in found["derivatives"]] == [("stress", "strain")]
    assert found["bytes"] == sum(found["files"].values()) > 0 and "text" not in found["source"]
    assert set(found["segments"][0]["graphs"]) == {"value", "jvp"}


def test_artifact_as_text(capsys, artifact):
    assert main([str(artifact[0])]) == 0
    out = capsys.readouterr().out
    for part in ("stress : strain", "the same for all rows", "segment 0: forward", "build cpu/float64", "KiB",
                 "verification", "seal and digests fit", "torch 2."):  # fmt: skip
        assert part in out, part


def test_an_artifact_is_described_without_torch(artifact):
    code = (
        f"import sys\nfrom matlaw.cli.inspect import main\nassert main([{str(artifact[1])!r}]) == 0\n"
        "assert 'torch' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_edited_metadata_is_reported(capsys, copy):
    path = copy / "metadata.json"
    path.write_text(path.read_text().replace('"schema_version": 13', '"schema_version": 14'))
    code, found = described(capsys, copy)
    assert code == 1 and found["problems"] == ["metadata.json was edited after it was written: its seal does not fit"]
    assert main([str(copy)]) == 1
    assert "DAMAGED" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "metadata.json: not JSON"),
        (b"\xff\xfe\x00", "metadata.json: not JSON"),
        (b"{}", "schema_version is missing"),
        (b'{"schema_version": 13, "files": []}', "metadata.json: an entry is not what it should be"),
    ],
)
def test_metadata_that_cannot_be_read_is_damage(capsys, copy, content, message):
    (copy / "metadata.json").write_bytes(content)
    assert main([str(copy)]) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert message in line and line.startswith("matlaw-inspect: error: ")


def test_metadata_that_is_a_pipe_is_not_waited_for(capsys, copy):
    (copy / "metadata.json").unlink()
    os.mkfifo(copy / "metadata.json")
    assert main([str(copy)]) == 1
    assert "metadata.json: is no regular file" in capsys.readouterr().err


def test_damaged_and_missing_files_are_reported(capsys, copy):
    first, second = sorted(copy.rglob("*.so"))[:2]
    first.write_bytes(first.read_bytes()[:-1])
    second.unlink()
    code, found = described(capsys, copy)
    assert code == 1 and len(found["problems"]) == 2
    assert any("digest" in p and first.name in p for p in found["problems"])
    assert any("is missing" in p and second.name in p for p in found["problems"])


def test_input_file(capsys):
    code, found = described(capsys, LAW)
    assert code == 0 and found["sections"]["Models"]["model"] == "ComposedModel"
    assert found["sections"]["Solvers"]["newton"] == "Newton"
    assert main([str(LAW)]) == 0
    assert "[Models]" in capsys.readouterr().out


def test_model(capsys):
    code, found = described(capsys, LAW, "model", "Models/hardening/saturation_rate:=7")
    assert code == 0 and found["type"] == "ComposedModel"
    assert [s["kind"] for s in found["segments"]] == ["implicit", "forward"]
    assert found["segments"][0]["size"] == 7 and found["segments"][0]["predictor"] == "predictor"
    assert {p["current"]: p["role"] for p in found["state_pairs"]} == {
        "plastic_strain": "state", "equivalent_plastic_strain": "state", "t": "force",
    }  # fmt: skip
    assert [7.0] in [p["value"] for p in found["parameters"]]
    assert main([str(LAW), "model"]) == 0
    out = capsys.readouterr().out
    assert "segment 0: implicit, 7 unknowns" in out
    [line] = [line.split() for line in out.splitlines() if line.startswith("  update.system.hardening.R ")]
    assert line[1:] == ["Scalar", "100", "Models/hardening/saturated_hardening"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no.i"], "there is no file or folder no.i"),
        ([str(LAW.parent)], "is a folder without metadata.json"),
        ([str(LAW), "modell"], "did you mean 'model'"),
        ([str(LAW), "model", "Models/x/y:=1"], "unknown block of"),
    ],
)
def test_what_is_wrong_is_one_line(capsys, arguments, message):
    assert main(arguments) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert message in line and line.startswith("matlaw-inspect: error: ")


def test_a_folder_of_artifacts(capsys, artifact, tmp_path):
    """As load_model takes it: the only law, or the one that is named."""
    above = artifact[0].parent
    assert described(capsys, above) == described(capsys, above, "model") == described(capsys, artifact[0])
    assert main([str(above), "modell"]) == 2
    assert "has no artifact 'modell'; it has 'model'" in capsys.readouterr().err
    for name in ("one", "two"):
        shutil.copytree(artifact[0], tmp_path / name)
    assert main([str(tmp_path)]) == 2
    assert "holds several artifacts ('one', 'two'): give the name of one" in capsys.readouterr().err
    assert described(capsys, tmp_path, "two")[1]["path"] == str(tmp_path / "two")
