"""Derivatives by parameters from an artifact's kernels, chained as docs/architecture.md, section 3, says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matlaw.lower.native import Kernel
from matlaw.trace.slots import Slot


class ChainedArtifact:
    """Reads metadata.json only: what a runtime has.

    :param place: the folder with ``model/``
    """

    def __init__(self, place: Path) -> None:
        self.folder = place / "model"
        self.metadata: dict[str, Any] = json.loads((self.folder / "metadata.json").read_text())
        entries = [*self.metadata["inputs"], *self.metadata["outputs"]]
        self.shapes = {e["name"]: tuple(e["base_shape"]) for e in entries}
        self.shapes |= {name: tuple(e["base_shape"]) for name, e in self.metadata["variables"].items()}
        self.shapes |= {e["name"]: tuple(e["param_base_shape"]) for e in self.metadata["parameters"]}

    def size(self, name: str) -> int:
        """Number of components."""
        return int(np.prod(self.shapes[name], dtype=int))

    def kernel(self, stem: str, inputs: list[str], outputs: list[tuple[int, ...]]) -> Kernel:
        """The kernel of a graph."""
        slots = [Slot(name, self.shapes[name]) for name in inputs]
        results = [Slot(f"y{k}", shape) for k, shape in enumerate(outputs)]
        return Kernel(self.folder / f"cpu/float64/{stem}.x86-64-v3.so", slots, results, np.dtype(np.float64))

    def by_parameters(self, state: Mapping[str, NDArray]) -> dict[str, dict[str, NDArray]]:
        """``[output][parameter]``, each ``(size, param_size, B)``.

        :param state: everything in the state map, converged, and the parameters, ``(*base, B)``
        """
        rows = next(iter(state.values())).shape[-1]
        D: dict[str, dict[str, NDArray]] = {}
        for segment in self.metadata["segments"]:
            by = self._forward if segment["kind"] == "forward" else self._implicit
            found = by(segment, state, D)
            for name in segment["outputs"]:
                D[name] = found.get(name, {})
        return {
            o: {
                p: D.get(o, {}).get(p, np.zeros((self.size(o), self.size(p), rows)))
                for p in (e["parameter"] for e in self.metadata["param_derivatives"] if e["output"] == o)
            }
            for o in dict.fromkeys(e["output"] for e in self.metadata["param_derivatives"])
        }

    def _forward(self, segment: dict, state: Mapping[str, NDArray], D: dict) -> dict[str, dict[str, NDArray]]:
        names = [*segment["inputs"], *segment["parameters"]]
        values = [state[name] for name in names]
        found: dict[str, dict[str, NDArray]] = {}
        graphs = segment["graphs"]
        if "jvp" in graphs:
            pairs = graphs["jvp"]["pairs"]
            shapes = [self.shapes[o] for o in segment["outputs"]]
            shapes += [self.shapes[p["output"]] + self.shapes[p["input"]] for p in pairs]
            blocks = self.kernel(graphs["jvp"]["stem"], names, shapes)(*values)[len(segment["outputs"]) :]
            for pair, block in zip(pairs, blocks, strict=True):
                self._push(found, pair["output"], pair["input"], block, D)
        if "param_jvp" in graphs:
            pairs = graphs["param_jvp"]["pairs"]
            shapes = [self.shapes[p["output"]] + self.shapes[p["parameter"]] for p in pairs]
            for pair, block in zip(
                pairs, self.kernel(graphs["param_jvp"]["stem"], names, shapes)(*values), strict=True
            ):
                self._add(found, pair["output"], pair["parameter"], block)
        return found

    def _implicit(self, segment: dict, state: Mapping[str, NDArray], D: dict) -> dict[str, dict[str, NDArray]]:
        names = [*(u["name"] for u in segment["unknowns"]), *segment["givens"], *segment["parameters"]]
        values = [state[name] for name in names]
        found: dict[str, dict[str, NDArray]] = {}
        graphs, n = segment["graphs"], segment["size"]
        A, _ = self.kernel(graphs["jacobian"]["stem"], names, [(n, n), (n,)])(*values)
        rows_of = {u["name"]: slice(u["offset"], u["offset"] + u["size"]) for u in segment["unknowns"]}
        if "jacobian_given" in graphs and D:
            columns = graphs["jacobian_given"]["givens"]
            m = sum(c["size"] for c in columns)
            [Bg] = self.kernel(graphs["jacobian_given"]["stem"], names, [(n, m)])(*values)
            du = _solve(A, Bg)
            for u, rows in rows_of.items():
                for c in columns:
                    self._push(found, u, c["name"], du[rows, c["offset"] : c["offset"] + c["size"]], D)
        if "dr_dparam" in graphs:
            columns = graphs["dr_dparam"]["parameters"]
            m = sum(c["size"] for c in columns)
            again, P = self.kernel(graphs["dr_dparam"]["stem"], names, [(n, n), (n, m)])(*values)
            np.testing.assert_array_equal(again, A)
            du = _solve(A, P)
            width = {c["name"]: c["size"] for c in columns}
            for pair in graphs["solve_param"]["pairs"]:
                u, p, at = pair["output"], pair["parameter"], pair["col_offset"]
                assert pair["row_offset"] == rows_of[u].start
                self._add(found, u, p, du[rows_of[u], at : at + width[p]])
        return found

    def _add(self, found: dict, output: str, parameter: str, block: NDArray) -> None:
        matrix = block.reshape(self.size(output), self.size(parameter), block.shape[-1])
        sums = found.setdefault(output, {})
        sums[parameter] = sums[parameter] + matrix if parameter in sums else matrix

    def _push(self, found: dict, output: str, by: str, block: NDArray, D: dict) -> None:
        matrix = block.reshape(self.size(output), self.size(by), block.shape[-1])
        for parameter, inner in D.get(by, {}).items():
            self._add(found, output, parameter, np.einsum("ikb,kjb->ijb", matrix, inner))


def _solve(A: NDArray, right: NDArray) -> NDArray:
    return -np.linalg.solve(A.transpose(2, 0, 1), right.transpose(2, 0, 1)).transpose(1, 2, 0)
