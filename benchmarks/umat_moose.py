"""A cube in a real MOOSE, ten inelastic steps: a law as a UMAT plugin, as a UMAT in C++, and as a material of MOOSE.

Two laws: creep by radial return, which solves for one number, as the C++ does; and J2 plasticity as a general implicit
law of eight unknowns, against closed-form radial return. MOOSE's materials integrate the same equations by radial
return of their own.

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
MODELS = ROOT / "examples" / "models"
#: Input file, overrides, options of the compiler for the UMAT in C++, input file of MOOSE's own material
LAWS: dict[str, tuple[str, list[str], list[str], str]] = {
    "creep": (
        "radial_return.i",
        [
            "Models/hardening/saturated_hardening:=0",
            "Models/yielding/yield_stress:=0",
            "Models/flow_rate/reference_stress:=1000",
            "Models/flow_rate/exponent:=4",
        ],
        ["-DCREEP"],
        "moose_creep.i",
    ),
    "plasticity": ("linear_isotropic_hardening.i", [], [], "moose_j2.i"),
}


def run(material: list[str], n: int, folder: Path) -> float:
    """Seconds of user time of a run.

    :param material: input file of the material, relative to the others, and overrides
    """
    sizes = [f"Mesh/bar/n{axis}={n}" for axis in "xyz"]
    before, start = os.times(), time.perf_counter()
    subprocess.run(
        [
            *(str(MOOSE), "-i", str(INPUTS / "bar.i"), str(INPUTS / material[0]), *material[1:]),
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
    parser.add_argument("-n", type=int, default=12, help="elements along an edge")
    parser.add_argument("--laws", nargs="+", default=list(LAWS), choices=list(LAWS))
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    if not MOOSE.exists():
        print(f"there is no MOOSE at {MOOSE}; install it with scripts/install_moose_wheel.py")
        return 0
    for law in options.laws:
        with tempfile.TemporaryDirectory() as folder:
            best = compare(law, options.n, options.repeats, Path(folder))
        plugin = best.pop("plugin")
        for other, seconds in best.items():
            print(f"{law}, {options.n}^3 elements: the plugin takes {plugin / seconds:.3f} times as long as {other}")
    return 0


def compare(law: str, n: int, repeats: int, folder: Path) -> dict[str, float]:
    """The shortest run of each kind."""
    file, overrides, macros, own = LAWS[law]
    compile_model(MODELS / file, "model", folder, derivatives=["stress:strain"], backend="native", overrides=overrides)
    write_plugin(folder / "model", "model", folder / "plugin", link=True)
    source = ROOT / "tests" / "fe" / "radial_return.cpp"
    command = ["g++", "-O2", "-shared", "-fPIC", *macros, "-o", str(folder / "hand-opt.plugin"), str(source)]
    subprocess.run(command, check=True)
    kinds = {
        "plugin": ["umat.i", f"Materials/umat/plugin={folder / 'plugin'}"],
        "a UMAT in C++": ["umat.i", f"Materials/umat/plugin={folder / 'hand'}"],
        "MOOSE's own material": [own],
    }
    best = dict.fromkeys(kinds, float("inf"))
    for _ in range(repeats):
        for kind, material in kinds.items():
            print(f"{law}, {kind}:", end=" ")
            best[kind] = min(best[kind], run(material, n, folder))
    return best


if __name__ == "__main__":
    sys.exit(main())
