"""The command matlaw-syntax, and the conformance page."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from matlaw.cli.syntax import main, search

ROOT = Path(__file__).parents[3]
CATALOGUE = json.loads((ROOT / "tests" / "data" / "material_catalog.json").read_text())


def test_list_has_a_line_per_type(capsys):
    assert main(["--section", "Drivers"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "[Drivers]"
    assert [line.split()[0] for line in lines[1:]] == [
        "ModelUnitTest", "TransientDriver", "TransientRegression", "Verification",
    ]  # fmt: skip


def test_one_type_in_full(capsys):
    assert main(["--type", "VoceIsotropicHardening"]) == 0
    out = capsys.readouterr().out
    assert ".. math::" in out and r"\exp" in out
    words = [line.split() for line in out.splitlines()]
    for name in ("equivalent_plastic_strain", "isotropic_hardening"):  # the option's name is the variable's
        assert any(line[:4] == [name, "Scalar", "default", f"'{name}':"] for line in words), name
    for name in ("saturated_hardening", "saturation_rate"):
        assert any(line[:3] == [name, "Scalar", "required:"] for line in words), name
    assert main(["--type", "ComposedModel"]) == 0
    assert any(line.split()[:3] == ["models", "list", "required:"] for line in capsys.readouterr().out.splitlines())
    assert main(["--type", "Newton"]) == 0
    assert "default '1e-10'" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["ScalarLinearInterpolation", "SR2BilinearInterpolation"])
def test_a_table_says_what_is_beyond_its_ends(capsys, name):
    assert main(["--type", name]) == 0
    assert "extrapolated" in capsys.readouterr().out


def test_search(capsys):
    assert main(["voce", "isotropic"]) == 0
    assert "VoceIsotropicHardening" in capsys.readouterr().out
    assert main(["vocee"]) == 0  # misspelt
    assert "VoceIsotropicHardening" in capsys.readouterr().out
    assert main(["qqqq"]) == 2
    assert "no type has to do with qqqq" in capsys.readouterr().err


def test_most_words_rank_first_up_to_a_limit(capsys):
    records = [
        {"type": "YieldFunction", "doc": "", "options": []},
        {"type": "B", "doc": "of the plastic yield", "options": []},
        {"type": "C", "doc": "", "options": []},
    ]
    assert [r["type"] for r in search(records, ["plastic", "yield"])] == ["B", "YieldFunction"]
    assert main(["voce", "isotropic", "hardening", "qqqq", "--limit", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split()[0] == "VoceIsotropicHardening"
    assert len(lines) == 4 and lines[3].endswith("more that match no better: --limit N shows N of them")


def test_names_rank_before_options_and_documentation():
    records = [
        {"type": "A", "doc": "about yield", "options": []},
        {"type": "B", "doc": "", "options": [{"name": "yield_stress"}]},
        {"type": "YieldFunction", "doc": "", "options": []},
        {"type": "C", "doc": "", "options": []},
    ]
    assert [r["type"] for r in search(records, ["yield"])] == ["YieldFunction", "B", "A"]
    assert [r["type"] for r in search(records, ["yeild"])] == ["YieldFunction"]


@pytest.mark.parametrize("place", ["-", "file"])
def test_json_has_the_layout_of_the_catalogue(capsys, tmp_path, place):
    assert main(["--json", "-" if place == "-" else str(tmp_path / "types.json")]) == 0
    out = capsys.readouterr().out
    found = {(r["section"], r["type"]): r for r in json.loads(out or (tmp_path / "types.json").read_text())}
    compared = 0
    for record in CATALOGUE:
        there = found.get((record["section"], record["type"]))
        if there is None:
            continue
        compared += 1
        assert there["doc"] and set(there) == {*record, "doc"}
        assert there["group"].split("/")[0] == record["group"].split("/")[0]
        options = [{k: v for k, v in o.items() if k != "doc"} for o in there["options"]]
        assert sorted(options, key=lambda o: o["name"]) == sorted(record["options"], key=lambda o: o["name"])
    assert compared > 40


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--section", "Model"], "did you mean 'Models'"),
        (["--type", "VoceIsotropicHardning"], "did you mean VoceIsotropicHardening"),
        (["--json", "no/such/folder.json"], "cannot be written"),
        (["--load", "no_such_module"], "no_such_module"),
    ],
)
def test_what_is_wrong_is_one_line(capsys, arguments, message):
    assert main(arguments) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert message in line and line.startswith("matlaw-syntax: error: ")


def test_extensions_are_listed(capsys, tmp_path):
    path = tmp_path / "listed_extension.py"
    path.write_text(
        "from matlaw.input import Option, register\n@register('ListedThing', section='Data')\n"
        "class ListedThing:\n    '''A thing.'''\n    size = Option('int', 'how large')\n"
    )
    assert main(["--load", str(path), "--type", "ListedThing"]) == 0
    out = capsys.readouterr().out
    assert "[Data]  data" in out and "required: how large" in out


def test_help_does_not_wait_for_torch():
    code = (
        "import sys\nfrom matlaw.cli.syntax import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\nassert 'torch' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


def conformance(*arguments):
    script = ROOT / "scripts" / "conformance.py"
    return subprocess.run([sys.executable, str(script), *arguments], capture_output=True, text=True, check=False)


def test_the_conformance_page_is_up_to_date():
    done = conformance("--check")
    assert done.returncode == 0, done.stderr


def test_a_type_that_differs_is_found():
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        from conformance import differences
    finally:
        sys.path.remove(str(ROOT / "scripts"))
    expected = next(r for r in CATALOGUE if r["type"] == "Newton")
    assert differences(expected, expected) == []
    changed = json.loads(json.dumps(expected))
    changed["options"][1]["default"] = "1"
    changed["options"].pop()
    found = differences(expected, changed)
    assert len(found) == 2 and any("is missing" in line for line in found) and any("default" in line for line in found)


def test_a_section_may_have_no_types(capsys):
    assert main(["--section", "Settings"]) == 0
    assert capsys.readouterr().out == "no types\n"
