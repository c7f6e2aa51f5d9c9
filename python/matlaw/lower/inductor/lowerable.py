"""What a ``.pt2`` is compiled from: a graph whose forward function is recorded already."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray

from matlaw.trace.forward import Traced
from matlaw.trace.graphs import Forward, Graph, Pair
from matlaw.trace.recorder import ORIGIN
from matlaw.trace.slots import total_size

#: Fields of a graph that do not decide what it computes, or that the recorded function stands for.
_LEFT_OUT: Final = ("stem", "forward")
#: Namespaces of operations that torch differentiates.
_OF_TORCH: Final = ("aten", "prim", "prims")


@dataclass(frozen=True)
class Lowerable:
    """A graph for one device and dtype.

    :ivar graph: which derivatives of what
    :ivar traced: its forward function, recorded for this dtype; ``None`` for pure linear algebra
    :ivar title: for messages
    :ivar device: ``cpu`` or ``cuda``
    :ivar dtype: ``float64`` or ``float32``
    """

    graph: Graph
    traced: Traced | None
    title: str
    device: str = "cpu"
    dtype: str = "float64"

    @cached_property
    def constants(self) -> list[NDArray]:
        """The numbers of the law in it: floating-point constants of its function, then blocks that all rows share."""
        found = []
        if self.traced is not None:
            found = [x.detach().numpy() for x in self.traced.constants.values() if x.is_floating_point()]
        return found + [np.asarray(p.constant, dtype=self.dtype) for p in self.graph.pairs if p.batch_independent]

    @cached_property
    def structure(self) -> str:
        """Digest of everything but names and the values of :attr:`constants`."""
        numbers = {slot.name: f"#{k}" for k, slot in enumerate((*self.graph.inputs, *self.graph.outputs))}
        fields = [f.name for f in dataclasses.fields(self.graph) if f.name not in _LEFT_OUT]
        parts: list[Any] = [(name, _nameless(getattr(self.graph, name), numbers)) for name in fields]
        parts += [self.device, self.dtype, self.traced.structure if self.traced else ""]
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    @property
    def foreign(self) -> tuple[str, str] | None:
        """The first operation that is not torch's own, and the place of its model in the input file."""
        nodes = self.traced.module.graph.nodes if self.traced is not None else ()
        for node in nodes:
            if isinstance(node.target, torch._ops.OpOverload) and node.target.namespace not in _OF_TORCH:
                return str(node.target), node.meta[ORIGIN].location if ORIGIN in node.meta else ""
        return None

    @property
    def extent(self) -> int:
        """Grows with the time that a compile takes: recorded operations times entries of the outputs."""
        operations = len(self.traced.module.graph.nodes) if self.traced is not None else 1
        return operations * total_size(self.graph.outputs)

    @property
    def values(self) -> str:
        """Digest of the values of :attr:`constants`."""
        return hashlib.sha256(b"".join(x.tobytes() for x in self.constants)).hexdigest()

    def with_constants(self, constants: Sequence[NDArray] | Sequence[torch.Tensor]) -> Graph:
        """The graph with other numbers.

        :param constants: in place of :attr:`constants`
        """
        rest = iter(constants)
        forward = self.graph.forward
        if self.traced is not None and forward is not None:
            forward = Forward(forward.name, self._module(self.traced, rest), forward.inputs, forward.outputs)
        pairs = tuple(Pair(p.output, p.input, next(rest) if p.batch_independent else None) for p in self.graph.pairs)
        return dataclasses.replace(self.graph, forward=forward, pairs=pairs)

    def _module(self, traced: Traced, rest: Any) -> torch.fx.GraphModule:
        """The recorded function on this device, with constants from an iterator."""
        attributes = {
            name: (torch.as_tensor(next(rest)) if x.is_floating_point() else x).to(self.device)
            for name, x in traced.constants.items()
        }
        graph = torch.fx.Graph()
        graph.output(graph.graph_copy(traced.module.graph, {}))
        for node in graph.nodes:
            if "device" in node.kwargs:
                node.kwargs = {**node.kwargs, "device": torch.device(self.device)}
        return torch.fx.GraphModule(attributes, graph)


def _nameless(x: Any, numbers: dict[str, str]) -> Any:
    """A structure with numbers in place of names, and shapes in place of constants."""
    if isinstance(x, str):
        return numbers.get(x, x)
    if isinstance(x, np.ndarray):
        return ("constant", x.shape)
    if isinstance(x, (tuple, list)):
        return tuple(_nameless(y, numbers) for y in x)
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        return tuple((f.name, _nameless(getattr(x, f.name), numbers)) for f in dataclasses.fields(x))
    return x
