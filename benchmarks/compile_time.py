"""How long a compile takes, as ratios to another program on the same input files.

The other program is reached through the Python in the environment variable MATLAW_PEER_PYTHON (an environment of its
own with the package neml2); without it only matlaw's own times are printed. Every compile is a fresh process without
a cache, except the one after a touched number, which finds the graphs of the compile before. All kinds take turns, so
that a machine that others use as well slows down all of them alike. Wall time is printed first, then the time that
all processors together spent, which others disturb less (with several jobs some workers escape the count).
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path

MODELS = Path(__file__).parents[1] / "examples" / "models"

#: By law an override that touches one number.
LAWS = {
    "linear_elastic": "Models/model/coefficients:='210000 0.3'",
    "radial_return": "Models/hardening/saturation_rate:=21",
    "chaboche2": "Models/hardening/saturation_rate:=21",
    "j2_viscoplastic": "Models/hardening/saturation_rate:=21",
}

#: Bars: largest ratio of the wall times.
TO_PEER = {"native": 0.1, "both": 0.5}
TO_FIRST = 0.2


def measured(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Wall and processor time of a command that must succeed, in seconds."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
    return wall, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def matlaw(
    law: str, folder: Path, backend: str, jobs: int, *options: str, cache: Path | None = None
) -> tuple[float, float]:
    """One compile; without ``cache`` nothing is kept of it or found."""
    shutil.rmtree(folder / "out", ignore_errors=True)
    command = [sys.executable, "-m", "matlaw.cli.compile", str(MODELS / f"{law}.i"), "--model", "model"]
    command += ["--output-dir", str(folder / "out"), "-d", "stress:strain", "--backend", backend, "-j", str(jobs), "-q"]
    command += [] if cache else ["--no-cache"]
    environment = {"MATLAW_CACHE_DIR": str(cache or folder), "TORCHINDUCTOR_CACHE_DIR": tempfile.mkdtemp(dir=folder)}
    return measured([*command, *options], environment)


def touched(law: str, folder: Path, backend: str, jobs: int) -> tuple[float, float]:
    """The compile after a number was touched."""
    cache = Path(tempfile.mkdtemp(dir=folder))
    matlaw(law, folder, backend, jobs, cache=cache)
    return matlaw(law, folder, backend, jobs, LAWS[law], cache=cache)


def peer(python: str, law: str, folder: Path, jobs: int) -> tuple[float, float]:
    """One compile of the other program."""
    shutil.rmtree(folder / "peer", ignore_errors=True)
    command = [str(Path(python).with_name("neml2-compile")), str(MODELS / f"{law}.i"), "--model", "model"]
    command += ["-d", "stress:strain", "--output-dir", str(folder / "peer"), "-j", str(jobs)]
    return measured(command, {"TORCHINDUCTOR_CACHE_DIR": tempfile.mkdtemp(dir=folder)})


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", "--repeat", type=int, default=3, help="compiles of each kind (default: 3)")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="of every compile (default: 2)")
    parser.add_argument("--backend", nargs="+", default=list(TO_PEER), choices=list(TO_PEER))
    parser.add_argument("--law", nargs="+", default=list(LAWS), choices=list(LAWS))
    options = parser.parse_args()
    python = os.environ.get("MATLAW_PEER_PYTHON")
    print(f"{_cpu()}, {os.cpu_count()} CPUs, Python {platform.python_version()}, torch {version('torch')}")
    if python:
        print(f"the other program: neml2 {_version(python, 'neml2')}, torch {_version(python, 'torch')}")
    else:
        print("MATLAW_PEER_PYTHON is not set: no ratios to another program")
    for law in options.law:
        with tempfile.TemporaryDirectory(prefix="matlaw-compile-time-") as folder:
            compare(law, Path(folder), options.backend, options.repeat, options.jobs, python)


def compare(law: str, folder: Path, backends: list[str], repeat: int, jobs: int, python: str | None) -> None:
    """Print the medians of one law, and whether they keep to the bars."""
    kinds: dict[str, Callable[[], tuple[float, float]]] = {}
    if python:
        kinds["peer"] = partial(peer, python, law, folder, jobs)
    for backend in backends:
        kinds[backend] = partial(matlaw, law, folder, backend, jobs)
        kinds[f"{backend}, touched"] = partial(touched, law, folder, backend, jobs)
    times: dict[str, list[tuple[float, float]]] = {kind: [] for kind in kinds}
    for _ in range(repeat):
        for kind, measure in kinds.items():
            times[kind].append(measure())
    medians = {kind: tuple(statistics.median(x) for x in zip(*found, strict=True)) for kind, found in times.items()}
    for kind, (wall, processor) in medians.items():
        backend, _, again = kind.partition(", ")
        base, bar = (backend, TO_FIRST) if again else ("peer", TO_PEER.get(backend, 1.0))
        line = f"{law:16} {kind:16} {wall:7.1f} s  {processor:7.1f} s of processor time"
        if kind != base and base in medians:
            ratios = [a / b for a, b in zip((wall, processor), medians[base], strict=True)]
            what = "the first compile" if again else "the other program"
            verdict = "kept" if ratios[0] <= bar else "missed"
            line += f"; {ratios[0]:.3f} ({ratios[1]:.3f}) of {what}, bar {bar}: {verdict}"
        print(line, flush=True)


def _cpu() -> str:
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    names = [line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _version(python: str, package: str) -> str:
    code = f"from importlib.metadata import version; print(version('{package}'))"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    main()
