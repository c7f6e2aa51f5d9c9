"""A cube in a real MOOSE, ten plastic steps: a law as a UMAT plugin, against the same law written as a UMAT in C++.

Needs the MOOSE that scripts/install_moose_wheel.py installs. Runs alternate; the shortest of each counts.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from matlaw.artifact import compile_model
from matlaw.umat import write_plugin

ROOT = Path(__file__).parents[1]
INPUTS = ROOT / "moose_app" / "test" / "tests" / "umat"
MOOSE = Path(os.environ.get("MATLAW_MOOSE") or Path(sys.prefix) / "moose" / "rabbit-opt")
LAW = ROOT / "examples" / "models" / "linear_isotropic_hardening.i"


def run(plugin: Path, n: int, folder: Path) -> float:
    """Seconds of user time of a run."""
    sizes = [f"Mesh/bar/n{axis}={n}" for axis in "xyz"]
    before, start = os.times(), time.perf_counter()
    subprocess.run(
        [
            *(str(MOOSE), "-i", str(INPUTS / "bar.i"), str(INPUTS / "umat.i"), f"Materials/umat/plugin={plugin}"),
            *(*sizes, "Executioner/end_time=1", "Executioner/nl_rel_tol=1e-8", f"Outputs/file_base={folder / 'out'}"),
        ],
        check=True,
        capture_output=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    after = os.times()
    print(
        f"  {time.perf_counter() - start:.2f} s, {after.children_user - before.children_user:.2f} s of processor time"
    )
    return after.children_user - before.children_user


def main() -> int:
    """Compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-n", type=int, default=10, help="elements along an edge")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    if not MOOSE.exists():
        print(f"there is no MOOSE at {MOOSE}; install it with scripts/install_moose_wheel.py")
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        compile_model(LAW, "model", folder, derivatives=["stress:strain"], backend="native")
        write_plugin(folder / "model", "model", folder / "law", link=True)
        source = ROOT / "tests" / "fe" / "radial_return.cpp"
        subprocess.run(
            ["g++", "-O2", "-shared", "-fPIC", "-o", str(folder / "hand-opt.plugin"), str(source)], check=True
        )
        best = {"law": float("inf"), "hand": float("inf")}
        for _ in range(options.repeats):
            for plugin in best:
                print(plugin)
                best[plugin] = min(best[plugin], run(folder / plugin, options.n, folder))
    print(f"{options.n}^3 elements: the plugin takes {best['law'] / best['hand']:.3f} times as long as a UMAT in C++")
    return 0


if __name__ == "__main__":
    sys.exit(main())
