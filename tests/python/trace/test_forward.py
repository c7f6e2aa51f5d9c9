"""Recording keeps the number of rows symbolic, or refuses."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from matlaw.errors import CompileError
from matlaw.tensors.pull_back import vjp
from matlaw.trace.forward import trace
from matlaw.trace.slots import Slot

VECTOR = [Slot("x", (6,))]


def test_recorded_module_runs_with_any_number_of_rows() -> None:
    traced = trace(lambda x: [x * x.sum(0)], VECTOR, VECTOR, "square")
    for rows in (1, 2, 17):
        x = torch.randn(6, rows, dtype=torch.float64)
        torch.testing.assert_close(traced.module(x)[0], x * x.sum(0))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: [x if x.shape[-1] > 50 else 2 * x],
        lambda x: [x + torch.ones(10007, dtype=x.dtype)],
    ],
)
def test_dependence_on_the_number_of_rows_is_refused(function: object) -> None:
    with pytest.raises(CompileError, match=r"my law.*(number of rows|cannot be recorded)"):
        trace(function, VECTOR, VECTOR, "my law")  # type: ignore[arg-type]


def test_branch_on_a_value_is_refused_by_name() -> None:
    with pytest.raises(CompileError, match=r"my law: its forward function cannot be recorded"):
        trace(lambda x: [x if x[0, 0] > 0 else -x], VECTOR, VECTOR, "my law")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: [x[0]], "'x' came out as"),
        (lambda x: [x, x], "returned 2 tensors"),
        (lambda x: [x.to(torch.float32)], "float32"),
    ],
)
def test_wrong_results_are_refused(function: object, message: str) -> None:
    with pytest.raises(CompileError, match=message):
        trace(function, VECTOR, VECTOR, "my law")  # type: ignore[arg-type]


def test_what_depends_on_constants_only_is_computed_once() -> None:
    shear = torch.tensor([[3.0]], dtype=torch.float64)
    traced = trace(lambda x: [x * (2 * shear).exp() + torch.zeros_like(x)], VECTOR, VECTOR, "law")
    assert list(traced.constants) == ["constant0"]
    torch.testing.assert_close(traced.constants["constant0"], (2 * shear).exp())
    assert "aten.exp.default" not in [str(node.target) for node in traced.module.graph.nodes]


def test_structure_is_without_numbers() -> None:
    def law(number: float, power: float):
        factor = torch.tensor([[number]], dtype=torch.float64)
        return trace(lambda x: [(x * factor) ** power], VECTOR, VECTOR, "law")

    assert law(2.0, 2.0).structure == law(3.0, 2.0).structure
    assert law(2.0, 2.0).digest != law(3.0, 2.0).digest
    assert law(2.0, 2.0).structure != law(2.0, 3.0).structure


@pytest.mark.parametrize(
    "function",
    [
        lambda x: [torch.stack([x[0], *x[1:].unbind(0)])],
        lambda x: [x.unsqueeze(-2).expand(6, 4, x.shape[-1]).reshape(6, -1).reshape(6, 4, -1).sum(1)],
        lambda x: [torch.zeros_like(x).index_copy_(0, torch.tensor([1, 2]), x[:2])],
        lambda x: [torch.linalg.solve(x[:4].reshape(2, 2, -1).permute(2, 0, 1), x[4:].T).T.repeat(3, 1)],
        lambda x: [torch.func.vjp(lambda y: (y**3).sum(0), x)[1](torch.ones_like(x[0]))[0]],
    ],
    ids=["parts", "multiples of the rows", "written in place", "several results", "derivative"],
)
def test_record_equals_the_function(function: object) -> None:
    traced = trace(function, VECTOR, VECTOR, "law")  # type: ignore[arg-type]
    for rows in (2, 17):
        x = torch.rand(6, rows, dtype=torch.float64) + torch.arange(6.0, dtype=torch.float64)[:, None]
        torch.testing.assert_close(traced.module(x)[0], function(x)[0])  # type: ignore[operator]


@pytest.mark.parametrize(
    "function",
    [lambda x: [x[x > 0].sum() * x], lambda x: [x * x[0, 0].item()], lambda x: [x.nonzero().sum() * x]],
    ids=["mask", "item", "nonzero"],
)
def test_looking_at_values_is_refused(function: object) -> None:
    with pytest.raises(CompileError, match=r"looks at values, which differ from row to row"):
        trace(function, VECTOR, VECTOR, "my law")  # type: ignore[arg-type]


def test_recording_loads_no_compiler() -> None:
    code = (
        "import sys, torch\n"
        "from matlaw.tensors.pull_back import vjp\n"
        "from matlaw.trace.forward import trace\n"
        "from matlaw.trace.slots import Slot\n"
        "slots = [Slot('x', (6,))]\n"
        "trace(lambda x: [vjp(lambda y: (y * y).sum(0), x)[1](torch.ones_like(x[0]))[0]], slots, slots, 'law')\n"
        "assert not {'sympy', 'torch._dynamo'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_derivative_inside_the_function_is_differentiated_as_well() -> None:
    """As a flow direction, the derivative of a yield function, is in a Jacobian."""

    def function(x: torch.Tensor) -> list[torch.Tensor]:
        value, pull_back = vjp(lambda y: y**3, x)
        return [pull_back(torch.ones_like(value))[0]]

    traced = trace(function, [Slot("x", ())], [Slot("slope", ())], "cube")
    x = torch.tensor([1.0, 2.0, -3.0], dtype=torch.float64, requires_grad=True)
    [slope] = traced.module(x)
    torch.testing.assert_close(slope, 3.0 * x**2)
    [second] = torch.autograd.grad(slope.sum(), x)
    torch.testing.assert_close(second, 6.0 * x)


def test_a_constant_of_one_value_may_have_any_stride() -> None:
    """As a column of a table has it."""
    table = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64)
    traced = trace(lambda x: [x * (2.0 * table).T[:1, :1]], VECTOR, VECTOR, "law")
    assert traced.digest == trace(lambda x: [x * (2.0 * table).T[:1, :1]], VECTOR, VECTOR, "law").digest
