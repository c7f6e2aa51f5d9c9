"""The scalar program of every graph that has a native kernel."""

from __future__ import annotations

from collections.abc import Sequence

from matlaw.ir.aten import interpret
from matlaw.ir.differentiate import Gradient, differentiate
from matlaw.ir.program import Program
from matlaw.ir.values import Value
from matlaw.trace.forward import trace
from matlaw.trace.graphs import Forward, Graph


class ForwardProgram:
    """The scalars of a forward function, and its derivatives; recorded once, shared by the graphs that derive from it.

    :param forward: the function
    :raises CompileError: the function cannot be recorded
    :raises UnsupportedOperation: it cannot become scalars
    """

    def __init__(self, forward: Forward) -> None:
        self.forward = forward
        #: The recorded function.
        self.traced = trace(forward.function, forward.inputs, forward.outputs, forward.name)
        self.value = interpret(self.traced.module, forward.inputs, forward.outputs)
        self._gradients: dict[int, dict[Value, Gradient]] = {}

    @property
    def outputs(self) -> list[Value]:
        """All components of all outputs."""
        return [v for values in self.value.values for v in values]

    def block_at(self, rows: Sequence[Value], position: int) -> list[list[Value]]:
        """Derivatives of values by an input: one list per row, one entry per component of the input.

        :param rows: some of the output components
        :param position: of the input
        """
        seeds = [self.value.pool.input(position, c) for c in range(self.forward.inputs[position].size)]
        if position not in self._gradients:
            self._gradients[position] = differentiate(self.value.pool, self.outputs, seeds)
        gradients = self._gradients[position]
        zero = self.value.pool.zero
        return [[gradients[v].get(k, zero) for k in range(len(seeds))] for v in rows]

    def pair(self, output: str, by: str) -> list[Value]:
        """The block of an output by an input, row-major."""
        names = [slot.name for slot in self.forward.outputs]
        return [
            d for row in self.block_at(self.value.values[names.index(output)], self.forward.position(by)) for d in row
        ]


def native_program(graph: Graph, forward: ForwardProgram) -> Program:
    """The scalars of a graph.

    :param graph: any kind but those of linear algebra
    :param forward: the scalars of what it derives from
    """
    pool = forward.value.pool
    negative = tuple(pool.neg(v) for v in forward.outputs)

    def side_by_side(columns: Sequence[str]) -> tuple[Value, ...]:
        blocks = [forward.block_at(forward.outputs, forward.forward.position(name)) for name in columns]
        return tuple(d for k in range(len(forward.outputs)) for block in blocks for d in block[k])

    values: tuple[tuple[Value, ...], ...]
    if graph.kind in ("value", "predictor"):
        values = forward.value.values
    elif graph.kind == "jvp":
        values = forward.value.values + tuple(tuple(forward.pair(p.output, p.input)) for p in graph.pairs)
    elif graph.kind == "param_jvp":
        values = tuple(tuple(forward.pair(p.output, p.input)) for p in graph.pairs)
    elif graph.kind == "residual":
        values = (negative,)
    elif graph.kind == "jacobian":
        values = (side_by_side(graph.columns), negative)
    elif graph.kind == "dr_dparam":
        values = (side_by_side([slot.name for slot in forward.forward.outputs]), side_by_side(graph.columns))
    elif graph.kind == "jacobian_given":
        values = (side_by_side(graph.columns),)
    else:
        raise ValueError(f"a graph of kind '{graph.kind}' has no native kernel")
    return Program(pool, graph.inputs, graph.outputs, values)
