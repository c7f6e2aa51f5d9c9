"""The scalar program of every graph that has a native kernel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from matlaw.errors import CompileError
from matlaw.ir.aten import UnsupportedOperation, interpret
from matlaw.ir.choices import times
from matlaw.ir.differentiate import Derivatives, differentiate
from matlaw.ir.necks import find_necks, site_sums
from matlaw.ir.program import OuterProducts, Place, Program, places, reachable
from matlaw.ir.sparse_solve import RightSide, TooDense, solve_linearised
from matlaw.ir.values import Pool, Value
from matlaw.lower.native.source import component_name
from matlaw.trace.forward import trace
from matlaw.trace.graphs import Forward, Graph, offsets
from matlaw.trace.slots import Slot, total_size

#: Sites that act on each other have scalars of their own up to so many operations of the function.
UNROLLED: Final = 1000

_THROUGH_NECKS: Final = "derivative through what many depend on"

#: The values of an output, and where they stand.
Stores = list[tuple[Value, Place]]


@dataclass(frozen=True)
class Entry:
    """An entry of a matrix of derivatives, or one at every site.

    :ivar row: which component of the outputs, all of them one below the other
    :ivar column: which component of the input
    """

    value: Value
    row: Place
    column: Place


@dataclass
class Block:
    """Derivatives of outputs by an input: single entries and, added to these, outer products.

    :ivar entries: what is not zero
    :ivar products: their rows are components of the outputs, their columns components of the input
    """

    entries: list[Entry]
    products: list[OuterProducts]

    def __bool__(self) -> bool:
        return bool(self.entries or self.products)

    @property
    def constant(self) -> bool:
        """True when no row has another."""
        return not self.products and all(e.value.is_const for e in self.entries)

    def content(self, width: int, first_row: int = 0, first_column: int = 0, start: int = 0) -> Content:
        """What stands in a row-major matrix of this width, when rows and columns start there.

        :param start: the component of the output at which the matrix starts
        """

        def at(row: Place, column: Place) -> Place:
            component = start + (row.component + first_row) * width + column.component + first_column
            return Place(component, row.stride * width + column.stride)

        return Content(
            [(e.value, at(e.row, e.column)) for e in self.entries],
            [OuterProducts(tuple((v, at(row, Place(0))) for v, row in p.rows), p.columns) for p in self.products],
        )

    def within(self, first: int, size: int) -> Block:
        """The part of it whose rows and columns are among so many from a first one on."""

        def inside(place: Place) -> bool:
            return first <= place.component < first + size

        products = (
            OuterProducts(tuple(r for r in p.rows if inside(r[1])), tuple(c for c in p.columns if inside(c[1])))
            for p in self.products
        )
        return Block(
            [e for e in self.entries if inside(e.row) and inside(e.column)],
            [p for p in products if p.rows and p.columns],
        )


@dataclass
class Content:
    """What stands in an output: values and, added to these, outer products."""

    stores: Stores
    products: list[OuterProducts] = field(default_factory=list)

    def __add__(self, other: Content) -> Content:
        return Content(self.stores + other.stores, self.products + other.products)


class ForwardProgram:
    """The scalars of a forward function, and its derivatives; recorded once, shared by the graphs that derive from it.

    The first sub-batch axis, for instance the grains, is kept whole where the function treats all its sites alike,
    which act on each other, if at all, through sums over them: the program then has loops over sites. Otherwise every
    site has scalars of its own; so have few sites that act on each other, as their linear systems are solved faster
    without a matrix.

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
        self._derivatives: dict[int, Derivatives] = {}

    def _record(self, sites: int) -> None:
        forward = self.forward
        #: The recorded function.
        self.traced = trace(forward.function, forward.inputs, forward.outputs, forward.name, sites=sites)
        self.value = interpret(self.traced.module, forward.inputs, forward.outputs, sites=sites)
        #: Sites act on each other: what there is at each depends on a sum over all, be it on the way to another sum.
        self._coupled = any(v.depth and place.stride for v, place in self.rows) or any(
            v.depth and v.varies for v in reachable(self.outputs)
        )
        if self._coupled and self.value.operation_count <= UNROLLED:
            raise UnsupportedOperation("sum", "few sites that act on each other")

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

    def block(self, position: int, output: str | None = None) -> Block:
        """Derivatives by an input; what is not there is zero.

        :param position: of the input
        :param output: only those of this one, with rows that start at its first component
        """
        pool, sites = self.value.pool, self.value.sites
        columns = places(self.forward.inputs[position], sites)
        if position not in self._derivatives:
            seeds = [pool.input(position, p.component, p.stride) for p in columns]
            necks = site_sums(self.outputs) if self._coupled else find_necks(self.outputs, seeds)
            self._derivatives[position] = differentiate(pool, self.outputs, seeds, sites, necks)
        found = self._derivatives[position]
        rows = self.rows if output is None else list(self.value.stores(self._number_of(output)))
        entries: list[Entry] = []
        pool.origin = _THROUGH_NECKS
        for v, row in rows:
            by = dict(found.direct[v])
            for neck, a in found.through[v].items():
                for k, b in found.necks[neck].items():
                    if not (self._factored(row) and self._factored(columns[k])):
                        term = times(pool, a, b)
                        by[k] = pool.add(by[k], term) if k in by else term
            entries += [Entry(d, row, columns[k]) for k, d in sorted(by.items())]
        pool.origin = ""
        return Block(entries, self._products(found, rows, columns))

    def _factored(self, place: Place) -> bool:
        """True for rows and columns of derivatives through necks that are left as two factors."""
        return self.value.sites == 1 or place.stride != 0

    def _products(self, found: Derivatives, rows: Stores, columns: Sequence[Place]) -> list[OuterProducts]:
        """The derivatives that stay factored; necks with the same rows and columns make one block."""
        groups: dict[tuple[tuple[int, ...], tuple[int, ...]], list[int]] = {}
        for neck, by in enumerate(found.necks):
            r = tuple(i for i, (v, row) in enumerate(rows) if neck in found.through[v] and self._factored(row))
            c = tuple(k for k in sorted(by) if self._factored(columns[k]))
            if r and c:
                groups.setdefault((r, c), []).append(neck)
        return [
            OuterProducts(
                tuple((tuple(found.through[rows[i][0]][n] for n in necks), rows[i][1]) for i in r),
                tuple((tuple(found.necks[n][k] for n in necks), columns[k]) for k in c),
            )
            for (r, c), necks in groups.items()
        ]

    def _number_of(self, output: str) -> int:
        return [slot.name for slot in self.forward.outputs].index(output)

    def pair(self, output: str, by: str) -> Block:
        """The block of an output by an input."""
        return self.block(self.forward.position(by), output)


def _sites(forward: Forward) -> int:
    """The extent that the first sub-batch axis has in most slots; 1 where there is none."""
    slots = [*forward.inputs, *forward.outputs]
    extents = Counter(slot.sub_batch_shape[0] for slot in slots if slot.sub_batch_ndim)
    return extents.most_common(1)[0][0] if extents else 1


def native_program(graph: Graph, forward: ForwardProgram) -> Program:
    """The scalars of a graph.

    :param graph: any kind but those of linear algebra
    :param forward: the scalars of what it derives from
    """
    pool = forward.value.pool
    count = len(forward.forward.outputs)

    def side_by_side(columns: Sequence[str]) -> Content:
        slots = [forward.forward.inputs[forward.forward.position(name)] for name in columns]
        width, first = total_size(slots), offsets(slots)
        blocks = (forward.block(forward.forward.position(name)).content(width, 0, first[name]) for name in columns)
        return sum(blocks, Content([]))

    def block(output: str, by: str) -> Content:
        return forward.pair(output, by).content(forward.forward.inputs[forward.forward.position(by)].size)

    value = [Content(list(forward.value.stores(k))) for k in range(count)]
    pool.origin = "right-hand side: minus the residual"
    negative = Content([(pool.neg(v), place) for v, place in forward.rows])
    pool.origin = ""
    contents: list[Content]
    if graph.kind in ("value", "predictor"):
        contents = value
    elif graph.kind == "jvp":
        contents = value + [block(p.output, p.input) for p in graph.pairs]
    elif graph.kind == "param_jvp":
        contents = [block(p.output, p.input) for p in graph.pairs]
    elif graph.kind == "residual":
        contents = [negative]
    elif graph.kind == "jacobian":
        contents = [side_by_side(graph.columns), negative]
    elif graph.kind == "dr_dparam":
        contents = [side_by_side([slot.name for slot in forward.forward.outputs]), side_by_side(graph.columns)]
    elif graph.kind == "jacobian_given":
        contents = [side_by_side(graph.columns)]
    elif graph.kind == "matvec":
        contents = [_product(forward, len(graph.inputs) - 1)]
    elif graph.kind in ("newton_step", "sensitivity"):
        contents = _sparse_solve(graph, forward)
    elif graph.kind == "precond_setup":
        contents = [_diagonal_blocks(forward, graph.blocks)]
    else:
        raise ValueError(f"a graph of kind '{graph.kind}' has no native kernel")
    products = tuple(tuple(content.products) for content in contents) if any(c.products for c in contents) else ()
    if forward.value.sites == 1 and not products:
        values = tuple(_dense(out.stores, slot, pool.zero) for out, slot in zip(contents, graph.outputs, strict=True))
        return Program(pool, graph.inputs, graph.outputs, values)
    return Program(
        pool,
        graph.inputs,
        graph.outputs,
        tuple(tuple(v for v, _ in out.stores) for out in contents),
        tuple(tuple(place for _, place in out.stores) for out in contents),
        forward.value.sites,
        products,
    )


def _sparse_solve(graph: Graph, forward: ForwardProgram) -> list[Content]:
    """The solution of the linear systems of a graph, and whether it is sound.

    :raises TooDense: no order of elimination is known to be sound, or a site moves others
    """
    pool, sites, unknowns = forward.value.pool, forward.value.sites, forward.forward.outputs
    inputs = _inputs(forward, [slot.name for slot in unknowns])
    pool.origin = "right-hand side: minus the residual"
    negative = [(pool.neg(v), place) for v, place in forward.rows]
    pool.origin = ""
    by = _inputs(forward, graph.columns)
    alone = all(v.varies for v in forward.outputs) and not any(v.op == "site_sum" for v in reachable(forward.outputs))
    if graph.kind == "sensitivity" and not alone and any(place.stride for _, _, place in by):
        raise TooDense
    if any(bool(place.stride) != v.varies for v, place in forward.rows):
        raise TooDense
    if graph.kind == "newton_step":
        right, width = [RightSide(residuals=[v for v, _ in negative])], 1
    else:
        right, width = [RightSide(moves=v) for v, _, _ in by], graph.outputs[0].shape[1]
    names = [name for _, name, _ in inputs]
    solution = solve_linearised(pool, forward.outputs, [v for v, _, _ in inputs], right, names, sites)
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
        return [Content(x), Content([(sound, Place(0))])]
    return [Content(x), Content(negative), Content([(sound, Place(0))])]


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


def _unknown_blocks(forward: ForwardProgram) -> list[Block]:
    """The derivatives by each unknown, with columns counted over all of them."""
    unknowns = forward.forward.outputs
    first = offsets(unknowns)

    def moved(place: Place, slot: Slot) -> Place:
        return Place(first[slot.name] + place.component, place.stride)

    found = []
    for position, slot in enumerate(unknowns):
        block = forward.block(position)
        entries = [Entry(e.value, e.row, moved(e.column, slot)) for e in block.entries]
        products = [OuterProducts(p.rows, tuple((v, moved(c, slot)) for v, c in p.columns)) for p in block.products]
        found.append(Block(entries, products))
    return found


def _product(forward: ForwardProgram, position: int) -> Content:
    """The matrix of derivatives by the unknowns times the input at a position."""
    pool, sites = forward.value.pool, forward.value.sites
    sums: dict[Place, Value] = {place: pool.zero for _, place in forward.rows}
    blocks = _unknown_blocks(forward)

    def with_vector(d: Value, column: Place) -> Value:
        return times(pool, d, pool.input(position, column.component, column.stride))

    pool.origin = "product of the derivatives with a vector"
    for e in (e for block in blocks for e in block.entries):
        term = with_vector(e.value, e.column)
        if e.column.stride and not e.row.stride:
            term = pool.site_sum(term, sites)
        sums[e.row] = pool.add(sums[e.row], term)
    for p in (p for block in blocks for p in block.products):
        for k in range(len(p.rows[0][0])):
            total = pool.zero
            for factors, column in p.columns:
                term = with_vector(factors[k], column)
                total = pool.add(total, pool.site_sum(term, sites) if column.stride else term)
            for factors, row in p.rows:
                sums[row] = pool.add(sums[row], times(pool, factors[k], total))
    pool.origin = ""
    return Content([(v, place) for place, v in sums.items()])


def _diagonal_blocks(forward: ForwardProgram, blocks: Sequence[tuple[int, int]]) -> Content:
    """The entries of square blocks on the diagonal, one block after the other."""
    found = Content([])
    start = 0
    derivatives = _unknown_blocks(forward)
    for at, size in blocks:
        for block in (block.within(at, size) for block in derivatives):
            found += block.content(size, -at, -at, start) if size > 1 else _single(forward.value.pool, block, start)
        start += size * size
    return found


def _single(pool: Pool, block: Block, at: int) -> Content:
    """A block of one row and one column, or one at every site, as a value of its own."""
    total, stride = pool.zero, 0
    for e in block.entries:
        if e.row == e.column:
            total, stride = pool.add(total, e.value), e.row.stride
    for p in block.products:
        [(left, row)], [(right, _)] = p.rows, p.columns
        for a, b in zip(left, right, strict=True):
            total, stride = pool.add(total, times(pool, a, b)), row.stride
    return Content([] if total is pool.zero else [(total, Place(at, stride))])


def _dense(stores: Stores, slot: Slot, zero: Value) -> tuple[Value, ...]:
    """All components of an output."""
    found = [zero] * slot.size
    for v, place in stores:
        found[place.component] = v
    return tuple(found)
