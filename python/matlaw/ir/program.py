"""A program: the outputs of a graph as lists of scalar values, and the order in which to compute them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from math import prod

from matlaw.ir.values import Pool, Value
from matlaw.trace.slots import Slot


@dataclass(frozen=True)
class Place:
    """Which component of a slot a value is.

    :ivar component: row-major over the slot's shape, at the first site
    :ivar stride: how many components lie between a site and the next; 0 where there is one place for all sites
    """

    component: int
    stride: int = 0


def places(slot: Slot, sites: int = 1) -> tuple[Place, ...]:
    """The places of a slot, those that differ by their site only counted once.

    >>> places(Slot("slip", (2, 3), 1), 3)
    (Place(component=0, stride=1), Place(component=3, stride=1))
    """
    axis = slot.site_axis(sites)
    if axis is None:
        return tuple(Place(c) for c in range(slot.size))
    behind = prod(slot.shape[axis + 1 :])
    ahead = range(slot.size // (sites * behind))
    return tuple(Place(b * sites * behind + r, behind) for b in ahead for r in range(behind))


#: Values, and where they belong.
Placed = tuple[tuple[Value, ...], Place]


@dataclass(frozen=True)
class OuterProducts:
    """A block of a matrix that is a sum of outer products, added to what else stands there.

    :ivar rows: per row its factor in each product, and where it starts in the output
    :ivar columns: likewise, places relative to the start of a row
    """

    rows: tuple[Placed, ...]
    columns: tuple[Placed, ...]

    @property
    def values(self) -> Iterator[Value]:
        """All factors."""
        return (v for values, _ in (*self.rows, *self.columns) for v in values)


def positions(places: Iterable[Place], sites: int) -> list[int]:
    """The components at these places, site by site for a place that has one at each."""
    return [p.component + s * p.stride for p in places for s in range(sites if p.stride else 1)]


@dataclass(frozen=True)
class Program:
    """A graph as scalars.

    :ivar pool: what made the values
    :ivar inputs: slots of the inputs
    :ivar outputs: slots of the outputs
    :ivar values: per output its components, row-major
    :ivar places: per output where these values stand; other components are zero. Empty: every component has a value
    :ivar sites: extent of the sub-batch axis that is kept whole, 1 without one
    :ivar products: per output the blocks that are outer products. Empty: none has such
    """

    pool: Pool
    inputs: tuple[Slot, ...]
    outputs: tuple[Slot, ...]
    values: tuple[tuple[Value, ...], ...]
    places: tuple[tuple[Place, ...], ...] = ()
    sites: int = 1
    products: tuple[tuple[OuterProducts, ...], ...] = ()

    def stores(self, output: int) -> Iterator[tuple[Value, Place]]:
        """The values of an output and where they stand."""
        found = self.places[output] if self.places else places(self.outputs[output])
        return zip(self.values[output], found, strict=True)

    def products_of(self, output: int) -> tuple[OuterProducts, ...]:
        """The outer products of an output."""
        return self.products[output] if self.products else ()

    @property
    def roots(self) -> list[Value]:
        """All values that are asked for."""
        found = [v for values in self.values for v in values]
        return found + [v for blocks in self.products for block in blocks for v in block.values]

    def has_gaps(self, output: int) -> bool:
        """True when some components have no value of their own: they start from zero."""
        known = sum(self.sites if place.stride else 1 for _, place in self.stores(output))
        return known < self.outputs[output].size

    @property
    def statement_count(self) -> int:
        """Number of operations in the text of the program: neither inputs nor constants."""
        return len(self._operations)

    @property
    def operation_count(self) -> int:
        """Number of operations for one row: those inside of loops once for each site."""
        count = sum(self.sites if v.varies or v.op == "site_sum" else 1 for v in self._operations)
        for block in (block for blocks in self.products for block in blocks):
            rows, columns = ([place for _, place in side] for side in (block.rows, block.columns))
            pairs = len(positions(rows, self.sites)) * len(positions(columns, self.sites))
            count += 2 * pairs * len(block.rows[0][0])
        return count

    @property
    def _operations(self) -> list[Value]:
        return [v for v in reachable(self.roots) if v.op not in ("input", "const", "mask")]


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


def order_statements(outputs: Iterable[Value], known: Collection[int] = ()) -> list[Value]:
    """The values in the order in which to compute them so that few are alive at once.

    Depth first, one output after the other; of two operands the one whose tree is deeper comes first. What nothing
    needs does not appear.

    :param outputs: what to compute
    :param known: identities of values that are there already
    """
    outputs = list(outputs)
    depth: dict[int, int] = {}
    for v in reachable(outputs):
        depth[v.id] = 1 + max((depth[a.id] for a in v.args), default=-1)
    done: set[int] = set(known)
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
