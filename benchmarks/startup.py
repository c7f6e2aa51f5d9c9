"""Time from the start of a C++ program to its first eager evaluation, what Python imports in it, and later loads.

The program (benchmarks/startup_host) is built against the installed package with what pkg-config says. Bars on a quiet
machine of two cores: 3 s from the start of the process to the first result, 50 ms for a later load of the elastic law.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

from matlaw import config

HERE = Path(__file__).resolve().parent
MODELS = HERE.parent / "examples" / "models"
RUNS = 3


def build(folder: Path) -> Path:
    environment = dict(os.environ, PKG_CONFIG_PATH=str(config.library_dir() / "pkgconfig"))
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "matlaw-eager"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    library = sysconfig.get_config_var("LIBDIR")
    python = [f"-L{library}", f"-Wl,-rpath,{library}", f"-lpython{sysconfig.get_config_var('LDVERSION')}"]
    program = folder / "startup"
    source = HERE / "startup_host" / "startup.cpp"
    subprocess.run(["g++", "-O1", str(source), "-o", str(program), *flags, *python], check=True)
    return program


def measure(program: Path, law: str, derivatives: bool) -> tuple[float, list[tuple[float, float]]]:
    """Seconds of the first evaluation since the process began, and milliseconds of every load and evaluation."""
    environment = dict(os.environ, PATH=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    command = [str(program), str(MODELS / f"{law}.i"), "model", str(int(derivatives))]
    start = time.perf_counter()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    output, _ = process.communicate()
    whole = time.perf_counter() - start
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed")
    loads = [(float(loaded), float(done)) for loaded, done in (line.split() for line in output.splitlines())]
    return whole - sum(done for _, done in loads[1:]) / 1e3, loads


def imports() -> None:
    """The packages that take longest to import, from ``python -X importtime``."""
    law = str(MODELS / "linear_elastic.i")
    code = (
        "from matlaw.runtime.embedding import load\n"
        "import torch\n"
        f"load({law!r}, 'model').jacobian({{'strain': torch.zeros(1, 6, dtype=torch.float64)}})\n"
    )
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", code], stderr=subprocess.PIPE, text=True, check=True
    )
    rows = [
        line.split("|") for line in done.stderr.splitlines() if line.startswith("import time:") and "self" not in line
    ]
    times = [(int(row[1]), row[2].strip()) for row in rows]
    print("imports by cumulative time (ms); each includes what it imports:")
    for microseconds, name in sorted(times, reverse=True)[:12]:
        print(f"  {microseconds / 1e3:8.0f}  {name}")
    own = sum(int(row[0].split(":")[1]) for row in rows if row[2].strip().split(".")[0] == "matlaw") / 1e3
    print(f"  {own:8.0f}  all modules of matlaw by themselves")
    heavy = ("sympy", "torch._dynamo", "torch._inductor", "torch.fx.experimental.symbolic_shapes")
    print("  imported although not needed:", ", ".join(n for n in heavy if any(n == m for _, m in times)) or "nothing")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        program = build(Path(folder))
        print(f"{'law':<18}{'derivatives':>12}{'first result':>14}{'later load':>12}{'later result':>14}")
        for law in ("linear_elastic", "j2_viscoplastic", "chaboche2"):
            for derivatives in (False, True):
                runs = [measure(program, law, derivatives) for _ in range(RUNS)]
                first = statistics.median(start for start, _ in runs)
                load = statistics.median(loaded for _, loads in runs for loaded, _ in loads[1:])
                result = statistics.median(done for _, loads in runs for _, done in loads[1:])
                asked = "yes" if derivatives else "no"
                print(f"{law:<18}{asked:>12}{first:>12.2f} s{load:>9.1f} ms{result:>11.1f} ms")
    imports()


if __name__ == "__main__":
    main()
