"""The functions of graphs in plain torch: shapes, order of columns, signs."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from matlaw.ir import evaluate
from matlaw.lower.native import ForwardProgram, native_program
from matlaw.trace import graphs as g
from matlaw.trace.derivatives import graph_function
from matlaw.trace.slots import Slot

U, V, GIVEN, OTHER = Slot("u", ()), Slot("v", (2,)), Slot("given", (2, 2)), Slot("other", ())
MATRIX = torch.tensor([[2.0, 1.0], [0.5, 3.0]], dtype=torch.float64)
FORWARD = g.Forward(
    "test",
    lambda u, v, given, other: [u * u * other, torch.einsum("ijb,jb->ib", given, v) + MATRIX @ v],
    (U, V, GIVEN, OTHER),
    (U, V),
)


def values(graph: g.Graph, rows: int = 5) -> list[torch.Tensor]:
    torch.manual_seed(1)
    return [torch.rand(*slot.shape, rows, dtype=torch.float64) + 1.0 for slot in graph.inputs]


def test_residual_is_negative() -> None:
    graph = g.residual_graph("r", FORWARD)
    u, v, given, other = values(graph)
    [b] = graph_function(graph)(u, v, given, other)
    torch.testing.assert_close(b[0], -u * u * other)
    assert b.shape == (3, 5)


def test_jacobian_by_hand() -> None:
    graph = g.jacobian_graph("j", FORWARD)
    u, v, given, other = values(graph)
    A, _ = graph_function(graph)(u, v, given, other)
    torch.testing.assert_close(A[0, 0], 2 * u * other)
    assert (A[0, 1:] == 0).all()
    assert (A[1:, 0] == 0).all()
    torch.testing.assert_close(A[1:, 1:], given + MATRIX.unsqueeze(-1))


def test_columns_of_the_givens_stand_in_the_order_asked_for() -> None:
    graph = g.jacobian_given_graph("bg", FORWARD, ["other", "given"])
    u, v, given, other = values(graph)
    [Bg] = graph_function(graph)(u, v, given, other)
    assert Bg.shape == (3, 5, 5)
    torch.testing.assert_close(Bg[0, 0], u * u)
    torch.testing.assert_close(Bg[1, 1:3], v)
    torch.testing.assert_close(Bg[2, 3:5], v)


def test_constant_block_has_no_batch_axis() -> None:
    forward = g.Forward("f", lambda v: [MATRIX @ v, v * v], (V,), (Slot("linear", (2,)), Slot("square", (2,))))
    pairs = [g.Pair("linear", "v", MATRIX.numpy()), g.Pair("square", "v")]
    linear, square, constant, block = graph_function(g.jvp_graph("jvp", forward, pairs))(
        *values(g.value_graph("v", forward))
    )
    assert constant.shape == (2, 2)
    assert block.shape == (2, 2, 5)
    assert linear.shape == square.shape == (2, 5)
    torch.testing.assert_close(constant, MATRIX)


@pytest.mark.parametrize("kind", ["residual", "jacobian", "jacobian_given", "jvp", "value"])
def test_scalars_equal_torch(kind: str) -> None:
    pairs = [g.Pair("v", "given"), g.Pair("u", "u"), g.Pair("u", "given")]
    graph = {
        "value": g.value_graph("x", FORWARD),
        "residual": g.residual_graph("x", FORWARD),
        "jacobian": g.jacobian_graph("x", FORWARD),
        "jacobian_given": g.jacobian_given_graph("x", FORWARD, ["other", "given"]),
        "jvp": g.jvp_graph("x", FORWARD, pairs),
    }[kind]
    inputs = values(graph)
    found = evaluate(native_program(graph, ForwardProgram(FORWARD)), [x.numpy() for x in inputs])
    for y, e in zip(found, graph_function(graph)(*inputs), strict=True):
        np.testing.assert_allclose(y, e.numpy(), rtol=1e-14)


def test_solves() -> None:
    solve = g.solve_graph("s", FORWARD)
    A, b = values(solve)
    A = A + 4 * torch.eye(3, dtype=torch.float64).unsqueeze(-1)
    [du] = graph_function(solve)(A, b)
    torch.testing.assert_close(torch.einsum("ijb,jb->ib", A, du), b)
    ift = g.solve_ift_graph("i", FORWARD, [g.Pair("v", "other"), g.Pair("u", "given")], ["given", "other"])
    Bg = values(ift)[1]
    v_other, u_given = graph_function(ift)(A, Bg)
    full = -torch.linalg.solve(A.permute(2, 0, 1), Bg.permute(2, 0, 1)).permute(1, 2, 0)
    torch.testing.assert_close(v_other, full[1:, 4])
    torch.testing.assert_close(u_given, full[0, :4].reshape(2, 2, 5))


def test_derivatives_by_parameters_by_hand() -> None:
    """``other`` in the place of a parameter."""
    [u, v, given, other] = values(g.residual_graph("r", FORWARD))
    graph = g.dr_dparam_graph("p", FORWARD, ["other"])
    assert [slot.shape for slot in graph.outputs] == [(3, 3), (3, 1)]
    A, P = graph_function(graph)(u, v, given, other)
    torch.testing.assert_close(A, graph_function(g.jacobian_graph("j", FORWARD))(u, v, given, other)[0])
    torch.testing.assert_close(P[0, 0], u * u)
    assert (P[1:] == 0).all()
    solve = g.solve_param_graph("s", FORWARD, [g.Pair("u", "other")], ["other"])
    [block] = graph_function(solve)(A, P)
    torch.testing.assert_close(block, -u / (2 * other))
    direct = g.param_jvp_graph("d", FORWARD, [g.Pair("u", "other"), g.Pair("v", "other", np.zeros(2))])
    by_other, zero = graph_function(direct)(u, v, given, other)
    torch.testing.assert_close(by_other, u * u)
    assert zero.shape == (2,)
    scalars = native_program(graph, ForwardProgram(FORWARD))
    for y, e in zip(evaluate(scalars, [x.numpy() for x in (u, v, given, other)]), (A, P), strict=True):
        np.testing.assert_allclose(y, e.numpy(), rtol=1e-14)
