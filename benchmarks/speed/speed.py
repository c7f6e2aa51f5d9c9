"""How fast laws are: cost of a step per point, against batch size, beside another program and hand-written code.

    MATLAW_PEER_PYTHON=/path/to/python python benchmarks/speed/speed.py --output results.json

One step of every law is timed at several batch sizes: the last of a history that brings every row to a state of its
own, the same inputs for all programs. Programs take turns, round by round, so that a machine that others use as well
slows all of them alike; ratios are medians over the rounds. The other program is neml2 in an environment of its own
(its Python in MATLAW_PEER_PYTHON; without it there is nothing to compare with); what it compiled is kept in --work.
Stresses of all programs are compared: a fast wrong answer does not count. ``plot.py`` draws the results.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from history import ROWS, write_inputs
from laws import LAWS, Law
from peer_input import without_python_keywords

from matlaw.artifact import compile_model

HERE = Path(__file__).parent
BATCHES = (1, 64, 1024, 8192, 65536)
WHAT = ("value", "tangent", "jvp")
#: Batch sizes from here on are too much for evaluating eagerly, row by row as slow as it is.
LARGEST_EAGER = 1024
#: Hand-written C++: law to compiler options.
LIMITS = {
    "J2, closed form": ["-DYOUNGS=200000.0", "-DPOISSON=0.3", "-DPLASTIC", "-DYIELD=250.0", "-DMODULUS=2000.0"],
    "linear elasticity": ["-DYOUNGS=200000.0", "-DPOISSON=0.3"],
    "J2, rate independent": [
        *("-DYOUNGS=200000.0", "-DPOISSON=0.3", "-DPLASTIC", "-DYIELD=250.0", "-DSATURATION=100.0", "-DRATE=20.0"),
        "-DITERATIONS=4",
    ],
}


@dataclass
class Program:
    """A worker process with one thread or several.

    :ivar name: for the table
    :ivar kind: program of worker.py
    :ivar laws: by name of the law what it loads
    """

    name: str
    kind: str
    python: str
    threads: int
    laws: dict[str, str] = field(default_factory=dict)
    process: Any = None

    def __enter__(self) -> Program:
        threads = str(self.threads)
        self.process = subprocess.Popen(
            [self.python, str(HERE / "worker.py"), self.kind, "--threads", threads],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": threads, "MATLAW_NUM_THREADS": threads},
        )
        return self

    def __exit__(self, *_: object) -> None:
        self.process.stdin.close()
        self.process.wait()

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send a request to the worker and wait for its answer."""
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(f"{self.name} ended while it was asked for {request}")
        return dict(json.loads(answer))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--law", nargs="+", default=list(LAWS), choices=list(LAWS), metavar="LAW")
    parser.add_argument("--rows", nargs="+", type=int, default=list(BATCHES))
    parser.add_argument("--what", nargs="+", default=list(WHAT), choices=WHAT)
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.2, help="of calls in a round (default: 0.2)")
    parser.add_argument("--no-eager", action="store_true")
    parser.add_argument("--cpu-target", default="native", help="of all programs (default: native, as the other's is)")
    parser.add_argument("--work", type=Path, default=None, help="folder for what is compiled (default: temporary)")
    parser.add_argument("--output", type=Path, default=None, help="JSON file for the results")
    options = parser.parse_args()
    peer = os.environ.get("MATLAW_PEER_PYTHON")
    header = describe(peer)
    print("\n".join(f"{k}: {v}" for k, v in header.items()), flush=True)
    with ExitStack() as stack:
        work = options.work or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="matlaw-speed-")))
        work.mkdir(parents=True, exist_ok=True)
        results = []
        for name in options.law:
            for result in measure_law(name, LAWS[name], work, peer, options):
                results.append(result)
                print(line_of(result), flush=True)
                if options.output:
                    options.output.write_text(json.dumps({"header": header, "results": results}, indent=1))


def describe(peer: str | None) -> dict[str, str]:
    """The machine and the versions."""
    cpu = [x.partition(":")[2].strip() for x in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in x]
    found = {
        "machine": f"{cpu[0] if cpu else platform.machine()}, {os.cpu_count()} CPUs",
        "matlaw": f"{version('matlaw')}, torch {version('torch')}",
    }
    if peer:
        code = "from importlib.metadata import version as v; print(f\"neml2 {v('neml2')}, torch {v('torch')}\")"
        found["peer"] = subprocess.run([peer, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    else:
        found["peer"] = "none: MATLAW_PEER_PYTHON is not set"
    return found


def measure_law(
    name: str, law: Law, work: Path, peer: str | None, options: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    """Time one law in all programs."""
    folder = work / law.file
    folder.mkdir(exist_ok=True)
    compile_model(
        law.input, "model", folder / "matlaw", derivatives=[f"{law.stress}:{law.by}"], backend="native",
        cpu_target=(options.cpu_target,),
    )  # fmt: skip
    inputs = folder / "inputs.npz"
    write_inputs(law, folder / "matlaw" / "model_aoti.i", inputs)
    places = {"matlaw": str(folder / "matlaw" / "model_aoti.i")}
    if peer and (compiled := compile_peer(peer, law, folder)):
        places["peer"] = str(compiled)
    if name in LIMITS:
        places["limit"] = str(compile_limit(LIMITS[name], folder, options.cpu_target))
    if not options.no_eager:
        places["eager"] = str(law.input)
    for threads in options.threads:
        with ExitStack() as stack:
            programs = {
                kind: stack.enter_context(program_of(kind, peer, threads))
                for kind in places
                if threads == 1 or kind not in ("eager", "limit")
            }
            for what in options.what:
                for rows in options.rows:
                    yield measure(name, what, rows, threads, programs, places, inputs, folder, options)


def program_of(kind: str, peer: str | None, threads: int) -> Program:
    """The worker of one kind of program."""
    python = peer if kind == "peer" and peer else sys.executable
    return Program(kind, "matlaw" if kind == "eager" else kind, python, threads)


def measure(
    name: str,
    what: str,
    rows: int,
    threads: int,
    programs: dict[str, Program],
    places: dict[str, str],
    inputs: Path,
    folder: Path,
    options: argparse.Namespace,
) -> dict[str, Any]:
    """Interleaved rounds of one kind of call."""
    left_out = {"eager"} if rows > LARGEST_EAGER else set()
    kinds = [kind for kind in programs if kind not in left_out | ({"limit"} if what == "jvp" else set())]
    times: dict[str, list[float]] = {kind: [] for kind in kinds}
    stress = {kind: folder / f"{kind}.npy" for kind in kinds}
    for _ in range(options.rounds):
        for kind in kinds:
            request = {
                "law": places[kind], "inputs": str(inputs), "rows": rows, "what": what, "seconds": options.seconds,
                "stress": str(stress[kind]), "output": LAWS[name].stress,
            }  # fmt: skip
            times[kind].append(programs[kind].ask(request)["seconds"])
    expected = np.load(stress["matlaw"])
    scale = np.abs(expected).max() or 1.0
    return {
        "law": name,
        "what": what,
        "rows": rows,
        "threads": threads,
        "us_per_point": {kind: 1e6 * statistics.median(found) / rows for kind, found in times.items()},
        "ratio": {
            kind: statistics.median(a / b for a, b in zip(found, times["matlaw"], strict=True))
            for kind, found in times.items()
        },
        "stress_difference": {
            kind: float(np.abs(np.load(stress[kind]) - expected).max() / scale) for kind in kinds if kind != "matlaw"
        },
    }


def line_of(result: dict[str, Any]) -> str:
    """One line of the table."""
    line = f"{result['law']:28} {result['what']:8} {result['rows']:6} rows {result['threads']} threads"
    for kind, us in result["us_per_point"].items():
        line += f" | {kind} {us:9.3f} us"
        if kind != "matlaw":
            line += f" ({result['ratio'][kind]:.2f}x, {result['stress_difference'][kind]:.0e})"
    return line


def compile_peer(peer: str, law: Law, folder: Path) -> Path | None:
    """The law compiled by the other program, once; None where it cannot."""
    compiled, log = folder / "peer", folder / "peer.log"
    if not list(compiled.rglob("metadata.json")):
        source = without_python_keywords(law.input, folder)
        command = [str(Path(peer).with_name("neml2-compile")), str(source), "--model", "model"]
        command += ["-d", f"{law.stress}:{law.by}", "--output-dir", str(compiled), "-j", "2"]
        with log.open("w") as out:
            done = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, check=False)
        if done.returncode != 0:
            print(f"{law.file}: the other program does not compile it, see {log}", flush=True)
            return None
    return compiled


def compile_limit(defines: list[str], folder: Path, cpu_target: str) -> Path:
    """The hand-written law as a shared library."""
    library = folder / "limit.so"
    flags = ["-std=c++17", "-O3", f"-march={cpu_target}", "-ffast-math", "-fno-finite-math-only", "-shared", "-fPIC"]
    command = ["g++", *flags, *defines, str(HERE / "limit.cpp"), "-o", str(library), "-lmvec", "-lm"]
    subprocess.run(command, check=True)
    return library


if __name__ == "__main__":
    assert ROWS
    main()
