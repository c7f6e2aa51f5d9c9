"""Linear systems solved on the scalar IR, against a matrix that is formed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matlaw.ir.backward_error import LIMITS, backward_errors, too_large
from matlaw.ir.differentiate import differentiate
from matlaw.ir.evaluate import evaluate
from matlaw.ir.program import Program
from matlaw.ir.sparse_solve import LARGEST_CORE, RightSide, TooDense, solve_linearised
from matlaw.ir.values import Pool, Value
from matlaw.trace.slots import Slot

ROWS = 12


def numbers(pool: Pool, inputs: list[np.ndarray], values: list[Value]) -> np.ndarray:
    """The values at some rows, ``(len(values), rows)``."""
    slots = tuple(Slot(f"x{k}", (len(x),)) for k, x in enumerate(inputs))
    program = Program(pool, slots, (Slot("found", (len(values),)),), (tuple(pool.real(v) for v in values),))
    return evaluate(program, inputs)[0]


def matrix(pool: Pool, inputs: list[np.ndarray], residuals: list[Value], by: list[Value]) -> np.ndarray:
    """The derivatives of residuals, ``(len(residuals), len(by), rows)``."""
    gradients = differentiate(pool, residuals, by).direct
    entries = [gradients[r].get(k, pool.zero) for r in residuals for k in range(len(by))]
    return numbers(pool, inputs, entries).reshape(len(residuals), len(by), -1)


@st.composite
def systems(draw: st.DrawFn) -> tuple[Pool, list[Value], list[Value], list[Value]]:
    """Backward-Euler-like residuals: each unknown minus a rate that all of them share, through bottlenecks."""
    pool = Pool()
    n, m = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    unknowns = [pool.input(0, k) for k in range(n)]
    givens = [pool.input(1, k) for k in range(m)]
    values = [*unknowns, *givens]
    for _ in range(draw(st.integers(2, 20))):
        a, b = (values[draw(st.integers(0, len(values) - 1))] for _ in range(2))
        made = draw(st.sampled_from(["add", "sub", "mul", "tanh", "where", "max", "sqrt"]))
        if made == "tanh":
            values.append(pool.unary("tanh", a))
        elif made == "where":
            values.append(pool.where(pool.compare("lt", a, b), a, pool.mul(b, b)))
        elif made == "sqrt":
            values.append(pool.sqrt(pool.add(pool.one, pool.mul(a, a))))
        elif made == "max":
            values.append(pool.maximum(a, b))
        else:
            values.append(pool.binary(made, a, b))
    shared = values[-1]
    residuals = []
    for k, u in enumerate(unknowns):
        rate = pool.mul(pool.const(0.3 / (k + 1)), pool.unary("tanh", pool.add(shared, values[-1 - k % len(values)])))
        residuals.append(pool.sub(u, pool.add(rate, givens[k % m])))
    return pool, unknowns, givens, residuals


@given(systems(), st.integers(0, 2**31))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_solutions_satisfy_the_system_where_they_are_sound(
    system: tuple[Pool, list[Value], list[Value], list[Value]], seed: int
) -> None:
    pool, unknowns, givens, residuals = system
    random = np.random.default_rng(seed)
    inputs = [random.uniform(-1, 1, (len(unknowns), ROWS)), random.uniform(-1, 1, (len(givens), ROWS))]
    A = matrix(pool, inputs, residuals, unknowns)
    n = len(unknowns)
    step = solve_linearised(pool, residuals, unknowns, [RightSide(residuals=[pool.neg(r) for r in residuals])])
    x = numbers(pool, inputs, step.columns[0]).reshape(n, 1, ROWS)
    b = -numbers(pool, inputs, residuals).reshape(n, 1, ROWS)
    sound = numbers(pool, inputs, [step.sound])[0] == 1.0
    assert (backward_errors(A, x, b)[sound] <= 1e-8).all()
    derivatives = solve_linearised(pool, residuals, unknowns, [RightSide(moves=g) for g in givens])
    X = numbers(pool, inputs, [v for column in derivatives.columns for v in column])
    X = X.reshape(len(givens), n, ROWS).swapaxes(0, 1)
    sound = numbers(pool, inputs, [derivatives.sound])[0] == 1.0
    assert (backward_errors(A, X, -matrix(pool, inputs, residuals, givens))[sound] <= 1e-9).all()
    assert sound.any() or n > 1


def test_pivot_that_vanishes_is_not_sound() -> None:
    pool = Pool()
    x, g = pool.input(0, 0), pool.input(1, 0)
    found = solve_linearised(pool, [pool.sub(pool.mul(x, x), g)], [x], [RightSide(residuals=[pool.one])])
    inputs = [np.array([[0.0, 2.0, -3.0, np.nan]]), np.ones((1, 4))]
    assert numbers(pool, inputs, [found.sound])[0].tolist() == [0.0, 1.0, 1.0, 0.0]
    assert numbers(pool, inputs, found.columns[0])[0, 1:3].tolist() == pytest.approx([0.25, -1 / 6])


def test_pivot_of_what_cancels_is_not_sound() -> None:
    pool = Pool()
    x, g = pool.input(0, 0), pool.input(1, 0)
    residual = pool.sub(x, pool.mul(g, x))  # dr/dx = 1 - g
    found = solve_linearised(pool, [residual], [x], [RightSide(moves=g)])
    inputs = [np.ones((1, 3)), np.array([[0.5, 1.0 - 1e-4, 1.0 + 1e-13]])]
    assert numbers(pool, inputs, [found.sound])[0].tolist() == [1.0, 0.0, 0.0]


def test_what_a_choice_leaves_out_has_no_influence() -> None:
    """The branch that is not taken has an infinite derivative."""
    pool = Pool()
    x, g = pool.input(0, 0), pool.input(1, 0)
    root = pool.where(pool.compare("lt", pool.zero, g), pool.sqrt(g), pool.mul(g, g))
    found = solve_linearised(pool, [pool.sub(pool.mul(pool.const(2.0), x), root)], [x], [RightSide(moves=g)])
    inputs = [np.zeros((1, 3)), np.array([[0.0, 4.0, -1.0]])]
    assert numbers(pool, inputs, found.columns[0])[0].tolist() == [0.0, 0.125, -1.0]
    assert numbers(pool, inputs, [found.sound])[0].tolist() == [1.0, 1.0, 1.0]


def test_dense_matrices_without_constants_are_left_to_pivoting() -> None:
    pool = Pool()
    n = LARGEST_CORE + 1
    x = [pool.input(0, k) for k in range(n)]
    residuals = []
    for i in range(n):
        r = pool.input(1, i)
        for k in range(n):
            r = pool.add(r, pool.mul(pool.input(2, i * n + k), pool.mul(x[k], x[k])))
        residuals.append(r)
    with pytest.raises(TooDense):
        solve_linearised(pool, residuals, x, [RightSide(residuals=residuals)])


def test_residual_without_unknowns_has_no_solution() -> None:
    pool = Pool()
    with pytest.raises(TooDense):
        solve_linearised(pool, [pool.input(1, 0)], [pool.input(0, 0)], [RightSide(residuals=[pool.one])])


def test_fewer_operations_than_a_matrix_takes_where_a_law_has_a_bottleneck() -> None:
    """n unknowns that meet in one number: the solve takes some ten operations for each, a dense one n^3 / 3."""
    pool, n = Pool(), 24
    x = [pool.input(0, k) for k in range(n)]
    total = x[0]
    for v in x[1:]:
        total = pool.add(total, v)
    rate = pool.unary("tanh", total)
    residuals = [pool.sub(pool.sub(v, pool.input(1, k)), rate) for k, v in enumerate(x)]
    found = solve_linearised(pool, residuals, x, [RightSide(residuals=[pool.neg(r) for r in residuals])])
    program = Program(pool, (Slot("u", (n,)), Slot("g", (n,))), (Slot("du", (n,)),), (tuple(found.columns[0]),))
    assert program.statement_count < 12 * n


def test_rounding_in_a_column_of_zeros_is_no_error() -> None:
    A = np.eye(2)[:, :, None]
    b = np.array([[1.0, 0.0], [1.0, 0.0]])[:, :, None]
    assert backward_errors(A, b + np.array([[0.0, 5e-17], [0.0, 0.0]])[:, :, None], b) == 0.0
    assert backward_errors(A, b + np.array([[0.0, 1e-12], [0.0, 0.0]])[:, :, None], b) == 1.0
    assert np.isnan(backward_errors(A, b + np.nan, b))


def test_backward_errors_are_judged_by_kind() -> None:
    for kind, (usual, _) in LIMITS.items():
        assert too_large(np.full(10, 0.5 * usual), kind) == ""
        assert too_large(np.full(10, np.nan), kind)
        assert "2 of 10 rows" in too_large(np.array([0.0] * 8 + [2 * usual] * 2), kind)
    assert "1 of 100 rows" in too_large(np.array([0.0] * 99 + [1.0]), "sensitivity")
