"""Microseconds of a step of one point from C++, law by law, without the overhead of Python.

    python benchmarks/speed/latency.py

The program latency.cpp is built against the installed package with what pkg-config says.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from history import write_inputs
from laws import LAWS

import matlaw
from matlaw import config
from matlaw.artifact import compile_model

#: Points that take turns.
POINTS = 64
COLUMNS = ("a point", "with tangent", "a batch of one", "with tangent")


def build(folder: Path) -> Path:
    """The program."""
    environment = {**os.environ, "PKG_CONFIG_PATH": str(config.library_dir() / "pkgconfig")}
    found = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "matlaw"], env=environment, capture_output=True, text=True, check=True
    )
    program = folder / "latency"
    source = Path(__file__).with_name("latency.cpp")
    subprocess.run(["g++", "-O2", str(source), "-o", str(program), *found.stdout.split()], check=True)
    return program


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--law", nargs="+", default=list(LAWS), choices=list(LAWS), metavar="LAW")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print(f"{'us':28}" + "".join(f"{c:>16}" for c in COLUMNS))
    with tempfile.TemporaryDirectory(prefix="matlaw-latency-") as place:
        folder = Path(place)
        program = build(folder)
        for name in options.law:
            law = LAWS[name]
            compile_model(
                law.input, "model", folder / law.file, derivatives=[f"{law.stress}:{law.by}"], backend="native"
            )
            artifact = folder / law.file / "model_aoti.i"
            inputs = write_inputs(law, artifact, folder / "inputs.npz")
            order = matlaw.load_model(artifact, "model").input_names
            points = np.concatenate([inputs[k][:POINTS].reshape(POINTS, -1) for k in order], axis=1)
            (folder / "points").write_bytes(np.ascontiguousarray(points).tobytes())
            command = [str(program), str(folder / law.file / "model"), str(folder / "points")]
            runs = []
            for _ in range(options.rounds):
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                runs.append([float(x) for x in done.stdout.split()])
            medians = [statistics.median(column) for column in zip(*runs, strict=True)]
            print(f"{name:28}" + "".join(f"{x:16.2f}" for x in medians), flush=True)


if __name__ == "__main__":
    main()
