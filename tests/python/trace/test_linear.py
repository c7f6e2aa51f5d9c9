"""Graphs of linear solvers: products, preconditioners, block elimination; torch and scalars."""

from __future__ import annotations

import pytest
import torch

from matlaw.ir import evaluate
from matlaw.lower.native import ForwardProgram, native_program
from matlaw.trace import graphs as g
from matlaw.trace.derivatives import graph_function
from matlaw.trace.linear import linear_solve, uncoupled
from matlaw.trace.slots import Slot

U, V, GIVEN = Slot("u", ()), Slot("v", (2,)), Slot("given", (2, 2))
FORWARD = g.Forward(
    "test",
    lambda u, v, given: [u * u * v[0], torch.einsum("ijb,jb->ib", given, v) + u * v * v],
    (U, V, GIVEN),
    (U, V),
)
ROWS = 5


def inputs_of(graph: g.Graph) -> list[torch.Tensor]:
    torch.manual_seed(1)
    return [torch.rand(*slot.shape, ROWS, dtype=torch.float64) + 1.0 for slot in graph.inputs]


def jacobian(inputs: list[torch.Tensor]) -> torch.Tensor:
    return graph_function(g.jacobian_graph("j", FORWARD))(*inputs[:3])[0]


def test_graphs_of_a_krylov_solver_by_hand() -> None:
    graph = g.matvec_graph("m", FORWARD)
    u, v, given, direction = inputs = inputs_of(graph)
    [product] = graph_function(graph)(*inputs)
    torch.testing.assert_close(product[0], 2 * u * v[0] * direction[0] + u * u * direction[1])
    torch.testing.assert_close(product, torch.einsum("ijb,jb->ib", jacobian(inputs), direction))
    A = jacobian(inputs)
    blocks = [(0, 1), (1, 2)]
    [M] = graph_function(g.precond_setup_graph("p", FORWARD, blocks))(u, v, given)
    torch.testing.assert_close(M, torch.stack([A[0, 0], A[1, 1], A[1, 2], A[2, 1], A[2, 2]]))
    apply = graph_function(g.precond_apply_graph("a", FORWARD, blocks))
    [z] = apply(M, direction)
    torch.testing.assert_close(A[0, 0] * z[0], direction[0])
    torch.testing.assert_close(torch.einsum("ijb,jb->ib", A[1:, 1:], z[1:]), direction[1:])
    points = [(0, 1), (1, 1), (2, 1)]
    [diagonal] = graph_function(g.precond_setup_graph("p", FORWARD, points))(u, v, given)
    torch.testing.assert_close(diagonal, torch.stack([A[0, 0], A[1, 1], A[2, 2]]))
    [z] = graph_function(g.precond_apply_graph("a", FORWARD, points))(diagonal, direction)
    torch.testing.assert_close(z, direction / diagonal)


@pytest.mark.parametrize(
    "graph",
    [g.matvec_graph("x", FORWARD)]
    + [g.precond_setup_graph("x", FORWARD, b) for b in ([(0, 3)], [(0, 1), (1, 2)], [(0, 1), (1, 1), (2, 1)])],
)
def test_scalars_equal_torch(graph: g.Graph) -> None:
    inputs = inputs_of(graph)
    [found] = evaluate(native_program(graph, ForwardProgram(FORWARD)), [x.numpy() for x in inputs])
    [expected] = graph_function(graph)(*inputs)
    torch.testing.assert_close(torch.as_tensor(found), expected)


@pytest.mark.parametrize(("rows", "columns"), [((0, 1), (0, 1)), ((1, 3), (1, 3)), ((0, 1), (2, 3)), ((1, 3), (0, 2))])
def test_block_elimination_solves(rows: tuple[int, int], columns: tuple[int, int]) -> None:
    primary = (range(*rows), range(*columns))
    torch.manual_seed(2)
    A = torch.rand(3, 3, ROWS, dtype=torch.float64) + torch.eye(3, dtype=torch.float64).unsqueeze(-1)
    b = torch.rand(3, ROWS, dtype=torch.float64)
    right = torch.rand(3, 4, ROWS, dtype=torch.float64)
    [du] = graph_function(g.solve_graph("s", FORWARD, primary))(A, b)
    torch.testing.assert_close(torch.einsum("ijb,jb->ib", A, du), b)
    pairs = [g.Pair("u", "given"), g.Pair("v", "given")]
    by_u, by_v = graph_function(g.solve_ift_graph("s", FORWARD, pairs, ["given"], primary))(A, right)
    together = torch.cat([by_u.reshape(1, 4, ROWS), by_v.reshape(2, 4, ROWS)])
    torch.testing.assert_close(torch.einsum("ijb,jkb->ikb", A, together), -right)


def test_uncoupled_blocks() -> None:
    pattern = [[i % 2 == j % 2 for j in range(6)] for i in range(6)]
    whole = ((0, 1, 2, 3), (0, 1, 2, 3))
    assert uncoupled(whole, pattern) == (((0, 2), (0, 2)), ((1, 3), (1, 3)))
    pattern[0][1] = True
    assert uncoupled(whole, pattern) == (whole,)
    # A row of zeros: no part is square without it.
    assert uncoupled(((0, 1), (0, 1)), [[True, False], [False, False]]) == (((0, 1), (0, 1)),)


@pytest.mark.parametrize("n", [4, 8])
def test_parts_of_a_dense_system_that_do_not_touch(n: int) -> None:
    from types import SimpleNamespace

    from matlaw.models.solvers import DenseLU

    half = n // 2
    system = SimpleNamespace(unknown_variables={"u": SimpleNamespace(size=n)})
    pattern = [[(i < half) == (j < half) for j in range(n)] for i in range(n)]
    found = linear_solve(DenseLU(), system, pattern)
    blocks = (tuple(range(half)), tuple(range(half))), (tuple(range(half, n)), tuple(range(half, n)))
    assert found.elimination == (blocks if n >= 8 else ())  # small systems do not gain from it
    assert found.primary is None and found.kind == "direct"
    pattern[0][n - 1] = True  # they touch
    assert linear_solve(DenseLU(), system, pattern).elimination == ()
    assert linear_solve(DenseLU(), system).elimination == ()
