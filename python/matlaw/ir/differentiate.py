"""Derivatives on the scalar IR: forward, sparse, by a table of rules.

A derivative that is zero whatever the row holds has no value at all: zeros are structural. Where a function has a kink,
the convention is that of torch's autograd, so that compiled and eager derivatives agree there too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from matlaw.ir.choices import times
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


RULES: dict[str, Rule] = {
    "neg": lambda p, v: (p.const(-1.0),),
    "sqrt": lambda p, v: (p.div(p.const(0.5), v),),
    "exp": lambda p, v: (v,),
    "log": lambda p, v: (p.div(p.one, v.args[0]),),
    "tanh": lambda p, v: (p.sub(p.one, p.mul(v, v)),),
    "sinh": lambda p, v: (p.unary("cosh", v.args[0]),),
    "cosh": lambda p, v: (p.unary("sinh", v.args[0]),),
    "sin": lambda p, v: (p.unary("cos", v.args[0]),),
    "cos": lambda p, v: (p.neg(p.unary("sin", v.args[0])),),
    "abs": lambda p, v: (p.unary("sign", v.args[0]),),
    "sign": lambda p, v: (None,),
    "add": lambda p, v: (p.one, p.one),
    "sub": lambda p, v: (p.one, p.const(-1.0)),
    "mul": lambda p, v: (v.args[1], v.args[0]),
    "div": _div,
    "pow": _pow,
}

Gradient = dict[int, Value]


def partials(pool: Pool, v: Value) -> list[tuple[Value, Value]]:
    """The real operands of a value and its derivatives by them, but those that are structurally zero."""
    pool.origin = _derivative_of(v.origin)
    if v.op == "where":
        mask, a, b = v.args
        found = [(a, pool.where(mask, pool.one, pool.zero)), (b, pool.where(mask, pool.zero, pool.one))]
    elif v.op in ("max", "min"):
        order = "lt" if v.op == "max" else "gt"
        share = pool.where(pool.compare("eq", *v.args), pool.const(0.5), pool.one)
        found = [
            (own, pool.where(pool.compare(order, own, other), pool.zero, share))
            for own, other in (v.args, v.args[::-1])
        ]
    else:
        found = [(a, p) for a, p in zip(v.args, RULES[v.op](pool, v), strict=True) if p is not None]
    pool.origin = ""
    return [(a, p) for a, p in found if p is not pool.zero and not a.is_mask]


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
    """One forward sweep over the values.

    A neck starts anew: what depends on it has a derivative by it, at a negative key.
    """

    def __init__(self, pool: Pool, seeds: Sequence[Value], sites: int, necks: Collection[int]) -> None:
        self.pool = pool
        self.sites = sites
        self.necks = necks
        #: Per neck its gradient, by seeds and necks before it.
        self.gradients: list[Gradient] = []
        self.over_sites = {k for k, seed in enumerate(seeds) if seed.varies}
        self.chains = {seed.id: Chain({k: pool.one}) for k, seed in enumerate(seeds)}

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
        chain = self._visit(v)
        if v.id not in self.necks or not chain.base:
            return chain
        self.gradients.append(self.entries(chain))
        return Chain({-len(self.gradients): self.pool.one})

    def _visit(self, v: Value) -> Chain:
        """The same, whether or not it is a neck.

        By an input that varies over sites, the gradient of a value that varies is that at the same site, and that of a
        sum over sites is what each site contributes.
        """
        self.pool.origin = _derivative_of(v.origin)
        if v.op == "where":
            return self._where(v)
        if v.op in ("max", "min"):
            return self._extremum(v)
        if v.op == "site_sum":
            gradient = self.entries(self.chains[v.args[0].id])
            return Chain(
                {k: d if k in self.over_sites else self.pool.site_sum(d, self.sites) for k, d in gradient.items()}
            )
        if v.op == "dot":
            return self._dot(v)
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
        return self._sum(chains)

    def _dot(self, v: Value) -> Chain:
        """The same product of the derivatives of the factors, for each seed."""
        assert isinstance(v.data, tuple)
        gradients = {a.id: self.entries(self.chains[a.id]) for a in v.args}
        seeds = sorted(set().union(*gradients.values()))
        total: Gradient = {}
        for seed in seeds:
            d = self.pool.dot(*v.data, [gradients[a.id].get(seed) for a in v.args])
            if d is not None:
                total[seed] = d
        return Chain(total)

    def _sum(self, chains: list[Chain]) -> Chain:
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

    def _extremum(self, v: Value) -> Chain:
        """The larger or smaller of two: a choice row by row, so that the other has no influence; half each at a tie."""
        p = self.pool
        order = "lt" if v.op == "max" else "gt"
        share = p.where(p.compare("eq", *v.args), p.const(0.5), p.one)
        chains = []
        for own, other in (v.args, v.args[::-1]):
            chain = self.chains[own.id]
            if chain.base:
                rows = p.logical_not(p.compare(order, own, other))
                factor = share if chain.factor is None else p.mul(share, chain.factor)
                mask = rows if chain.mask is None else p.logical_and(chain.mask, rows)
                chains.append(Chain(chain.base, factor, mask))
        return self._sum(chains)

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


@dataclass(frozen=True)
class Derivatives:
    """The derivatives of values by seeds, those through necks in two factors.

    What is not there is structurally zero. The derivative of ``v`` by seed ``k`` is ``direct[v][k]`` and the sum over
    all necks ``n`` of ``through[v][n] * necks[n][k]``. With a seed that varies over sites the first is at the same
    site, and the factors of the second may be at different ones.

    :ivar direct: per output by position of the seed
    :ivar through: per output by neck
    :ivar necks: per neck by position of the seed
    """

    direct: dict[Value, Gradient]
    through: dict[Value, Gradient]
    necks: list[Gradient]


def differentiate(
    pool: Pool, outputs: Iterable[Value], seeds: Sequence[Value], sites: int = 1, necks: Collection[int] = ()
) -> Derivatives:
    """The derivatives of values by other values (usually inputs).

    :param pool: the pool that made them all
    :param outputs: what to differentiate
    :param seeds: by what; position in this sequence is the key of the result
    :param sites: how many sites there are, when values vary over them
    :param necks: identities of values, from :func:`~matlaw.ir.necks.find_necks`. Without them no value that varies may
        depend on a sum over sites: it would have a derivative by every site

    >>> pool = Pool()
    >>> x, y = pool.input(0, 0), pool.input(0, 1)
    >>> f = pool.mul(x, pool.mul(x, y))
    >>> g = differentiate(pool, [f], [x, y]).direct[f]
    >>> sorted(g)
    [0, 1]
    """
    outputs = list(outputs)
    sweep = _Sweep(pool, seeds, sites, necks)
    for v in reachable(outputs):
        if v.id not in sweep.chains:
            sweep.chains[v.id] = sweep.visit(v)
    direct, through = {}, {}
    for v in outputs:
        pool.origin = _derivative_of(v.origin)
        found = {k: d for k, d in sweep.entries(sweep.chains[v.id]).items() if d is not pool.zero}
        direct[v] = {k: d for k, d in found.items() if k >= 0}
        through[v] = {-k - 1: d for k, d in found.items() if k < 0}
    pool.origin = ""
    return Derivatives(direct, through, _by_seeds(pool, sweep.gradients))


def _by_seeds(pool: Pool, gradients: Sequence[Gradient]) -> list[Gradient]:
    """The gradients of necks by seeds alone, from those by seeds and by necks before them."""
    resolved: list[Gradient] = []
    for gradient in gradients:
        total = {k: d for k, d in gradient.items() if k >= 0 and d is not pool.zero}
        for neck, factor in gradient.items():
            for k, d in resolved[-neck - 1].items() if neck < 0 else ():
                term = times(pool, factor, d)
                total[k] = pool.add(total[k], term) if k in total else term
        resolved.append(total)
    return resolved


def _derivative_of(origin: str) -> str:
    return f"derivative of {origin}" if origin else ""
