"""Time one program: reads requests from standard input, one JSON object a line, and answers with one line each.

Runs under the Python of the program that it times, and needs nothing but NumPy, torch and that program. A request:

    {"law": file or folder, "inputs": .npz file, "rows": 8192, "what": "value", "seconds": 0.2,
     "output": "stress", "stress": .npy file or null}

``what`` is ``value``, ``tangent`` (values and the derivative of stress by strain) or ``jvp``. The answer has the
seconds of a call and how often it was called.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch


class Peer:
    """neml2, compiled."""

    def __init__(self, law: str) -> None:
        from pathlib import Path

        import neml2.aoti

        folders = [file.parent for file in Path(law).rglob("metadata.json")]
        self.model = neml2.aoti.Model(str(folders[0]), "cpu", "float64")

    def call(self, what: str, inputs: dict[str, torch.Tensor]) -> Callable[[], Any]:
        """The call to time; it returns a mapping with the outputs."""
        if what == "value":
            return lambda: self.model.forward(inputs)
        if what == "tangent":
            return lambda: self.model.jacobian(inputs)[0]
        tangents = {"strain": torch.ones_like(inputs["strain"])} if "strain" in inputs else {}
        tangents = tangents or {"deformation_rate": torch.ones_like(inputs["deformation_rate"])}
        return lambda: self.model.jvp(inputs, tangents)[0]


class Matlaw:
    """matlaw: compiled where it is given an artifact, eager where it is given an input file."""

    def __init__(self, law: str) -> None:
        import matlaw

        self.model = matlaw.load_model(law, "model")

    def call(self, what: str, inputs: dict[str, torch.Tensor]) -> Callable[[], Any]:
        """The call to time; it returns a mapping with the outputs."""
        if what == "value":
            return lambda: self.model.forward(inputs)
        if what == "tangent":
            return lambda: self.model.jacobian(inputs)[0]
        by = "strain" if "strain" in inputs else "deformation_rate"
        tangents = {by: torch.ones_like(inputs[by])}
        return lambda: self.model.jvp(inputs, tangents)[0]


class Limit:
    """Hand-written C++: a shared library with one function ``(strain, state, stress, tangent, rows)``."""

    def __init__(self, law: str) -> None:
        import ctypes

        self.function = ctypes.CDLL(law).evaluate
        self.function.argtypes = [ctypes.c_void_p] * 5 + [ctypes.c_int64]

    def call(self, what: str, inputs: dict[str, torch.Tensor]) -> Callable[[], Any]:
        """The call to time; it returns a mapping with the stress."""
        strain = inputs["strain"]
        state = [inputs.get(f"{name}~1", strain) for name in ("plastic_strain", "equivalent_plastic_strain")]
        stress, tangent = torch.empty_like(strain), torch.empty(len(strain), 6, 6, dtype=torch.float64)
        pointers = [x.data_ptr() for x in (strain, *state, stress)] + [
            tangent.data_ptr() if what == "tangent" else None
        ]

        def run() -> dict[str, torch.Tensor]:
            self.function(*pointers, len(strain))
            return {"stress": stress, "tangent": tangent}

        return run


PROGRAMS: dict[str, Callable[[str], Any]] = {"peer": Peer, "matlaw": Matlaw, "limit": Limit}


def measure(call: Callable[[], Any], seconds: float) -> tuple[float, int]:
    """Seconds of one call, and how many calls were made."""
    count, started = 0, time.perf_counter()
    while True:
        call()
        count += 1
        elapsed = time.perf_counter() - started
        if elapsed > seconds:
            return elapsed / count, count


def main() -> None:
    """Answer requests until the input ends."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", choices=list(PROGRAMS))
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    laws: dict[str, Any] = {}
    prepared: dict[tuple, Callable[[], Any]] = {}
    for line in sys.stdin:
        request = json.loads(line)
        key = (request["law"], request["inputs"], request["rows"], request["what"])
        if key not in prepared:
            if request["law"] not in laws:
                laws.clear()
                laws[request["law"]] = PROGRAMS[options.program](request["law"])
            prepared.clear()
            inputs = {name: _tile(value, request["rows"]) for name, value in np.load(request["inputs"]).items()}
            prepared[key] = laws[request["law"]].call(request["what"], inputs)
            outputs = prepared[key]()  # what happens once, happens here
            if request.get("stress"):
                np.save(request["stress"], np.asarray(outputs[request["output"]])[: request["rows"]])
        seconds, count = measure(prepared[key], request["seconds"])
        print(json.dumps({"seconds": seconds, "calls": count}), flush=True)


def _tile(value: np.ndarray, rows: int) -> torch.Tensor:
    repeated = np.resize(value, (rows, *value.shape[1:]))
    return torch.from_numpy(np.ascontiguousarray(repeated))


if __name__ == "__main__":
    main()
