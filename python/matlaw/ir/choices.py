"""Products with values that are zero in some rows by choice."""

from __future__ import annotations

from matlaw.ir.values import Pool, Value


def is_zero(v: Value) -> bool:
    """True for the constant zero, of either sign."""
    return v.is_const and v.number == 0.0


def chooses_nothing(v: Value) -> bool:
    """True for a choice one branch of which is zero."""
    return v.op == "where" and any(is_zero(a) for a in v.args[1:])


def times(pool: Pool, a: Value, b: Value) -> Value:
    """A product; where a choice has nothing, the product has nothing either, whatever the other factor holds.

    >>> pool = Pool()
    >>> x, y = pool.input(0, 0), pool.input(0, 1)
    >>> slope = pool.where(pool.compare("lt", x, y), pool.one, pool.zero)
    >>> times(pool, pool.div(pool.one, x), slope).op
    'where'
    """
    for x, y in ((a, b), (b, a)):
        if x.op == "neg" and chooses_nothing(x.args[0]):
            return pool.neg(times(pool, x.args[0], y))
        if chooses_nothing(x):
            return pool.where(x.args[0], *(pool.zero if is_zero(v) else times(pool, v, y) for v in x.args[1:]))
    return pool.mul(a, b)
