"""The command matlaw-run."""

import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from matlaw.cli.run import main

EXAMPLES = Path(__file__).parents[3] / "examples" / "drivers"
CYCLE = str(EXAMPLES / "shear_cycle.i")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_result_file_plot_and_summary(capsys, tmp_path):
    assert main([CYCLE, "cycle", "-o", "new/cycle.csv", "--plot", "strain_xy:stress_xy", "t:output.stress_xy"]) == 0
    out = capsys.readouterr().out
    assert "step 40/40, time 1" in out and "eager" in out and "40 steps" in out
    assert f"wrote {Path('new/cycle.csv')}" in out and f"wrote {Path('new/cycle.png')}" in out
    assert (tmp_path / "new/cycle.png").read_bytes().startswith(b"\x89PNG")
    with (tmp_path / "new/cycle.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 41
    # Proportional loading up to the first turning point; see the input file.
    assert float(lines[10]["output.stress_xy"]) == pytest.approx(225.447451572, rel=1e-8)


def test_plot_without_names_beside_the_working_directory(tmp_path):
    assert main([CYCLE, "cycle", "-q", "--plot"]) == 0
    assert [p.name for p in tmp_path.iterdir()] == ["shear_cycle_cycle.png"]


def test_overrides_may_stand_anywhere():
    arguments = ["--plot", "t:stress_xy", "Models/hardening/saturated_hardening:=0", "-o", "soft.npz"]
    assert main([CYCLE, "cycle", "-q", *arguments]) == 0
    stress = np.load("soft.npz")["output.10.stress"][5]
    assert stress == pytest.approx(250.0 / np.sqrt(1.5), rel=1e-8)


def test_save_as_of_the_input_file_is_written(tmp_path, capsys):
    assert main([CYCLE, "cycle", "Drivers/cycle/save_as:=kept.pt"]) == 0
    assert (tmp_path / "kept.pt").is_file() and "wrote kept.pt" in capsys.readouterr().out


def test_a_failed_check_ends_with_1(capsys):
    assert main([CYCLE, "turning_point", "Models/yield/yield_stress:=251"]) == 1
    captured = capsys.readouterr()
    assert "1 of 1 values differ" in captured.err and "output.10.stress: differs most by" in captured.err
    assert main([CYCLE, "turning_point"]) == 0
    assert "all 1 values agree" in capsys.readouterr().out


def test_a_law_that_does_not_converge_ends_with_1_and_writes_nothing(capsys, tmp_path):
    assert main([CYCLE, "cycle", "Solvers/newton/max_its:=1", "-o", "x.pt", "-q"]) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert "[Drivers]/[cycle]: step " in line and "did not converge" in line
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no.i", "cycle"], "no.i: cannot be read"),
        ([CYCLE, "cycel"], "did you mean 'cycle'"),
        ([str(EXAMPLES.parent / "models" / "chaboche2.i"), "model"], "there is no block of [Drivers]"),
        ([CYCLE, "cycle", "-o", "x.vtk"], "ends with .pt, .npz, .csv"),
        ([CYCLE, "cycle", "--load", "no_such_module"], "no_such_module"),
        ([CYCLE, "cycle", "Models/no/x:=1"], "unknown block of"),
        ([CYCLE, "cycle", "--plot", "t:stres_xy"], "did you mean 'stress_xy'"),
        ([CYCLE, "cycle", "--plot", "t"], "expected X:Y"),
        ([CYCLE, "turning_point", "Drivers/turning_point/driver:=cycel"], "did you mean 'cycle'"),
    ],
)
def test_wrong_input_ends_with_2_and_one_line(capsys, arguments, message):
    assert main([*arguments, "-q"] if arguments[-1] != "t" else arguments) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert len(captured.err.splitlines()) == 1 and captured.err.startswith("matlaw-run: error: ")


def test_without_a_name_the_only_driver_runs_and_several_are_listed(capsys, tmp_path):
    assert main([CYCLE]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.endswith("has 2 drivers: name the one to run: cycle (TransientDriver), turning_point (Verification)")
    text = Path(CYCLE).read_text().replace("../models", str(EXAMPLES.parent / "models"))
    text = text.replace("'shear_cycle.csv'", f"'{EXAMPLES / 'shear_cycle.csv'}'")
    (tmp_path / "one.i").write_text(text[: text.index("  [turning_point]")] + "[]\n")
    assert main(["one.i", "-q", "--plot", "t:stress_xy"]) == 0
    assert (tmp_path / "one_cycle.png").is_file()


def test_a_plot_of_something_else_is_refused_before_the_run(capsys):
    for pair, message in (("t:stres_xy", "did you mean 'stress_xy'"), ("t:stress_xq", "component 'stress_xq'")):
        assert main([CYCLE, "cycle", "-o", "x.csv", "--plot", pair]) == 2
        captured = capsys.readouterr()
        assert message in captured.err and "step" not in captured.out
    assert not Path("x.csv").exists()


def test_a_stray_word_is_no_override(capsys):
    with pytest.raises(SystemExit) as caught:
        main([CYCLE, "cycle", "word"])
    assert caught.value.code == 2 and "expected Section/block/option:=value" in capsys.readouterr().err


def test_help_does_not_wait_for_torch():
    code = (
        "import sys\nfrom matlaw.cli.run import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\nassert 'torch' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "exit code: 0 ok" in done.stdout
