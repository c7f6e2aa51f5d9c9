"""What is wrong in an input is named, with file and line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import stand_in
from places import TESTS

from matlaw.cli.fe import main
from matlaw.errors import InputFileError
from matlaw.fe import run
from matlaw.fe.input.tree import read_input

PATCH = TESTS / "elasticity" / "patch.i"
PRESSURE = TESTS / "elasticity" / "pressure.i"


@pytest.fixture
def attempt(stand_in_law: Callable[[object], None], tmp_path: Path) -> Callable[..., str]:
    """Runs a changed input and returns the error."""

    def go(source: Path, *changes: tuple[str, str], overrides: tuple[str, ...] = (), law: object | None = None) -> str:
        stand_in_law(law or stand_in.ElasticLaw())
        text = source.read_text()
        for old, new in changes:
            assert old in text
            text = text.replace(old, new, 1)
        path = tmp_path / "case.i"
        path.write_text(text)
        with pytest.raises(InputFileError) as error:
            run(path, [f"Matlaw/steel/input:={PATCH}", *overrides], tmp_path, quiet=True)
        return str(error.value)

    return go


def line_of(source: Path, text: str) -> int:
    return source.read_text()[: source.read_text().index(text)].count("\n") + 1


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("type = Pressure", "type = Presure", ("did you mean 'Pressure'?", "[BCs/pressure]")),
        ("type = Pressure", "type = PenaltyDirichletBC", ("MOOSE has it, matlaw-fe does not",)),
        ("type = Pressure", "type = CoupledPressureBC", ("MOOSE has it, matlaw-fe does not",)),
        ("function = '100*t'", "hht_alpha = 0.1", ("no parameter 'hht_alpha' (MOOSE has it, matlaw-fe does not)",)),
        ("strain = SMALL", "wrinkled = 1", ("no parameter 'wrinkled'; it has",)),
        ("type = SidesetReaction", "type = NodalL2Norm", ("MOOSE has it", "[Postprocessors/force]")),
        ("[BCs]", "[VectorPostprocessors]\n[]\n[BCs]", ("unknown block (MOOSE has it",)),
        ("type = Pressure", "type = Nonsense", ("available in [BCs]: ", " DirichletBC, ")),
        ("function = '100*t'", "functon = '100*t'", ("no parameter 'functon'", "did you mean 'function'?")),
        ("function = '100*t'", "function = '100*tt'", ("unknown name 'tt'", "^")),
        ("boundary = right\n    function", "boundary = rigth\n    function", ("no boundary 'rigth'", "left")),
        ("nx = 2", "nx = two", ("nx = 'two': expected a whole number",)),
        ("dim = 3", "dim = 1", ("only two and three dimensions",)),
        ("strain = SMALL", "strain = FINITE", ("only SMALL", "MOOSE has FINITE")),
        ("stress_xx stress_yy", "stress_xq stress_yy", ("'stress_xq' cannot be generated", "vonmises_stress")),
        ("type = Transient", "type = Steady", ("MOOSE has it", "available in [Executioner]: Transient")),
        ("[BCs]", "[Contact]\n[]\n[BCs]", ("unknown block", "MOOSE has it")),
        ("[Postprocessors]", "[Postprocesors]", ("did you mean 'Postprocessors'?",)),
    ],
)
def test_errors_name_the_place(attempt: Callable[..., str], old: str, new: str, parts: tuple[str, ...]) -> None:
    message = attempt(PRESSURE, (old, new))
    line = line_of(PRESSURE, old) + old[: len(old) - len(old.lstrip())].count("\n")
    assert f"case.i:{line}" in message
    for part in parts:
        assert part in message


def test_a_law_without_the_derivative_is_refused_before_the_run(attempt: Callable[..., str]) -> None:
    law = stand_in.ElasticLaw()
    law.derivative_pairs = []  # type: ignore[misc]
    message = attempt(PRESSURE, law=law)
    assert "compiled without the derivative stress:strain" in message
    assert "-d stress:strain" in message
    assert "the inputs strain (SR2), t (Scalar)" in message


def test_a_law_with_an_unknown_input_is_refused(attempt: Callable[..., str]) -> None:
    law = stand_in.ElasticLaw()
    law.input_names, law.input_types = ["strain", "temperature"], ["SR2", "Scalar"]  # type: ignore[misc]
    message = attempt(PRESSURE, law=law)
    assert (
        "the input 'temperature' of the law needs 'temperature', but there is no variable or function or material"
        in message
    )


def test_wrong_names_of_variables_list_what_the_law_offers(attempt: Callable[..., str]) -> None:
    message = attempt(PRESSURE, overrides=("Matlaw/steel/strain:=strian",))
    assert "command line: [Matlaw/steel] strain = 'strian'" in message
    assert "did you mean 'strain'?" in message
    assert "the outputs stress (SR2)" in message


@pytest.mark.parametrize("dt", ["0", "-1"])
def test_a_step_has_a_length(attempt: Callable[..., str], dt: str) -> None:
    message = attempt(TESTS / "cutback" / "jump.i", overrides=(f"Executioner/TimeStepper/dt:={dt}",))
    assert f"dt = {dt}" in message.replace("'", "")
    assert "positive" in message


def test_a_block_without_law_is_named(attempt: Callable[..., str]) -> None:
    assert "no block '3'; blocks: 0" in attempt(PRESSURE, overrides=("Matlaw/steel/block:=3",))
    assert "block '2' has no law" in attempt(PATCH, overrides=("Matlaw/steel/block:=1",))


def test_syntax_errors_have_a_line(tmp_path: Path) -> None:
    path = tmp_path / "broken.i"
    path.write_text("[Mesh]\n  nx = 1\n  nx = 2\n[]\n")
    with pytest.raises(InputFileError, match=r"broken\.i:3: duplicate field 'nx'"):
        read_input(path)
    with pytest.raises(InputFileError, match=r"none\.i: cannot be read"):
        read_input(tmp_path / "none.i")


def test_older_blocks_and_substitution(tmp_path: Path) -> None:
    path = tmp_path / "old.i"
    path.write_text(
        "length = 3\n[Mesh]\n  [./a]\n    x = ${length}\n    y = ${fparse 2*length + 1}\n"
        "    z = '[./not] [../]'\n  [../]\n[]\n"
    )
    fields = read_input(path, ["Mesh/a/w=1 2"]).blocks["Mesh"].blocks["a"].fields
    assert {name: item.value for name, item in fields.items()} == {
        "x": "3",
        "y": "7.0",
        "z": "[./not] [../]",
        "w": "1 2",
    }
    assert fields["x"].location.endswith("old.i:4")
    path.write_text("a = ${b}\nb = ${a}\n")
    with pytest.raises(InputFileError, match="refers to itself"):
        read_input(path)


def test_an_included_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "part.i").write_text("\n" * 20 + "[Mesh]\n  nx = 1\n[]\n")
    path = tmp_path / "case.i"
    path.write_text("!include part.i\n")
    mesh = read_input(path, ["Mesh/ny:=2"]).blocks["Mesh"]
    assert (mesh.fields["nx"].location, mesh.fields["nx"].from_command_line) == (f"{tmp_path / 'part.i'}:22", False)
    assert (mesh.fields["ny"].location, mesh.fields["ny"].from_command_line) == ("command line", True)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("Executioner/dt:=nan", "dt = 'nan': expected a number"),
        ("Executioner/num_steps:=inf", "num_steps = 'inf': expected a whole number"),
        ("Matlaw/steel/input:=", "input is empty"),
        ("BCs/pressure/boundary:=", "boundary is empty"),
        ("BCs/pressure/function:=" + "(" * 5000, "nested too deeply"),
        ("Mesh//nx:=1", "cannot read the override"),
        ("/:=1", "cannot read the override"),
        ("Mesh/cube/nx:=1e308", "must be positive and below 2^31"),
    ],
)
def test_values_that_are_none(attempt: Callable[..., str], override: str, message: str) -> None:
    assert message in attempt(PRESSURE, overrides=(override,))


def test_a_mesh_too_large_for_the_memory(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def full(*_: object, **__: object) -> None:
        raise MemoryError("Unable to allocate 14.9 GiB")

    monkeypatch.setattr("matlaw.fe.run", full)
    assert main([str(PRESSURE)]) == 2
    assert "not enough memory for this mesh (Unable to allocate 14.9 GiB)" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written(
    stand_in_law: Callable[[object], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stand_in_law(stand_in.ElasticLaw())
    (tmp_path / "taken").write_text("")
    assert main([str(PRESSURE), "-o", str(tmp_path / "taken"), "-q"]) == 2
    assert "the results cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("source", "condition", "function"),
    [(PATCH, "x", "sqrt(-1)*t"), (PATCH, "y", "1/(t - t)"), (PRESSURE, "pressure", "log(-t)")],
)
def test_a_load_that_is_no_number_is_not_answered_by_smaller_steps(
    attempt: Callable[..., str], source: Path, condition: str, function: str
) -> None:
    message = attempt(source, overrides=(f"BCs/{condition}/function:={function}",))
    assert f"[BCs/{condition}] function = '{function}': it gives " in message and " at time " in message
