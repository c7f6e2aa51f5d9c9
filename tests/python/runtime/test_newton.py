"""The Newton solver driven from Python."""

from __future__ import annotations

import pytest
import torch

from matlaw import ConvergenceError, FatalError, Status, _core


def cube_roots(c: torch.Tensor):
    """u**3 = c, componentwise, with every call's rows recorded."""
    seen: list[list[int]] = []

    def residual(u, rows):
        seen.append(rows.tolist())
        return c[:, rows] - u**3

    def jacobian(u, rows):
        n, b = u.shape
        A = torch.zeros(n, n, b, dtype=u.dtype)
        for i in range(n):
            A[i, i] = 3 * u[i] ** 2
        return A, residual(u, rows)

    return residual, jacobian, seen


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 8, 9, 17])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 1e-5)])
def test_solves_every_row(rows, dtype, tolerance):
    c = torch.linspace(1, 8, 2 * rows, dtype=dtype).reshape(2, rows) if rows else torch.ones(2, 0, dtype=dtype)
    residual, jacobian, _ = cube_roots(c)
    start = torch.ones(2, rows, dtype=dtype)
    u, status, iterations, *_ = _core.newton(residual, jacobian, start, tolerance, tolerance, 30)
    assert u.shape == (2, rows)
    assert u.dtype == dtype
    assert status.dtype == torch.int8
    assert iterations.dtype == torch.int32
    assert status.tolist() == [Status.CONVERGED] * rows
    torch.testing.assert_close(u, c ** (1 / 3), rtol=10 * tolerance, atol=0)
    assert torch.equal(start, torch.ones(2, rows, dtype=dtype))


def test_a_bad_row_neither_stops_nor_changes_the_others():
    c = torch.linspace(1, 8, 20, dtype=torch.float64).reshape(1, 20)
    good = _core.newton(*cube_roots(c)[:2], torch.ones_like(c), 1e-12, 1e-12, 30)
    c[0, 7] = torch.nan
    u, status, *_ = _core.newton(*cube_roots(c)[:2], torch.ones_like(c), 1e-12, 1e-12, 30)
    others = [i for i in range(20) if i != 7]
    assert status[7] == Status.NOT_CONVERGED
    assert status[others].tolist() == [0] * 19
    assert torch.equal(u[:, others], good[0][:, others])


def test_rows_are_positions_in_the_full_batch():
    c = torch.ones(1, 40, dtype=torch.float64)
    c[0, 30:] = 1000.0
    residual, jacobian, seen = cube_roots(c)
    _, status, iterations, *_ = _core.newton(residual, jacobian, torch.ones_like(c), 1e-10, 1e-10, 50)
    assert not status.any()
    assert iterations[:30].tolist() == [0] * 30
    assert seen[0] == list(range(40))
    assert len(seen[-1]) < 40
    assert set(range(30, 40)) <= set(seen[-1])


def test_iterations_run_out():
    c = torch.full((1, 3), 1e9, dtype=torch.float64)
    _, status, iterations, *_ = _core.newton(*cube_roots(c)[:2], torch.ones_like(c), 1e-12, 1e-12, 2)
    assert status.tolist() == [Status.NOT_CONVERGED] * 3
    assert iterations.tolist() == [2] * 3


@pytest.mark.parametrize("error", [KeyError("unknown"), ConvergenceError("inner", [3, 5]), KeyboardInterrupt()])
def test_what_the_functions_raise_passes_through(error):
    def residual(u, rows):
        raise error

    with pytest.raises(type(error)) as caught:
        _core.newton(residual, residual, torch.ones(1, 4, dtype=torch.float64), 1e-10, 1e-10, 5)
    assert caught.value is error


def test_a_solve_inside_a_solve():
    c = torch.linspace(1, 8, 10, dtype=torch.float64).reshape(1, 10)

    def residual(u, rows):
        inner, *_ = _core.newton(*cube_roots(c[:, rows])[:2], torch.ones_like(u), 1e-13, 1e-13, 30)
        return inner - u

    def jacobian(u, rows):
        return torch.ones(1, 1, u.shape[1], dtype=u.dtype), residual(u, rows)

    u, status, *_ = _core.newton(residual, jacobian, torch.zeros_like(c), 1e-12, 1e-12, 5)
    assert not status.any()
    torch.testing.assert_close(u, c ** (1 / 3), rtol=1e-12, atol=0)


def test_gradients_may_be_recorded():
    c = torch.full((1, 3), 8.0, dtype=torch.float64, requires_grad=True)
    u, *_ = _core.newton(*cube_roots(c)[:2], torch.ones(1, 3, dtype=torch.float64), 1e-12, 1e-12, 30)
    torch.testing.assert_close(u, torch.full_like(u, 2.0))
    assert not u.requires_grad


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (torch.ones(3, dtype=torch.float64), r"shape \(n, B\), got shape \(3\)"),
        (torch.ones(4, 2, dtype=torch.float64).T, "not contiguous"),
        (torch.ones(2, 3, dtype=torch.int64), "float64 or float32, got Long"),
        ([[1.0]], "expected a torch.Tensor, got an object of type list"),
    ],
)
def test_a_wrong_start_is_named(start, message):
    with pytest.raises(FatalError, match=message):
        _core.newton(lambda u, rows: u, lambda u, rows: u, start, 1e-10, 1e-10, 5)


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (lambda u: u[:, :2], r"expected b = -r of shape \(1, 4\), Double on cpu; got shape \(1, 2\)"),
        (lambda u: u.float(), r"got shape \(1, 4\), Float"),
        (lambda u: u.numpy(), "residual.*ndarray"),
    ],
)
def test_a_wrong_residual_is_named(result, message):
    with pytest.raises(FatalError, match=message):
        _core.newton(lambda u, rows: result(u), None, torch.ones(1, 4, dtype=torch.float64), 1e-10, 1e-10, 5)


def test_a_wrong_jacobian_is_named():
    def residual(u, rows):
        return u

    start = torch.ones(1, 4, dtype=torch.float64)
    with pytest.raises(FatalError, match=r"must return a tuple \(A, b\)"):
        _core.newton(residual, residual, start, 1e-10, 1e-10, 5)
    with pytest.raises(FatalError, match=r"expected A = dr/du of shape \(1, 1, 4\)"):
        _core.newton(residual, lambda u, rows: (u, u), start, 1e-10, 1e-10, 5)
