"""The scalar program of every graph that has a native kernel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from matlaw.errors import CompileError
from matlaw.ir.aten import UnsupportedOperation, interpret
from matlaw.ir.differentiate import Gradient, differentiate
from matlaw.ir.program import Place, Program, places, reachable
from matlaw.ir.sparse_solve import RightSide, TooDense, solve_linearised
from matlaw.ir.values import Value
from matlaw.lower.native.source import component_name
from matlaw.trace.forward import trace
from matlaw.trace.graphs import Forward, Graph, offsets
from matlaw.trace.slots import Slot, total_size


@dataclass(frozen=True)
class Entry:
    """An entry of a matrix of derivatives, or one at every site.

    :ivar row: which component of the outputs, all of them one below the other
    :ivar column: which component of the input
    """

    value: Value
    row: Place
    column: Place

    def place(self, width: int, first_row: int = 0, first_column: int = 0) -> Place:
        """Where it stands in a row-major matrix, when rows and columns start there."""
        component = (self.row.component + first_row) * width + self.column.component + first_column
        return Place(component, self.row.stride * width + self.column.stride)


class ForwardProgram:
    """The scalars of a forward function, and its derivatives; recorded once, shared by the graphs that derive from it.

    The first sub-batch axis, for instance the grains, is kept whole where the function treats all its sites alike and
    no site acts on another: the program then has a loop over sites. Otherwise every site has scalars of its own.

    :param forward: the function
    :raises CompileError: the function cannot be recorded
    :raises UnsupportedOperation: it cannot become scalars
    """

    def __init__(self, forward: Forward) -> None:
        self.forward = forward
        sites = _sites(forward)
        try:
            self._record(sites)
        except (CompileError, UnsupportedOperation):
            if sites == 1:
                raise
            self._record(1)
        self._gradients: dict[int, dict[Value, Gradient]] = {}

    def _record(self, sites: int) -> None:
        forward = self.forward
        #: The recorded function.
        self.traced = trace(forward.function, forward.inputs, forward.outputs, forward.name, sites=sites)
        self.value = interpret(self.traced.module, forward.inputs, forward.outputs, sites=sites)
        if any(v.varies and v.depth for v in self.outputs):
            raise UnsupportedOperation("sum", "sites act on each other")

    @property
    def outputs(self) -> list[Value]:
        """All components of all outputs, those that differ by their site only once."""
        return [v for values in self.value.values for v in values]

    @property
    def rows(self) -> list[tuple[Value, Place]]:
        """All components of all outputs, and where they are when all outputs stand one below the other."""
        first = offsets(self.forward.outputs)
        return [
            (v, Place(first[slot.name] + place.component, place.stride))
            for k, slot in enumerate(self.forward.outputs)
            for v, place in self.value.stores(k)
        ]

    def entries(self, position: int, output: str | None = None) -> list[Entry]:
        """Derivatives by an input; what is not there is zero.

        :param position: of the input
        :param output: only those of this one, with rows that start at its first component
        """
        columns = places(self.forward.inputs[position], self.value.sites)
        if position not in self._gradients:
            seeds = [self.value.pool.input(position, p.component, p.stride) for p in columns]
            self._gradients[position] = differentiate(self.value.pool, self.outputs, seeds, self.value.sites)
        gradients = self._gradients[position]
        if output is None:
            rows = self.rows
        else:
            rows = list(self.value.stores([slot.name for slot in self.forward.outputs].index(output)))
        return [Entry(d, row, columns[k]) for v, row in rows for k, d in sorted(gradients[v].items())]

    def pair(self, output: str, by: str) -> list[Entry]:
        """The block of an output by an input."""
        return self.entries(self.forward.position(by), output)


def _sites(forward: Forward) -> int:
    """The extent that the first sub-batch axis has in most slots; 1 where there is none."""
    slots = [*forward.inputs, *forward.outputs]
    extents = Counter(slot.sub_batch_shape[0] for slot in slots if slot.sub_batch_ndim)
    return extents.most_common(1)[0][0] if extents else 1


#: The values of an output, and where they stand.
Stores = list[tuple[Value, Place]]


def native_program(graph: Graph, forward: ForwardProgram) -> Program:
    """The scalars of a graph.

    :param graph: any kind but those of linear algebra
    :param forward: the scalars of what it derives from
    """
    pool = forward.value.pool
    count = len(forward.forward.outputs)

    def side_by_side(columns: Sequence[str]) -> Stores:
        slots = [forward.forward.inputs[forward.forward.position(name)] for name in columns]
        width, first = total_size(slots), offsets(slots)
        return [
            (e.value, e.place(width, first_column=first[name]))
            for name in columns
            for e in forward.entries(forward.forward.position(name))
        ]

    def block(output: str, by: str) -> Stores:
        width = forward.forward.inputs[forward.forward.position(by)].size
        return [(e.value, e.place(width)) for e in forward.pair(output, by)]

    value = [list(forward.value.stores(k)) for k in range(count)]
    pool.origin = "right-hand side: minus the residual"
    negative = [(pool.neg(v), place) for v, place in forward.rows]
    pool.origin = ""
    stores: list[Stores]
    if graph.kind in ("value", "predictor"):
        stores = value
    elif graph.kind == "jvp":
        stores = value + [block(p.output, p.input) for p in graph.pairs]
    elif graph.kind == "param_jvp":
        stores = [block(p.output, p.input) for p in graph.pairs]
    elif graph.kind == "residual":
        stores = [negative]
    elif graph.kind == "jacobian":
        stores = [side_by_side(graph.columns), negative]
    elif graph.kind == "dr_dparam":
        stores = [side_by_side([slot.name for slot in forward.forward.outputs]), side_by_side(graph.columns)]
    elif graph.kind == "jacobian_given":
        stores = [side_by_side(graph.columns)]
    elif graph.kind == "matvec":
        stores = [_product(forward, len(graph.inputs) - 1)]
    elif graph.kind in ("newton_step", "sensitivity"):
        stores = _sparse_solve(graph, forward)
    elif graph.kind == "precond_setup":
        stores = [_diagonal_blocks(forward, graph.blocks)]
    else:
        raise ValueError(f"a graph of kind '{graph.kind}' has no native kernel")
    if forward.value.sites == 1:
        values = tuple(_dense(out, slot, pool.zero) for out, slot in zip(stores, graph.outputs, strict=True))
        return Program(pool, graph.inputs, graph.outputs, values)
    return Program(
        pool,
        graph.inputs,
        graph.outputs,
        tuple(tuple(v for v, _ in out) for out in stores),
        tuple(tuple(place for _, place in out) for out in stores),
        forward.value.sites,
    )


def _sparse_solve(graph: Graph, forward: ForwardProgram) -> list[Stores]:
    """The solution of the linear systems of a graph, and whether it is sound; with sites, of the system of each site.

    :raises TooDense: sites act on each other
    """
    pool, sites, unknowns = forward.value.pool, forward.value.sites, forward.forward.outputs
    inputs = _inputs(forward, [slot.name for slot in unknowns])
    if sites > 1 and not (
        all(place.stride for _, _, place in inputs)
        and all(v.varies for v in forward.outputs)
        and not any(v.op == "site_sum" for v in reachable(forward.outputs))
    ):
        raise TooDense
    pool.origin = "right-hand side: minus the residual"
    negative = [(pool.neg(v), place) for v, place in forward.rows]
    pool.origin = ""
    by = _inputs(forward, graph.columns)
    if graph.kind == "newton_step":
        right, width = [RightSide(residuals=[v for v, _ in negative])], 1
    else:
        right, width = [RightSide(moves=v) for v, _, _ in by], graph.outputs[0].shape[1]
    names = [name for _, name, _ in inputs]
    solution = solve_linearised(pool, forward.outputs, [v for v, _, _ in inputs], right, names)
    columns = [place for _, _, place in by] if graph.kind == "sensitivity" else [Place(0)]
    x = [
        (v, Place(row.component * width + column.component, row.stride * width + column.stride))
        for column, values in zip(columns, solution.columns, strict=True)
        for (_, row), v in zip(forward.rows, values, strict=True)
    ]
    pool.origin = "elimination: whether all pivots are sound"
    sound = pool.where(solution.sound, pool.one, pool.zero)
    if sound.varies:
        everywhere = pool.compare("eq", pool.site_sum(sound, sites), pool.const(float(sites)))
        sound = pool.where(everywhere, pool.one, pool.zero)
    pool.origin = ""
    if graph.kind == "sensitivity":
        return [x, [(sound, Place(0))]]
    return [x, negative, [(sound, Place(0))]]


def _inputs(forward: ForwardProgram, names: Sequence[str]) -> list[tuple[Value, str, Place]]:
    """The components of inputs: values, what comments call them, and where they are when these stand side by side."""
    first, found = 0, []
    for name in names:
        position = forward.forward.position(name)
        slot = forward.forward.inputs[position]
        for p in places(slot, forward.value.sites):
            value = forward.value.pool.input(position, p.component, p.stride)
            found.append((value, component_name(slot, p.component), Place(first + p.component, p.stride)))
        first += slot.size
    return found


def sparse_program(graph: Graph, forward: ForwardProgram) -> Program | None:
    """The scalars of a graph of kind ``newton_step`` or ``sensitivity``; None where it has none."""
    try:
        return native_program(graph, forward)
    except TooDense:
        return None


def _unknown_entries(forward: ForwardProgram) -> list[Entry]:
    """The derivatives by the unknowns, with columns counted over all of them."""
    unknowns = forward.forward.outputs
    first = offsets(unknowns)
    return [
        Entry(e.value, e.row, Place(first[slot.name] + e.column.component, e.column.stride))
        for position, slot in enumerate(unknowns)
        for e in forward.entries(position)
    ]


def _product(forward: ForwardProgram, position: int) -> Stores:
    """The matrix of derivatives by the unknowns times the input at a position."""
    pool, sites = forward.value.pool, forward.value.sites
    sums: dict[Place, Value] = {place: pool.zero for _, place in forward.rows}
    entries = _unknown_entries(forward)
    pool.origin = "product of the derivatives with a vector"
    for e in entries:
        term = pool.mul(e.value, pool.input(position, e.column.component, e.column.stride))
        if e.column.stride and not e.row.stride:
            term = pool.site_sum(term, sites)
        sums[e.row] = pool.add(sums[e.row], term)
    pool.origin = ""
    return [(v, place) for place, v in sums.items()]


def _diagonal_blocks(forward: ForwardProgram, blocks: Sequence[tuple[int, int]]) -> Stores:
    """The entries of square blocks on the diagonal, one block after the other."""
    found: Stores = []
    start = 0
    entries = _unknown_entries(forward)
    for at, size in blocks:
        for e in entries:
            i, j = e.row.component - at, e.column.component - at
            if 0 <= i < size and 0 <= j < size and size > 1:
                found.append((e.value, Place(start + i * size + j, e.row.stride * size + e.column.stride)))
            elif i == j == 0 and size == 1 and e.row.stride == e.column.stride:
                found.append((e.value, Place(start, e.row.stride)))
        start += size * size
    return found


def _dense(stores: Stores, slot: Slot, zero: Value) -> tuple[Value, ...]:
    """All components of an output."""
    found = [zero] * slot.size
    for v, place in stores:
        found[place.component] = v
    return tuple(found)
