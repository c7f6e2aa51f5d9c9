"""Other names at the boundary: recorded, checked, and nowhere else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from matlaw.artifact import Request, compile_model
from matlaw.artifact.aliases import BoundaryAliases, requested_aliases
from matlaw.artifact.plan import Planner
from matlaw.cli.compile import main
from matlaw.errors import CompileError

NAMES = {"inputs": ["x", "t"], "outputs": ["y", "z"], "parameters": ["k.a", "k.b"]}


def test_aliases_translate_both_ways() -> None:
    aliases = requested_aliases({"inputs": ["x=eps", "t=x"], "outputs": ["y=y"]}, NAMES)
    assert [aliases.reported("inputs", n) for n in NAMES["inputs"]] == ["eps", "x"]
    assert [aliases.original("inputs", n) for n in ("eps", "x")] == ["x", "t"]
    assert aliases.original("outputs", "y") == "y"
    with pytest.raises(KeyError):
        aliases.original("inputs", "t")
    assert aliases.entry() == {"inputs": {"x": "eps", "t": "x"}, "outputs": {}, "parameters": {}}
    assert BoundaryAliases().entry() == {}


@pytest.mark.parametrize(
    ("requests", "message"),
    [
        ({"inputs": ["x"]}, "--rename-input x: expected OLD=NEW, for instance x=new_name"),
        ({"inputs": ["x="]}, "expected OLD=NEW"),
        ({"inputs": ["x=a b"]}, "expected OLD=NEW"),
        ({"inputs": ["q=a"]}, "--rename-input q=a: unknown input 'q'"),
        ({"outputs": ["x=a"]}, "--rename-output x=a: unknown output 'x'"),
        ({"inputs": ["x=t"]}, "--rename-input x=t: there is the input 't' already; choose another name"),
        ({"inputs": ["x=y"]}, "there is the output 'y' already"),
        ({"inputs": ["x=a"], "outputs": ["z=a"]}, r"there is the output 'a' already \(originally 'z'\)"),
        ({"inputs": ["x=a", "x=b"]}, "'x' is renamed to 'a' already"),
        ({"parameters": ["k.c=a"]}, "'k.c' is a fixed parameter; promote it with -p k.c"),
        ({"parameters": ["k.a=k.b"]}, "there is the parameter 'k.b' already"),
    ],
)
def test_wrong_renames_say_what_is_wrong(requests: dict[str, list[str]], message: str) -> None:
    with pytest.raises(CompileError, match=message):
        requested_aliases(requests, NAMES, ["k.a", "k.b", "k.c"])


def test_only_metadata_knows_the_new_names(models: Path, tmp_path: Path) -> None:
    names = {"rename_inputs": ["strain=eps"], "rename_parameters": ["model.E=youngs_modulus"]}
    compile_model(
        models / "linear_elastic.i", "model", tmp_path, ["stress:strain", ":model.E"], ["model.E"], "native", **names
    )
    m = json.loads((tmp_path / "model/metadata.json").read_text())
    assert BoundaryAliases.of_metadata(m).reported("inputs", "strain") == "eps"
    assert m.pop("boundary_aliases") == {
        "inputs": {"strain": "eps"},
        "outputs": {},
        "parameters": {"model.E": "youngs_modulus"},
    }
    assert [e["name"] for e in m["inputs"]] == ["strain"]
    assert m["derivatives"][0]["input"] == "strain"
    assert "youngs_modulus" not in json.dumps(m)


def test_derivatives_and_parameters_are_given_by_their_original_names(models: Path) -> None:
    request = Request(models / "linear_elastic.i", "model", derivatives=(":eps",), rename_inputs=("strain=eps",))
    with pytest.raises(CompileError, match="unknown input 'eps'"):
        Planner(request)


def test_options_of_the_command(models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = [str(models / "linear_elastic.i"), "--model", "model", "--output-dir", str(tmp_path / "out"), "-q"]
    command += ["--backend", "native"]
    assert main([*command, "--rename-output", "stres=s"]) == 2
    assert "--rename-output stres=s: unknown output 'stres'; did you mean 'stress'?" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert main([*command, "--rename-input", "strain=e", "--rename-output", "stress=s"]) == 0
    m = json.loads((tmp_path / "out/model/metadata.json").read_text())
    assert m["boundary_aliases"] == {"inputs": {"strain": "e"}, "outputs": {"stress": "s"}, "parameters": {}}
