"""How long a compile takes, as ratios to another program on the same input files.

The other program is reached through the Python in the environment variable MATLAW_PEER_PYTHON (an environment of its
own with the package neml2); without it only matlaw's own times are printed. Every compile is a fresh process without
a cache, except the one after a touched number, which finds the graphs of the compile before.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

ELASTIC = """[Models]
  [model]
    type = LinearIsotropicElasticity
    coefficients = '200000 0.3'
    coefficient_types = 'YOUNGS_MODULUS POISSONS_RATIO'
    strain = 'strain'
    stress = 'stress'
  []
[]
"""
MODELS = Path(__file__).parents[1] / "examples" / "models"


def laws() -> dict[str, tuple[str, str]]:
    """By name the text of the input file and an override that touches one number."""
    touched = {
        "elasticity": "Models/model/coefficients:='210000 0.3'",
        "j2": "Models/hardening/saturation_rate:=21",
    }
    texts = {"elasticity": ELASTIC, "j2": (MODELS / "j2_plastic.i").read_text(encoding="utf-8")}
    return {name: (text, touched[name]) for name, text in texts.items()}


def seconds(command: list[str], environment: dict[str, str]) -> float:
    """Wall time of a command that must succeed."""
    started = time.perf_counter()
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
    return time.perf_counter() - started


def matlaw(law: Path, folder: Path, backend: str, *options: str, cache: Path | None = None) -> float:
    """Wall time of one compile; without ``cache`` nothing is kept of it or found."""
    shutil.rmtree(folder / "out", ignore_errors=True)
    code = "import sys; from matlaw.cli.compile import main; sys.exit(main())"
    command = [sys.executable, "-c", code, str(law), "--model", "model", "--output-dir", str(folder / "out")]
    command += ["-d", "stress:strain", "--backend", backend, "-j", "2", "-q", *([] if cache else ["--no-cache"])]
    inductor = tempfile.mkdtemp(dir=folder)
    return seconds(
        [*command, *options], {"MATLAW_CACHE_DIR": str(cache or folder), "TORCHINDUCTOR_CACHE_DIR": inductor}
    )


def peer(python: str, law: Path, folder: Path) -> float:
    """Wall time of the other program."""
    shutil.rmtree(folder / "peer", ignore_errors=True)
    command = [str(Path(python).with_name("neml2-compile")), str(law), "--model", "model", "-d", "stress:strain"]
    inductor = tempfile.mkdtemp(dir=folder)
    environment = {"TORCHINDUCTOR_CACHE_DIR": inductor}
    return seconds([*command, "--output-dir", str(folder / "peer"), "-j", "2"], environment)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", "--repeat", type=int, default=3, help="compiles of each kind (default: 3)")
    parser.add_argument("--backend", nargs="+", default=["native", "both"], choices=("native", "inductor", "both"))
    parser.add_argument("--law", nargs="+", default=list(laws()), choices=list(laws()))
    options = parser.parse_args()
    python = os.environ.get("MATLAW_PEER_PYTHON")
    if not python:
        print("MATLAW_PEER_PYTHON is not set: no ratios to another program")
    for name in options.law:
        with tempfile.TemporaryDirectory(prefix="matlaw-compile-time-") as folder:
            compare(name, Path(folder), options.backend, options.repeat, python)


def compare(name: str, folder: Path, backends: list[str], repeat: int, python: str | None) -> None:
    """Print the medians of one law."""
    text, touched = laws()[name]
    law = folder / "law.i"
    law.write_text(text, encoding="utf-8")
    other = median(lambda: peer(python, law, folder), repeat) if python else None
    if other is not None:
        print(f"{name}: the other program {other:.1f} s", flush=True)
    for backend in backends:
        cold = median(partial(matlaw, law, folder, backend), repeat)
        again = median(partial(second, law, folder, backend, touched), repeat)
        ratio = f", {cold / other:.3f} of the other program" if other is not None else ""
        print(
            f"{name}, {backend}: {cold:.2f} s{ratio}; after one number was touched {again / cold:.2f} of it", flush=True
        )


def second(law: Path, folder: Path, backend: str, touched: str) -> float:
    """Wall time of a compile after one number was touched."""
    cache = Path(tempfile.mkdtemp(dir=folder))
    matlaw(law, folder, backend, cache=cache)
    return matlaw(law, folder, backend, touched, cache=cache)


def median(measure: Callable[[], float], repeat: int) -> float:
    """Median of repeated measurements."""
    return statistics.median(measure() for _ in range(repeat))


if __name__ == "__main__":
    main()
