"""Derivatives on the scalar IR: forward, sparse, by a table of rules.

A derivative that is zero whatever the row holds has no value at all: zeros are structural. Where a function has a kink,
the convention is that of torch's autograd, so that compiled and eager derivatives agree there too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

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


def _accumulate(pool: Pool, total: Gradient, partial: Value, gradient: Gradient) -> None:
    if partial is pool.zero:
        return
    for seed, d in gradient.items():
        term = pool.mul(partial, d)
        known = total.get(seed)
        total[seed] = term if known is None else pool.add(known, term)


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
    gradients: dict[int, Gradient] = {seed.id: {k: pool.one} for k, seed in enumerate(seeds)}
    for v in reachable(outputs):
        if v.id in gradients:
            continue
        total: Gradient = {}
        if v.op == "where":
            mask, a, b = v.args
            da, db = gradients[a.id], gradients[b.id]
            for seed in sorted(da.keys() | db.keys()):
                total[seed] = pool.where(mask, da.get(seed, pool.zero), db.get(seed, pool.zero))
        elif not v.is_mask and any(gradients[a.id] for a in v.args if not a.is_mask):
            partials = RULES[v.op](pool, v)
            for argument, partial in zip(v.args, partials, strict=True):
                if partial is not None and gradients[argument.id]:
                    _accumulate(pool, total, partial, gradients[argument.id])
        gradients[v.id] = total
    return {v: {k: d for k, d in gradients[v.id].items() if d is not pool.zero} for v in outputs}
