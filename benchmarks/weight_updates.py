"""What swapping weights costs: latency of an update, and throughput of calls with and without updates.

Networks with 1 MB and 100 MB of weights are compiled (values only, weights outside the code) and loaded. Printed are
the time of an update from tensors (checked and copied), from tensors without a copy, and from a file; then the rows
per second that one thread evaluates alone, and while another updates all the time. The last column is the ratio of the
two: what is lost goes into memory traffic and the second core, calls never wait for an update.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import torch

import matlaw
from matlaw.artifact import compile_model

MODULE = """
import torch
from torch import nn

class Net(nn.Sequential):
    def __init__(self):
        width = {width}
        super().__init__(nn.Linear(6, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 6))
"""

LAW = """
[Models]
  [net]
    type = TorchModule
    module = '{module}:Net'
    inputs = 'strain'
    input_types = 'SR2'
    outputs = 'stress'
    output_types = 'SR2'
  []
[]
"""


def compiled(folder: Path, megabytes: int, backend: str) -> matlaw.runtime.CompiledModel:
    """A network with so many bytes of float64 weights."""
    width = int((megabytes * 1e6 / 8) ** 0.5)
    module = folder / f"net{megabytes}.py"
    module.write_text(MODULE.format(width=width))
    (folder / f"law{megabytes}.i").write_text(LAW.format(module=module.name))
    started = time.perf_counter()
    compile_model(
        folder / f"law{megabytes}.i", "net", folder / f"aoti{megabytes}", backend=backend,
        extensions=[str(module)], external_weights=[], verify="none",
    )  # fmt: skip
    law = matlaw.load_model(folder / f"aoti{megabytes}" / "net_aoti.i", "net", threads=1)
    print(f"{megabytes} MB: width {width}, {law.backend}, compiled and loaded in {time.perf_counter() - started:.1f} s")
    return law


def median_ms(action: Callable[[], object], repeats: int) -> float:
    """Median time of an action in milliseconds."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        action()
        times.append(1e3 * (time.perf_counter() - started))
    return statistics.median(times)


def rows_per_second(law: matlaw.runtime.CompiledModel, inputs: dict, seconds: float) -> float:
    """Of one thread that does nothing but calls."""
    calls, started = 0, time.perf_counter()
    while time.perf_counter() - started < seconds:
        law.forward(inputs)
        calls += 1
    return calls * len(inputs["strain"]) / (time.perf_counter() - started)


def measure(law: matlaw.runtime.CompiledModel, folder: Path, rows: int, repeats: int, seconds: float) -> None:
    """Print one law's numbers."""
    weights = law.weights()
    file = folder / "weights.safetensors"
    matlaw.save_weights(file, weights)
    print(f"  update from tensors         {median_ms(lambda: law.update_weights(weights), repeats):9.3f} ms")
    print(f"  update without a copy       {median_ms(lambda: law.update_weights(weights, True), repeats):9.3f} ms")
    print(f"  update from a file          {median_ms(lambda: law.update_weights(file), repeats):9.3f} ms")
    inputs = {"strain": torch.rand(rows, 6, dtype=torch.float64)}
    law.forward(inputs)
    alone = rows_per_second(law, inputs, seconds)
    done, updates = threading.Event(), [0]

    def update() -> None:
        while not done.is_set():
            law.update_weights(weights)
            updates[0] += 1

    updater = threading.Thread(target=update)
    updater.start()
    beside = rows_per_second(law, inputs, seconds)
    done.set()
    updater.join()
    print(f"  rows per second alone       {alone:9.0f}")
    print(f"  beside {updates[0] / seconds:7.0f} updates/s    {beside:9.0f}   ratio {beside / alone:.2f}")


def main() -> None:
    """Measure both sizes."""
    p = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    p.add_argument("--megabytes", nargs="+", type=int, default=[1, 100], help="sizes of the weights")
    p.add_argument("--rows", type=int, default=512, help="rows of a call")
    p.add_argument("--repeats", type=int, default=15, help="updates of which the median is printed")
    p.add_argument("--seconds", type=float, default=5.0, help="length of each throughput measurement")
    p.add_argument("--backend", default="both", choices=("both", "native", "inductor"), help="what is compiled")
    options = p.parse_args()
    with tempfile.TemporaryDirectory(prefix="matlaw-weights-") as name:
        for megabytes in options.megabytes:
            law = compiled(Path(name), megabytes, options.backend)
            measure(law, Path(name), options.rows, options.repeats, options.seconds)


if __name__ == "__main__":
    main()
