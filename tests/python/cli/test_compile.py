"""The command: exit codes, one clear message, nothing written when something is wrong."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from matlaw.cli.compile import main


def run(models: Path, tmp_path: Path, *options: str, law: str = "linear_elastic") -> int:
    arguments = [
        str(models / f"{law}.i"),
        "--model",
        "model",
        "--output-dir",
        str(tmp_path / "out"),
        "--backend",
        "native",
    ]
    return main([*arguments, *options])


def test_progress_summary_and_second_run(models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(models, tmp_path, "-d", "stress:strain") == 0
    out = capsys.readouterr().out
    assert "[4/4] model_aoti.i" in out
    assert "statements per row" in out
    assert "self-check" in out
    before = (tmp_path / "out/model/metadata.json").stat().st_mtime_ns
    assert run(models, tmp_path, "-d", "stress:strain") == 0
    assert "up to date" in capsys.readouterr().out
    assert (tmp_path / "out/model/metadata.json").stat().st_mtime_ns == before
    assert run(models, tmp_path, "-d", "stress:strain", "--force", "-q") == 0
    assert (tmp_path / "out/model/metadata.json").stat().st_mtime_ns != before
    assert capsys.readouterr().out == ""


def test_changed_options_and_damage_compile_again(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(models, tmp_path, "-q")
    run(models, tmp_path, "-d", ":")
    assert "up to date" not in capsys.readouterr().out
    kernel = tmp_path / "out/model/cpu/float64/model.x86-64-v3.so"
    kernel.write_bytes(kernel.read_bytes()[:100])
    run(models, tmp_path, "-d", ":")
    assert "up to date" not in capsys.readouterr().out
    run(models, tmp_path, "-d", ":", "Models/model/coefficients:='1.0 0.2'")
    assert "up to date" not in capsys.readouterr().out


def test_overrides_are_compiled_in(models: Path, tmp_path: Path) -> None:
    assert run(models, tmp_path, "Models/model/coefficients:='3.5 0.25'", "-p", "model.E", "-q", "--no-stub") == 0
    text = (tmp_path / "out/model/metadata.json").read_text()
    assert "3.5" in text
    assert not (tmp_path / "out/model_aoti.i").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-d", "stress:strian"], "unknown input 'strian'; did you mean 'strain'?"),
        (["-d", "stress"], "expected OUT:IN"),
        (["-p", "model.EE"], "unknown parameter 'model.EE'"),
        (["--device", "cuda"], "--device cuda"),
        (["Models/modle/x:=1"], "modle"),
    ],
)
def test_mistakes_give_one_message_and_write_nothing(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    assert run(models, tmp_path, *options) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("error:") == 1
    assert "Traceback" not in captured.err
    assert not (tmp_path / "out").exists()


def test_unknown_model_and_bad_file(models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ["--output-dir", str(tmp_path / "out")]
    assert main([str(models / "linear_elastic.i"), "--model", "modle", *out]) == 2
    assert "did you mean 'model'?" in capsys.readouterr().err
    assert main([str(tmp_path / "missing.i"), "--model", "model", *out]) == 2
    assert "missing.i" in capsys.readouterr().err
    bad = tmp_path / "bad.i"
    bad.write_text("[Models]\n  [model]\n    type = \n")
    assert main([str(bad), "--model", "model", *out]) == 2
    assert "bad.i" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_killed_compile_leaves_no_artifact(models: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import sys; from matlaw.cli.compile import main; sys.exit(main())"]
    options = [
        str(models / "j2_plastic.i"),
        "--model",
        "model",
        "--output-dir",
        str(tmp_path),
        "-d",
        ":",
        "--backend",
        "native",
        "--no-cache",
    ]
    process = subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 120
        while not list(tmp_path.glob(".model.*.building")):
            assert process.poll() is None, "ended before it wrote anything"
            assert time.monotonic() < deadline
            time.sleep(0.01)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert not (tmp_path / "model").exists()
    assert not (tmp_path / "model_aoti.i").exists()
    assert run_here(models, tmp_path) == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model", "model_aoti.i"]


def run_here(models: Path, tmp_path: Path) -> int:
    return main(
        [
            str(models / "linear_elastic.i"),
            "--model",
            "model",
            "--output-dir",
            str(tmp_path),
            "--backend",
            "native",
            "-q",
        ]
    )


def test_unsupported_operation_names_itself_and_the_remedy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "cumulative.py").write_text(
        "import torch\n"
        "from matlaw.models.declaration import Input, Output\n"
        "from matlaw.models.model import Leaf\n"
        "from matlaw.models.registry import register\n"
        "from matlaw.tensors import SR2\n"
        "@register('CumulativeForTest')\n"
        "class Cumulative(Leaf):\n"
        '    """Cumulative sum of the components."""\n'
        "    x = Input(SR2, 'x')\n"
        "    y = Output(SR2, 'y')\n"
        "    def forward(self, x):\n"
        '        """The sum."""\n'
        "        return SR2(torch.cumsum(x.data, 0))\n"
    )
    law = tmp_path / "law.i"
    law.write_text("[Models]\n  [model]\n    type = CumulativeForTest\n    x = 'x'\n    y = 'y'\n  []\n[]\n")
    options = [
        str(law),
        "--model",
        "model",
        "--output-dir",
        str(tmp_path / "out"),
        "--load",
        str(tmp_path / "cumulative.py"),
    ]
    assert main([*options, "--backend", "native"]) == 2
    error = capsys.readouterr().err
    assert "aten.cumsum.default" in error
    assert "--backend both" in error
