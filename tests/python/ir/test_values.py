"""Folding and sharing of values is exact."""

from __future__ import annotations

import math

import pytest

from matlaw.ir import Pool


def test_same_operation_is_made_once() -> None:
    pool = Pool()
    x, y = pool.input(0, 0), pool.input(0, 1)
    assert pool.add(x, y) is pool.add(y, x)
    assert pool.mul(x, y) is pool.mul(y, x)
    assert pool.sub(x, y) is not pool.sub(y, x)
    assert pool.compare("gt", x, y) is pool.compare("lt", y, x)


def test_what_would_hide_nan_is_not_folded() -> None:
    pool = Pool()
    x = pool.input(0, 0)
    assert pool.mul(pool.zero, x).op == "mul"
    assert pool.sub(x, x).op == "sub"
    assert pool.div(x, x).op == "div"
    assert pool.add(x, pool.zero).op == "add"  # -0.0 + 0.0 is 0.0
    assert pool.compare("eq", x, x).op == "eq"


def test_exact_identities_are_folded() -> None:
    pool = Pool()
    x, y = pool.input(0, 0), pool.input(0, 1)
    assert pool.mul(x, pool.one) is x
    assert pool.sub(x, pool.zero) is x
    assert pool.neg(pool.neg(x)) is x
    assert pool.add(x, pool.neg(y)) is pool.sub(x, y)
    assert pool.where(pool.compare("lt", x, y), x, x) is x
    assert pool.pow(x, pool.zero) is pool.one


@pytest.mark.parametrize("exponent", [2.0, 3.0, 7.0, 16.0])
def test_small_integer_powers_are_products(exponent: float) -> None:
    pool = Pool()
    assert pool.pow(pool.input(0, 0), pool.const(exponent)).op == "mul"


@pytest.mark.parametrize("exponent", [17.0, 0.3, -2.7, 0.5, 1.5])
def test_other_powers_stay(exponent: float) -> None:
    pool = Pool()
    assert pool.pow(pool.input(0, 0), pool.const(exponent)).op == "pow"


def test_constants_fold_as_ieee_says() -> None:
    pool = Pool()
    inf = pool.const(math.inf)
    assert math.isnan(pool.mul(pool.zero, inf).number)
    assert math.isinf(pool.div(pool.one, pool.zero).number)
    assert math.isnan(pool.sqrt(pool.const(-1.0)).number)
    assert pool.const(0.0) is not pool.const(-0.0)


def test_signs_and_choices_move_outward() -> None:
    """Fewer statements, the same bits: signs of zero, infinities and NaN included."""
    import numpy as np

    from matlaw.ir import Program, evaluate
    from matlaw.trace.slots import Slot

    pool = Pool()
    x, y, z = (pool.input(k, 0) for k in range(3))
    m, c = pool.compare("lt", z, pool.one), pool.const
    two = pool.mul(c(2.0), x)
    assert pool.neg(two) is pool.mul(c(-2.0), x)
    assert pool.neg(pool.div(c(2.0), x)) is pool.div(c(-2.0), x)
    assert pool.where(m, pool.neg(x), pool.neg(y)) is pool.neg(pool.where(m, x, y))
    assert pool.where(m, pool.neg(x), pool.zero).op == "neg"
    assert pool.neg(pool.where(m, pool.neg(x), pool.one)) is pool.where(m, x, c(-1.0))
    assert pool.where(m, pool.where(m, x, y), z) is pool.where(m, x, z)
    assert pool.where(m, z, pool.where(m, x, y)) is pool.where(m, z, y)
    masked = [pool.where(m, x, pool.zero), pool.where(m, y, c(3.0))]
    for op, folded in (("add", 3.0), ("sub", -3.0), ("mul", 0.0)):
        assert pool.binary(op, *masked) is pool.where(m, pool.binary(op, x, y), c(folded))
    values = (
        pool.neg(two), pool.neg(pool.div(c(2.0), x)), pool.where(m, pool.neg(x), pool.neg(y)),
        pool.where(m, pool.neg(x), pool.zero), pool.where(m, c(1.0), pool.neg(y)),
        pool.neg(pool.where(m, x, pool.neg(pool.neg(y)))), *(pool.binary(op, *masked) for op in ("add", "sub", "mul")),
    )  # fmt: skip
    slots = tuple(Slot(n, ()) for n in "xyz")
    program = Program(pool, slots, tuple(Slot(f"v{k}", ()) for k in range(len(values))), tuple((v,) for v in values))
    numbers = [0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan]
    X, Y, Z = (a.ravel() for a in np.meshgrid(numbers, numbers, [0.0, 2.0, np.nan]))
    with np.errstate(all="ignore"):
        M = Z < 1
        expected = [
            -(2 * X), -(2 / X), np.where(M, -X, -Y), np.where(M, -X, 0.0), np.where(M, 1.0, -Y), -np.where(M, X, Y),
            np.where(M, X, 0.0) + np.where(M, Y, 3.0), np.where(M, X, 0.0) - np.where(M, Y, 3.0),
            np.where(M, X, 0.0) * np.where(M, Y, 3.0),
        ]  # fmt: skip
        for found, e in zip(evaluate(program, [X, Y, Z]), expected, strict=True):
            assert np.array_equal(found, e, equal_nan=True)
            number = ~np.isnan(e)
            assert np.array_equal(np.signbit(found[number]), np.signbit(e[number]))
