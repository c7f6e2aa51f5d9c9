"""Code for several CPU targets in one artifact."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from matlaw.artifact import Request, compile_model, plan_export_artifacts
from matlaw.artifact import compile as compiling
from matlaw.artifact.cpu import runs_here
from matlaw.cli.compile import main
from matlaw.errors import CompileError


def test_names_and_order(models: Path) -> None:
    files = plan_export_artifacts(models / "linear_elastic.i", "model", cpu_target=("x86-64-v4", "x86-64-v2"))
    assert files[:4] == [
        "model/cpu/float64/model.pt2",
        "model/cpu/float64/model.x86-64-v2.so",
        "model/cpu/float64/model.x86-64-v4.pt2",
        "model/cpu/float64/model.x86-64-v4.so",
    ]
    assert Request(Path("a.i"), "m", cpu_target=("native", "x86-64-v2", "native")).cpu_targets == (
        "x86-64-v2",
        "native",
    )


def test_kernels_side_by_side(models: Path, tmp_path: Path) -> None:
    from matlaw import load_model

    options = ["--model", "model", "--output-dir", str(tmp_path), "--backend", "native", "-q", "-d", ":"]
    options += ["--cpu-target", "x86-64-v3", "native", "x86-64-v2"]
    assert main([str(models / "linear_elastic.i"), *options]) == 0
    m = json.loads((tmp_path / "model/metadata.json").read_text())
    targets = ["x86-64-v2", "x86-64-v3", "native"]
    assert [f"cpu/float64/{stem}.{t}.so" for stem in ("model", "model_jvp") for t in targets] == list(m["files"])
    build = m["builds"]["cpu/float64"]
    assert build["cpu_targets"] == targets
    assert "inductor_cpu_targets" not in build
    assert build["cpu_features"]
    assert build["verified_cpu_targets"] == [t for t in targets if runs_here(t)]
    law = load_model(str(tmp_path / "model_aoti.i"), "model")
    assert law.input_names == ["strain"]


def test_targets_of_other_machines(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not run here is compiled, not checked, and said so; an artifact that cannot be checked is refused."""
    monkeypatch.setattr(compiling, "runs_here", lambda target: target == "x86-64-v2")
    arguments = (models / "linear_elastic.i", "model", tmp_path, (), (), "native")
    report = compile_model(*arguments, cpu_target=["x86-64-v2", "x86-64-v3"])
    assert report.unchecked_targets == ["x86-64-v3"]
    assert len(report.files) == 2
    with pytest.raises(CompileError, match=r"--cpu-target x86-64-v3: .* Add a target that it runs"):
        compile_model(*arguments, cpu_target=["x86-64-v3"])
    with pytest.raises(CompileError, match="unknown CPU target 'sparc'"):
        compile_model(*arguments, cpu_target=["x86-64-v2", "sparc"])
    with pytest.raises(CompileError, match="no CPU target"):
        compile_model(*arguments, cpu_target=[])
