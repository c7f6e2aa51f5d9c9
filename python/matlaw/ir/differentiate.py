"""Derivatives on the scalar IR: forward, sparse, by a table of rules.

A derivative that is zero whatever the row holds has no value at all: zeros are structural. Where a function has a kink,
the convention is that of torch's autograd, so that compiled and eager derivatives agree there too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from matlaw.ir.program import reachable
from matlaw.ir.values import Pool, Value

#: The partial derivatives of a value by its real operands; ``None`` is a structural zero.
Rule = Callable[[Pool, Value], tuple[Value | None, ...]]


def _div(p: Pool, v: Value) -> tuple[Value | None, ...]:
    reciprocal = p.div(p.one, v.args[1])
    return reciprocal, p.neg(p.mul(v, reciprocal))


def _pow(p: Pool, v: Value) -> tuple[Value | None, ...]:
    base, exponent = v.args
    by_base = p.mul(exponent, p.pow(base, p.sub(exponent, p.one)))
    if not exponent.is_const:
        by_base = p.where(p.compare("eq", exponent, p.zero), p.zero, by_base)
    if base.is_const and base.number > 0:
        by_exponent = p.mul(v, p.unary("log", base))
    else:
        vanishes = p.logical_and(p.compare("eq", base, p.zero), p.compare("ge", exponent, p.zero))
        by_exponent = p.where(vanishes, p.zero, p.mul(v, p.unary("log", base)))
    return by_base, by_exponent


def _extremum(p: Pool, v: Value) -> tuple[Value | None, ...]:
    a, b = v.args
    half = p.const(0.5)
    first = p.compare("gt" if v.op == "max" else "lt", a, b)
    tie = p.compare("eq", a, b)
    by_a = p.where(tie, half, p.where(first, p.one, p.zero))
    by_b = p.where(tie, half, p.where(first, p.zero, p.one))
    return by_a, by_b


RULES: dict[str, Rule] = {
    "neg": lambda p, v: (p.const(-1.0),),
    "sqrt": lambda p, v: (p.div(p.const(0.5), v),),
    "exp": lambda p, v: (v,),
    "log": lambda p, v: (p.div(p.one, v.args[0]),),
    "tanh": lambda p, v: (p.sub(p.one, p.mul(v, v)),),
    "sin": lambda p, v: (p.unary("cos", v.args[0]),),
    "cos": lambda p, v: (p.neg(p.unary("sin", v.args[0])),),
    "abs": lambda p, v: (p.unary("sign", v.args[0]),),
    "sign": lambda p, v: (None,),
    "add": lambda p, v: (p.one, p.one),
    "sub": lambda p, v: (p.one, p.const(-1.0)),
    "mul": lambda p, v: (v.args[1], v.args[0]),
    "div": _div,
    "pow": _pow,
    "max": _extremum,
    "min": _extremum,
}

Gradient = dict[int, Value]


@dataclass(frozen=True)
class Chain:
    """A gradient that is one factor times another gradient, in the rows of a mask; zero in the others.

    A chain of functions of one variable lengthens the factor instead of touching every entry.

    :ivar base: the other gradient
    :ivar factor: ``None`` stands for 1
    :ivar mask: ``None`` stands for all rows
    """

    base: Gradient
    factor: Value | None = None
    mask: Value | None = None


class _Sweep:
    """One forward sweep over the values."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.chains: dict[int, Chain] = {}

    def entries(self, chain: Chain) -> Gradient:
        """The gradient written out."""
        if chain.factor is None and chain.mask is None:
            return chain.base
        p, found = self.pool, {}
        for seed, d in chain.base.items():
            entry = d if chain.factor is None else p.mul(chain.factor, d)
            found[seed] = entry if chain.mask is None else p.where(chain.mask, entry, p.zero)
        return found

    def visit(self, v: Value) -> Chain:
        """The gradient of a value whose operands have theirs."""
        if v.op == "where":
            return self._where(v)
        if v.is_mask or not any(self.chains[a.id].base for a in v.args if not a.is_mask):
            return Chain({})
        groups: dict[tuple[int, int], list[tuple[Value, Chain]]] = {}
        for argument, partial in zip(v.args, RULES[v.op](self.pool, v), strict=True):
            chain = self.chains[argument.id]
            if partial is None or partial is self.pool.zero or not chain.base:
                continue
            key = (id(chain.base), -1 if chain.mask is None else chain.mask.id)
            groups.setdefault(key, []).append((partial, chain))
        chains = [self._sum_of_factors(group) for group in groups.values()]
        if len(chains) == 1:
            return chains[0]
        total: Gradient = {}
        for chain in chains:
            for seed, d in self.entries(chain).items():
                total[seed] = self.pool.add(total[seed], d) if seed in total else d
        return Chain(total)

    def _sum_of_factors(self, group: list[tuple[Value, Chain]]) -> Chain:
        """Operands that are chains on the same gradient make one chain on it."""
        p = self.pool
        factor: Value | None = None
        for partial, chain in group:
            term = partial if chain.factor is None else p.mul(partial, chain.factor)
            factor = term if factor is None else p.add(factor, term)
        first = group[0][1]
        return Chain(first.base, None if factor is p.one else factor, first.mask)

    def _where(self, v: Value) -> Chain:
        p = self.pool
        mask, a, b = v.args
        left, right = self.chains[a.id], self.chains[b.id]
        if not right.base or not left.base:
            chain, rows = (left, mask) if left.base else (right, p.logical_not(mask))
            return Chain(chain.base, chain.factor, rows if chain.mask is None else p.logical_and(chain.mask, rows))
        da, db = self.entries(left), self.entries(right)
        seeds = sorted(da.keys() | db.keys())
        return Chain({seed: p.where(mask, da.get(seed, p.zero), db.get(seed, p.zero)) for seed in seeds})


def differentiate(pool: Pool, outputs: Iterable[Value], seeds: Sequence[Value]) -> dict[Value, Gradient]:
    """The derivatives of values by other values (usually inputs).

    :param pool: the pool that made them all
    :param outputs: what to differentiate
    :param seeds: by what; position in this sequence is the key of the result
    :returns: for every output the derivatives that are not structurally zero, by position of the seed

    >>> pool = Pool()
    >>> x, y = pool.input(0, 0), pool.input(0, 1)
    >>> f = pool.mul(x, pool.mul(x, y))
    >>> g = differentiate(pool, [f], [x, y])[f]
    >>> sorted(g)
    [0, 1]
    """
    outputs = list(outputs)
    sweep = _Sweep(pool)
    for k, seed in enumerate(seeds):
        sweep.chains[seed.id] = Chain({k: pool.one})
    for v in reachable(outputs):
        if v.id not in sweep.chains:
            sweep.chains[v.id] = sweep.visit(v)
    found = {}
    for v in outputs:
        found[v] = {k: d for k, d in sweep.entries(sweep.chains[v.id]).items() if d is not pool.zero}
    return found
