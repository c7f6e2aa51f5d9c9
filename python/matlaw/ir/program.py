"""A program: the outputs of a graph as lists of scalar values, and the order in which to compute them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from matlaw.ir.values import Pool, Value
from matlaw.trace.slots import Slot


@dataclass(frozen=True)
class Program:
    """A graph as scalars.

    :ivar pool: what made the values
    :ivar inputs: slots of the inputs
    :ivar outputs: slots of the outputs
    :ivar values: per output its components, row-major
    """

    pool: Pool
    inputs: tuple[Slot, ...]
    outputs: tuple[Slot, ...]
    values: tuple[tuple[Value, ...], ...]

    @property
    def statement_count(self) -> int:
        """Number of operations: neither inputs nor constants."""
        return sum(v.op not in ("input", "const", "mask") for v in reachable(v for out in self.values for v in out))

    def depends_on_batch(self, output: int) -> bool:
        """False when every component of an output is the same for all rows."""
        return any(v.op == "input" for v in reachable(self.values[output]))


def reachable(outputs: Iterable[Value]) -> list[Value]:
    """All values that the outputs need, operands first."""
    seen: set[int] = set()
    found: list[Value] = []
    stack = list(outputs)
    while stack:
        v = stack.pop()
        if v.id in seen:
            continue
        seen.add(v.id)
        found.append(v)
        stack.extend(v.args)
    found.sort(key=lambda v: v.id)
    return found


def order_statements(outputs: Iterable[Value]) -> list[Value]:
    """The values in the order in which to compute them so that few are alive at once.

    Depth first, one output after the other; of two operands the one whose tree is deeper comes first. What nothing
    needs does not appear.
    """
    outputs = list(outputs)
    depth: dict[int, int] = {}
    for v in reachable(outputs):
        depth[v.id] = 1 + max((depth[a.id] for a in v.args), default=-1)
    done: set[int] = set()
    order: list[Value] = []
    for output in outputs:
        stack: list[tuple[Value, bool]] = [(output, False)]
        while stack:
            v, operands_done = stack.pop()
            if v.id in done:
                continue
            if operands_done or not v.args:
                done.add(v.id)
                order.append(v)
                continue
            stack.append((v, True))
            stack.extend((a, False) for a in sorted(v.args, key=lambda a: depth[a.id]))
    return order
