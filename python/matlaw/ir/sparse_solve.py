"""Linear systems of Newton's method on the scalar IR, solved without ever forming their matrix.

The derivative of a residual is a chain of small ones. Written out, every value ``v = f(a, b)`` on the way is an
equation ``dv - f_a da - f_b db = 0``, and with ``dr = b`` the whole is a large sparse system whose unknowns are the
differentials of all values. Eliminating the values in the order of the program and then the unknowns is what a Jacobian
and a dense solve do. Eliminating in an order that fills in little (Markowitz) takes a fraction of the operations
wherever a law has bottlenecks: all unknowns of a J2 law meet in one flow rate and one direction.

Where a sub-batch axis is kept whole, the equations of a site are eliminated alike at every site; what is left then are
the equations of the sums through which sites act on each other, and of what all sites share.

Sources: A. Griewank and A. Walther, Evaluating Derivatives, SIAM (2008), chapters 9 and 10; H. M. Markowitz, Management
Science 3 (1957).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from matlaw.ir.choices import chooses_nothing, is_zero, times
from matlaw.ir.differentiate import partials
from matlaw.ir.program import reachable
from matlaw.ir.values import Pool, Value

#: What is left when no pivot has a constant part is eliminated all the same, up to this many equations.
LARGEST_CORE: Final = 12
#: A pivot that is a sum is sound as long as it is no smaller than this part of its terms. A step of Newton's method may
#: be off, the next residual tells; a derivative may not.
SMALLEST_PIVOT: Final = {"step": 1e-7, "derivative": 1e-3}


class TooDense(Exception):  # noqa: N818 - a condition: the matrix is formed instead
    """No order of elimination is known to be sound."""


@dataclass(frozen=True)
class RightSide:
    """A right-hand side ``b`` of ``A x = b``.

    :ivar residuals: the components of ``b``; None for zeros
    :ivar moves: an input by which the residuals are differentiated: ``b`` is minus that derivative; None for no such
    """

    residuals: Sequence[Value] | None = None
    moves: Value | None = None


@dataclass(frozen=True)
class Solution:
    """The solutions of a linear system.

    :ivar columns: per right-hand side the components of the solution
    :ivar sound: a mask; false in rows where a pivot is too small: there the system is to be solved with pivoting
    """

    columns: list[list[Value]]
    sound: Value


def solve_linearised(
    pool: Pool,
    residuals: Sequence[Value],
    unknowns: Sequence[Value],
    right: Sequence[RightSide],
    names: Sequence[str] | None = None,
    sites: int = 1,
) -> Solution:
    """Solve ``A x = b`` for ``A = d residuals / d unknowns``.

    :param pool: what made the values
    :param residuals: as many as unknowns
    :param unknowns: inputs
    :param right: the right-hand sides
    :param names: of the unknowns, for the origins of what is made here
    :param sites: how many sites there are, when values vary over them. What moves varies only where sites do not act on
        each other: the solution at a site would have a part for every site where it does
    :raises TooDense: no order of elimination is known to be sound

    >>> pool = Pool()
    >>> x, y = pool.input(0, 0), pool.input(0, 1)
    >>> r = [pool.add(x, pool.mul(y, y)), pool.sub(y, x)]
    >>> solution = solve_linearised(pool, r, [x, y], [RightSide(residuals=[pool.one, pool.one])])
    >>> len(solution.columns[0])
    2
    """
    system = _System(pool, unknowns, names or [f"unknown[{k}]" for k in range(len(unknowns))], sites)
    try:
        system.write(residuals, right)
        while system.rows:
            system.pivot(*system.choose())
        return Solution(system.back_substitution(len(right)), system.sound)
    finally:
        pool.origin = ""


Row = dict[int, Value]
#: A pivot: what it costs, first whether it lacks a constant part; its row and column.
Candidate = tuple[tuple[bool, int, int], int, int]


class _System:
    """Equations as rows ``{column: coefficient}`` with right-hand sides ``{number: value}``.

    A row that varies is one equation at each site. In a row that does not, a column that varies stands for the sum over
    all sites.
    """

    def __init__(self, pool: Pool, unknowns: Sequence[Value], names: Sequence[str], sites: int) -> None:
        self.pool = pool
        self.sites = sites
        #: Rows and columns that vary over sites.
        self.varying_rows: set[int] = set()
        self.varying_columns = {v.id for v in unknowns if v.varies}
        self.unknowns = [v.id for v in unknowns]
        self.names = names
        #: What rows and columns stand for, for comments.
        self.row_names: list[str] = []
        self.column_names = dict(zip(self.unknowns, names, strict=True))
        self.rows: dict[int, Row] = {}
        self.right: dict[int, Row] = {}
        self.columns: dict[int, set[int]] = {v: set() for v in self.unknowns}
        #: Per row its best pivot, as long as nothing has changed that decides on it.
        self.candidates: dict[int, Candidate | None] = {}
        #: Pivots in the order of elimination: column, one over the pivot, the rest of the row.
        self.order: list[tuple[int, Value, Row, Row]] = []
        self.sound = pool.mask(True)
        self.smallest_pivot = pool.const(SMALLEST_PIVOT["step"])

    def write(self, residuals: Sequence[Value], right: Sequence[RightSide]) -> None:
        """The equations of all values between the unknowns, or what moves, and the residuals; and of these."""
        moving: dict[int, list[int]] = {}
        for k, side in enumerate(right):
            if side.moves is not None:
                self.smallest_pivot = self.pool.const(SMALLEST_PIVOT["derivative"])
                moving.setdefault(side.moves.id, []).append(k)
        active = set(self.unknowns)
        for v in reachable(residuals):
            if v.is_mask or v.op in ("input", "const") or not any(a.id in active or a.id in moving for a in v.args):
                continue
            row: Row = {v.id: self.pool.one}
            b: Row = {}
            if v.varies:
                self.varying_columns.add(v.id)
            found = [(v.args[0], self.pool.one)] if v.op == "site_sum" else partials(self.pool, v)
            name = f"'{v.origin}'" if v.origin else "a value of no model"
            self.column_names[v.id] = name
            self.pool.origin = f"elimination: row of {name}"
            for a, partial in found:
                if a.id in active:
                    row[a.id] = self._less(row.get(a.id), partial)
                for k in moving.get(a.id, ()):
                    b[k] = self._less(b.get(k), self.pool.neg(partial))
            active.add(v.id)
            self._add(row, b, name, v.varies)
        for i, r in enumerate(residuals):
            if r.id not in active:
                raise TooDense
            b = {k: side.residuals[i] for k, side in enumerate(right) if side.residuals is not None}
            self._add({r.id: self.pool.one}, b, f"the residual of {self.names[i]}", r.varies)

    def _add(self, row: Row, b: Row, name: str, varies: bool) -> None:
        number = len(self.rows)
        if varies:
            self.varying_rows.add(number)
        self.row_names.append(name)
        self.rows[number] = {j: a for j, a in row.items() if not is_zero(a)}
        self.right[number] = {k: x for k, x in b.items() if not is_zero(x)}
        for j in self.rows[number]:
            self.columns.setdefault(j, set()).add(number)

    def _less(self, a: Value | None, b: Value) -> Value:
        return self.pool.neg(b) if a is None else self.pool.sub(a, b)

    def _less_product(self, c: Value | None, a: Value, b: Value) -> Value:
        """``c - a b``; where a choice has nothing, the product has nothing either, whatever the other factor holds."""
        if c is None or chooses_nothing(a) or chooses_nothing(b):
            return self._less(c, times(self.pool, a, b))
        return self.pool.sub_product(c, a, b)

    def _less_sum(self, c: Value | None, a: Value, b: Value) -> Value:
        """``c`` less the sum of ``a b`` over all sites."""
        return self._less(c, self.pool.site_sum(times(self.pool, a, b), self.sites))

    def choose(self) -> tuple[int, int]:
        """Row and column of the next pivot: of those with a constant part the one that fills in least.

        :raises TooDense: none has a constant part, and many are left
        """
        core = len(self.rows) <= LARGEST_CORE
        best: Candidate | None = None
        for i in self.rows:
            if core or i not in self.candidates:
                self.candidates[i] = self._candidate(i, core)
            found = self.candidates[i]
            if found is not None and (best is None or found[0] < best[0]):
                best = found
        if best is None:
            raise TooDense
        return best[1], best[2]

    def _candidate(self, i: int, core: bool) -> Candidate | None:
        """The entry of a row that is the best pivot; None when none may be one."""
        row, best = self.rows[i], None
        width = len(row) - 1 + len(self.right[i])
        varies = i in self.varying_rows
        if not varies and not self.varying_columns.isdisjoint(row):
            return None  # has to wait until no site is left in it
        for j, a in row.items():
            if varies and j not in self.varying_columns:
                continue
            height = len(self.columns[j]) - 1
            cost = (False, width * height, width + height)
            if best is not None and cost >= best[0]:
                continue
            if _has_constant(a):
                best = cost, i, j
            elif core and (best is None or (True, *cost[1:]) < best[0]):
                best = (True, *cost[1:]), i, j
        return best

    def pivot(self, i: int, j: int) -> None:
        """Eliminate column ``j`` with row ``i``."""
        pool = self.pool
        pool.origin = f"elimination: row of {self.row_names[i]}, pivot {self.column_names[j]}"
        row, b = self.rows.pop(i), self.right.pop(i)
        pivot = row.pop(j)
        for column in (j, *row):
            self.columns[column].discard(i)
            for r in self.columns[column]:  # counts of these columns change, and entries in rows of the first
                self.candidates.pop(r, None)
        self._guard(pivot)
        inverse = pivot if pivot.is_const and abs(pivot.number) == 1.0 else pool.div(pool.one, pivot)
        for r in sorted(self.columns.pop(j)):
            other = self.rows[r]
            factor = times(pool, other.pop(j), inverse)
            collects = i in self.varying_rows and r not in self.varying_rows
            for column, a in row.items():
                less = self._less_sum if collects and column not in self.varying_columns else self._less_product
                entry = less(other.get(column), factor, a)
                if is_zero(entry):
                    other.pop(column, None)
                    self.columns[column].discard(r)
                else:
                    other[column] = entry
                    self.columns[column].add(r)
            less = self._less_sum if collects else self._less_product
            for k, x in b.items():
                self.right[r][k] = less(self.right[r].get(k), factor, x)
        self.order.append((j, inverse, row, b))

    def _guard(self, pivot: Value) -> None:
        """A pivot is sound unless it is zero or what is left of terms that cancel."""
        pool = self.pool
        if pivot.is_const:
            return
        first, *others = (pool.unary("abs", t) for t in _terms(pool, pivot))
        limit = pool.zero
        if others:
            for t in others:
                first = pool.add(first, t)
            limit = pool.mul(self.smallest_pivot, first)
        self.sound = pool.logical_and(self.sound, pool.compare("lt", limit, pool.unary("abs", pivot)))

    def back_substitution(self, count: int) -> list[list[Value]]:
        """The unknowns, from the last pivot to the first; other values only as far as these need them."""
        equations = {j: row for j, _, row, _ in self.order}
        needed: set[int] = set()
        stack = list(self.unknowns)
        while stack:
            j = stack.pop()
            if j not in needed:
                needed.add(j)
                stack.extend(equations[j])
        found: list[Row] = [{} for _ in range(count)]
        for j, inverse, row, b in reversed(self.order):
            if j not in needed:
                continue
            self.pool.origin = f"elimination: back substitution for {self.column_names[j]}"
            for k, x in enumerate(found):
                total = b.get(k)
                for column, a in row.items():
                    if column in x:
                        total = self._less_product(total, a, x[column])
                if total is not None and not is_zero(total):
                    x[j] = times(self.pool, total, inverse)
        return [[x.get(j, self.pool.zero) for j in self.unknowns] for x in found]


def _terms(pool: Pool, v: Value) -> Iterable[Value]:
    """The terms of a sum, whatever their signs."""
    if v.op in ("add", "sub", "neg"):
        for a in v.args:
            yield from _terms(pool, a)
    elif v.op in ("add_product", "sub_product"):
        yield from _terms(pool, v.args[0])
        yield pool.mul(*v.args[1:])
    else:
        yield v


def _has_constant(v: Value) -> bool:
    """True for a constant, and for a sum with one: near a constant as long as the rest is small."""
    if v.op in ("add", "sub", "neg"):
        return any(_has_constant(a) for a in v.args)
    if v.op in ("add_product", "sub_product"):
        return _has_constant(v.args[0])
    return v.is_const and v.number != 0.0
