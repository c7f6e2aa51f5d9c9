"""The cache of compiled graphs: right keys, whole entries, two processes at once, kill -9."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from matlaw.artifact import compile_model
from matlaw.artifact.cache import Cache, NoCache, default_folder, key_of
from matlaw.artifact.compile import CompileReport
from matlaw.trace.forward import trace
from matlaw.trace.slots import Slot


def names(report: CompileReport, cached: bool) -> set[str]:
    return {Path(f.path).name.split(".")[0] for f in report.files if f.cached == cached}


def test_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MATLAW_CACHE_DIR", str(tmp_path / "a"))
    assert default_folder() == tmp_path / "a"
    monkeypatch.delenv("MATLAW_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "b"))
    assert default_folder() == tmp_path / "b" / "matlaw"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_folder() == tmp_path / ".cache" / "matlaw"


def test_touching_one_number_compiles_only_what_changed(models: Path, tmp_path: Path) -> None:
    """The saturation rate is in the residual, not in the stress that follows from the unknowns."""
    cache = Cache(tmp_path / "cache")

    def compiled(folder: str, *overrides: str, **options: object) -> CompileReport:
        return compile_model(
            models / "j2_plastic.i", "model", tmp_path / folder, ["stress:strain"], backend="native",
            overrides=overrides, cache=cache, **options,
        )  # fmt: skip

    first = compiled("first")
    assert not names(first, cached=True)
    touched = compiled("touched", "Models/hardening/saturation_rate:=21")
    assert names(touched, cached=True) >= {"model_seg0_predictor", "model_seg1", "model_seg1_jvp"}
    assert {"model_seg0_residual", "model_seg0_jacobian"} <= names(touched, cached=False)
    tolerance = compiled("tolerance", "Solvers/newton/rel_tol:=1e-9")
    assert not names(tolerance, cached=False)
    assert tolerance.verification == first.verification
    again = compiled("again")
    assert not names(again, cached=False)
    for file in first.files:
        a, b = tmp_path / "first" / file.path, tmp_path / "again" / file.path
        assert a.read_bytes() == b.read_bytes()
    single = compiled("single", dtype="float32")
    assert not names(single, cached=True)
    without = compile_model(models / "linear_elastic.i", "model", tmp_path / "without", backend="native", cache=False)
    assert not names(without, cached=True)


def test_names_do_not_matter_numbers_do() -> None:
    def digest(factor: float, name: str = "x", size: int = 2) -> str:
        slots = [Slot(name, (size,))]
        constant = torch.tensor([[factor], [1.0]], dtype=torch.float64)
        return trace(lambda x: [x * constant[:, :1].sum() + 1.0], slots, slots, name).digest

    assert digest(2.0) == digest(2.0, "strain")
    assert digest(2.0) != digest(2.0 + 1e-15)
    assert digest(2.0) != digest(2.0, size=3)
    slots = [Slot("x", ())]
    by = {n: trace(lambda x, n=n: [x.clamp(min=n)], slots, slots, "f").digest for n in (0.0, 1.0)}
    assert by[0.0] != by[1.0]


def test_damaged_entries_count_as_absent(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    key = key_of("native", "a")
    cache.put(key, b"x" * 1000)
    [entry] = cache.entries()
    entry.path.write_bytes(entry.path.read_bytes()[:-1])
    assert cache.get(key) is None
    assert not cache.entries()
    cache.put(key, b"y")
    assert cache.get(key) == b"y"


def test_a_folder_that_cannot_be_written_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file")
    cache.put(key_of("native", 1), b"x")
    assert cache.get(key_of("native", 1)) is None
    assert cache.entries() == cache.prune() == []
    nothing = NoCache(tmp_path)
    nothing.put(key_of("native", 1), b"x")
    assert nothing.get(key_of("native", 1)) is None
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_pruning_removes_what_was_unused_for_longest(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    keys = [key_of("native", k) for k in range(4)]
    for k, key in enumerate(keys):
        cache.put(key, bytes(1000))
        [path] = tmp_path.rglob(key)
        os.utime(path, (1e9 + k, 1e9 + k))
    assert cache.get(keys[0]) is not None  # used now
    removed = cache.prune(max_bytes=2500)
    assert {e.path.name for e in removed} == {keys[1], keys[2]}
    assert {e.path.name for e in cache.prune(max_age=3600.0)} == {keys[3]}
    stale = next(tmp_path.rglob(keys[0])).parent / ".1.abc.writing"
    stale.write_text("half")
    assert [e.path.name for e in cache.entries()] == [keys[0]]
    os.utime(stale, (1e9, 1e9))
    cache.prune()
    assert not stale.exists()


WRITER = """
import sys
from pathlib import Path
from matlaw.artifact.cache import Cache, key_of
cache = Cache(Path(sys.argv[1]))
round = 0
while round < int(sys.argv[2]):
    for k in range(8):
        payload = bytes([k]) * 200_000
        cache.put(key_of("native", k), payload)
        found = cache.get(key_of("native", k))
        assert found == payload, "torn entry"
    if round % 5 == 4:
        cache.prune(max_bytes=500_000)
    round += 1
    print(round, flush=True)
"""


def test_two_processes_and_kill(tmp_path: Path) -> None:
    def start(rounds: int) -> subprocess.Popen:
        return subprocess.Popen(
            [sys.executable, "-c", WRITER.replace("assert found == payload", "assert found in (None, payload)"),
             str(tmp_path), str(rounds)], stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    two, victim = [start(10), start(10)], start(10**9)
    try:
        assert victim.stdout is not None
        assert victim.stdout.readline()
        time.sleep(0.05)
    finally:
        os.kill(victim.pid, signal.SIGKILL)
        victim.communicate()
    for process in two:
        process.communicate(timeout=120)
        assert process.returncode == 0
    cache = Cache(tmp_path)
    for k in range(8):
        assert cache.get(key_of("native", k)) in (None, bytes([k]) * 200_000)


@pytest.mark.inductor
def test_packages_are_kept_as_well(models: Path, tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    arguments = {"backend": "inductor", "cache": cache, "stub": False}
    law = models / "linear_elastic.i"
    assert names(compile_model(law, "model", tmp_path / "a", **arguments), cached=False) == {"model"}
    again = compile_model(law, "model", tmp_path / "b", ["stress:strain"], parameters=(), **arguments)
    assert names(again, cached=True) == {"model"}
    assert names(again, cached=False) == {"model_jvp"}
    a, b = (tmp_path / folder / "model/cpu/float64/model.pt2" for folder in "ab")
    assert a.read_bytes() == b.read_bytes()
