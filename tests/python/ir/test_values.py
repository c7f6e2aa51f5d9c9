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
