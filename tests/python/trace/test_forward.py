"""Recording keeps the number of rows symbolic, or refuses."""

from __future__ import annotations

import pytest
import torch

from matlaw.errors import CompileError
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
