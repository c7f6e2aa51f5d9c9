"""How many rows the self-check takes at a time: a dense block of hundreds of unknowns has megabytes for each row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from matlaw.artifact.samples import ROWS, STATES
from matlaw.trace.graphs import Forward, Graph, dense_system
from matlaw.trace.slots import total_size

#: What the arrays of one comparison may take together, in bytes.
LIMIT: Final = 2**29
#: Fewer rows than these say nothing of how rows depend on each other; they are taken whatever they need.
FEWEST: Final = 3
#: So many times what fits at once is compared, unless everything is asked for: a state of a polycrystal of a hundred
#: grains takes seconds.
QUICK_SLICES: Final = 3
#: How many arrays of the size of all inputs, and of all outputs, are there at once: while eager is evaluated with noise
#: and differentiated numerically, and while the results of a compiled graph are compared with it.
_OF_EAGER: Final = (6, 16)
_OF_CALLS: Final = (5, 10)
_WITHOUT_DERIVATIVES: Final = ("value", "predictor", "residual", "solve", "solve_ift", "solve_param", "precond_apply")


def rows_that_fit(bytes_per_row: int) -> int:
    """How many rows fit the limit, at least :data:`FEWEST`."""
    return max(FEWEST, LIMIT // max(bytes_per_row, 1))


def states_at_once(graph: Graph) -> int:
    """How many states of a graph are evaluated eagerly at a time, no more than all."""
    if graph.native_only:
        return states_at_once(dense_system(graph)[0])
    needed = bytes_of_arrays(graph)
    if graph.forward is not None:
        # Reverse mode: a copy of the row for each output, and in each all values on the way to it.
        copies = 1 if graph.kind in _WITHOUT_DERIVATIVES else total_size(graph.forward.outputs)
        needed += 2 * copies * _bytes_on_the_way(graph.forward)
    return min(STATES, rows_at_once(graph), rows_that_fit(needed))


def rows_at_once(graph: Graph) -> int:
    """With how many rows a compiled graph is called at most."""
    return min(ROWS, rows_that_fit(_bytes(graph, *_OF_CALLS)))


def bytes_of_arrays(graph: Graph) -> int:
    """What the arrays take for one row while eager is evaluated, without the values on the way."""
    return _bytes(graph, *_OF_EAGER)


def _bytes(graph: Graph, of_inputs: int, of_outputs: int) -> int:
    inputs = total_size(slot for slot in graph.inputs if not slot.shared)
    return 8 * (of_inputs * inputs + of_outputs * total_size(graph.outputs))


def _bytes_on_the_way(forward: Forward) -> int:
    """What the results of all operations of a function take for one row."""
    arguments = [torch.ones(*slot.shape, 1, dtype=torch.float64) for slot in forward.inputs]
    with torch.no_grad(), _ResultSizes() as sizes:
        forward.function(*arguments)
    return sizes.bytes


class _ResultSizes(TorchDispatchMode):
    """While active, adds up what the results of torch's operations take, without views."""

    def __init__(self) -> None:
        super().__init__()
        self.bytes = 0


def _dispatch(
    self: _ResultSizes, func: Any, types: Sequence[type], args: tuple = (), kwargs: dict[str, Any] | None = None
) -> Any:
    result = func(*args, **(kwargs or {}))
    if isinstance(result, torch.Tensor) and all(r.alias_info is None for r in func._schema.returns):
        self.bytes += result.nbytes
    return result


# Not a method: torch would wrap it for its own compiler, and load that, which takes a second.
_ResultSizes.__torch_dispatch__ = _dispatch  # type: ignore[method-assign,assignment]
