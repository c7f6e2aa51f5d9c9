"""Every entry of every MOOSE `tests` file of moose_app, run with matlaw-fe."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import specs

from matlaw.cli.fe import main

TESTS = Path(__file__).parents[2] / "moose_app" / "test" / "tests"
ALL = specs.discover(TESTS)


def run_spec(spec: specs.Spec, overrides: list[str], folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Run an entry and compare it with what it expects."""
    code = main([str(spec.input), *overrides, *spec.arguments, "--no-png", "-o", str(folder)])
    captured = capfd.readouterr()
    text = captured.out + captured.err
    if spec.kind == "RunException":
        assert code != 0, "the run was expected to fail"
        assert spec.expect_err and specs.matches(spec.expect_err, text), text
        return
    assert code == 0, text
    if spec.expect_out:
        assert specs.matches(spec.expect_out, text), text
    for name in spec.gold:
        compare = specs.compare_csv if spec.kind == "CSVDiff" else specs.compare_exodus
        errors = compare(folder / name, spec.folder / "gold" / name, spec)
        assert not errors, "\n".join(errors)


@pytest.mark.parametrize("spec", ALL, ids=lambda spec: spec.label)
def test_compiled(
    spec: specs.Spec, artifact: Callable[[str], Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    overrides = [
        f"Matlaw/{name}/input:={artifact(f'{Path(source).stem}-native') / 'model_aoti.i'}"
        for name, source in specs.laws_of(spec.input).items()
    ]
    run_spec(spec, overrides, tmp_path, capfd)


@pytest.mark.parametrize(
    "spec", [spec for spec in ALL if spec.folder.name == "elasticity"], ids=lambda spec: spec.label
)
def test_eager(spec: specs.Spec, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run_spec(spec, [], tmp_path, capfd)


def test_a_wrong_result_is_noticed(tmp_path: Path) -> None:
    spec = next(spec for spec in ALL if spec.kind == "CSVDiff")
    gold = spec.folder / "gold" / spec.gold[0]
    changed = tmp_path / "changed.csv"
    lines = gold.read_text().splitlines()
    first, *rest = lines[-1].split(",")
    changed.write_text("\n".join([*lines[:-1], ",".join([str(float(first) * 1.0001), *rest])]) + "\n")
    assert not specs.compare_csv(gold, gold, spec)
    assert specs.compare_csv(changed, gold, spec)
