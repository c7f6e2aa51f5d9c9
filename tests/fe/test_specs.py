"""Every entry of every MOOSE `tests` file of moose_app, with every host that is there."""

from __future__ import annotations

from pathlib import Path

import netCDF4
import pytest
import specs
from hosts import HOSTS, Host, Outcome, Runs
from places import TESTS
from spec_plugin import entries, input_of

from matlaw.cli.fe import main


def check(spec: specs.Spec, outcome: Outcome) -> None:
    """Compare a run with what its entry expects."""
    text = outcome.text
    if spec.kind == "RunException":
        assert outcome.code != 0, "the run was expected to fail"
        assert spec.expect_err and specs.matches(spec.expect_err, text), text
        return
    assert outcome.code == 0, text
    if spec.expect_out:
        assert specs.matches(spec.expect_out, text), text
    if spec.absent_out:
        assert not specs.matches(spec.absent_out, text), text
    for name in spec.check_files:
        assert (outcome.folder / name).exists(), f"{name} was not written"
    for name in spec.gold:
        gold = spec.folder / "gold" / name
        errors = differences(spec, outcome.folder / name, gold)
        assert not errors, "\n".join([f"{outcome.folder / name} differs from {gold}:", *errors[:20]])


def differences(spec: specs.Spec, result: Path, other: Path) -> list[str]:
    """Differences of two result files, in words."""
    if not result.exists():
        return [f"{result} was not written"]
    compare = specs.compare_csv if spec.kind == "CSVDiff" else specs.compare_exodus
    return compare(result, other, spec)


def test_entry(spec: specs.Spec, host: Host, runs: Runs) -> None:
    check(spec, runs.outcome(host, spec))


def test_hosts_agree(spec: specs.Spec, runs: Runs) -> None:
    """What one host gives the others give, whatever the gold file says."""
    root = input_of(spec)
    present = [host for host in HOSTS if host.present() and root is not None and host.runs(root)]
    present = [host for host in present if not 0 < spec.max_parallel < host.ranks]
    if spec.skip or not spec.gold or len(present) < 2:
        pytest.skip("there are no two hosts to compare")
    first, *others = [runs.outcome(host, spec) for host in present]
    for name in spec.gold:
        for other in others:
            assert not differences(spec, first.folder / name, other.folder / name)


@pytest.mark.parametrize("name", ["patch", "pressure"])
def test_laws_that_are_not_compiled(name: str, tmp_path: Path) -> None:
    spec = next(spec for spec in entries() if spec.label == f"elasticity/{name}")
    assert main([str(spec.inputs[0]), "--no-png", "-q", "-o", str(tmp_path)]) == 0
    assert not differences(spec, tmp_path / spec.gold[0], spec.folder / "gold" / spec.gold[0])


def test_a_wrong_result_is_noticed(tmp_path: Path) -> None:
    spec = next(spec for spec in entries() if spec.kind == "CSVDiff")
    gold = spec.folder / "gold" / spec.gold[0]
    changed = tmp_path / "changed.csv"
    lines = gold.read_text().splitlines()
    first, *rest = lines[-1].split(",")
    changed.write_text("\n".join([*lines[:-1], ",".join([str(float(first) * 1.0001), *rest])]) + "\n")
    assert not specs.compare_csv(gold, gold, spec)
    assert specs.compare_csv(changed, gold, spec)


def test_entries_know_each_other(tmp_path: Path) -> None:
    """Groups, the order of entries, and mistakes in `tests` files."""
    assert {spec.folder.parent for spec in entries()} == {TESTS}
    file = tmp_path / "topic" / "tests"
    file.parent.mkdir()
    entry = "    type = RunApp\n    input = 'a.i b.i'\n"
    file.write_text(
        f"[Tests]\n  [group]\n    requirement = 'both'\n  [first]\n{entry}  []\n  [second]\n{entry}"
        "    prereq = first\n  []\n  []\n[]\n"
    )
    first, second = specs.discover(tmp_path)
    assert (first.name, second.name, second.prereq) == ("group/first", "group/second", ("group/first",))
    assert [path.name for path in first.inputs] == ["a.i", "b.i"]
    text = file.read_text()
    file.write_text(text.replace("prereq = first", "prereq = second"))
    with pytest.raises(AssertionError, match="wait for each other"):
        specs.discover(tmp_path)
    file.write_text(text.replace("prereq = first", "prereq = third"))
    with pytest.raises(AssertionError, match="which does not exist"):
        specs.discover(tmp_path)
    file.write_text(text.replace("RunApp", "ImageDiff"))
    with pytest.raises(AssertionError, match="the harness has RunApp"):
        specs.discover(tmp_path)
    file.write_text(text.replace("prereq = first", "prereqs = first"))
    with pytest.raises(AssertionError, match="does not know prereqs"):
        specs.discover(tmp_path)


def test_a_wrong_field_is_noticed(tmp_path: Path) -> None:
    spec = next(spec for spec in entries() if spec.kind == "Exodiff")
    gold = spec.folder / "gold" / spec.gold[0]
    assert not specs.compare_exodus(gold, gold, spec)
    changed = tmp_path / "changed.e"
    for variable, message in (("vals_nod_var1", "node disp_x"), ("vals_elem_var2eb1", "element stress_xx, block 1")):
        changed.write_bytes(gold.read_bytes())
        with netCDF4.Dataset(str(changed), "a") as file:
            file[variable][-1, 1] = file[variable][-1, 1] * 1.00001 + 1e-5
        assert message in specs.compare_exodus(changed, gold, spec)[0]
