"""Which derivatives are zero or the same for all rows, from recorded operations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from matlaw.trace.dependence import Dependence
from matlaw.trace.graphs import Forward
from matlaw.trace.slots import Slot

MATRIX = torch.arange(6.0, dtype=torch.float64).reshape(2, 3)
X, Y, WEIGHT, Z = Slot("x", (3,)), Slot("y", ()), Slot("w", (), shared=True), Slot("z", (2,))

Function = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]


def dependence(function: Function) -> Dependence:
    return Dependence(Forward("test", lambda x, y, w: [function(x, y, w)], (X, Y, WEIGHT), (Z,)))


def written_in_place(x: torch.Tensor, y: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    z = torch.zeros(2, x.shape[-1], dtype=x.dtype)
    z[0] = 3.0 * x[1]
    z[1].add_(torch.erf(y))
    return z


@pytest.mark.parametrize(
    ("function", "by_x", "by_y"),
    [
        (lambda x, y, w: MATRIX @ x, MATRIX, 0.0),
        (lambda x, y, w: MATRIX @ x + torch.erf(y), MATRIX, None),
        (lambda x, y, w: w * (MATRIX @ x), None, 0.0),
        (lambda x, y, w: y * (MATRIX @ x), None, None),
        (lambda x, y, w: torch.where(y > 0.0, 2.0, 1.0) * (MATRIX @ x), None, 0.0),
        (lambda x, y, w: x[[0, 2]].cumsum(0), torch.tensor([[1.0, 0.0, 0.0], [1.0, 0.0, 1.0]]), 0.0),
        (lambda x, y, w: torch.ones(2, 1, dtype=x.dtype) + 0.0 * w, 0.0, 0.0),
        (written_in_place, torch.tensor([[0.0, 3.0, 0.0], [0.0, 0.0, 0.0]]), None),
        (lambda x, y, w: x[:2].prod(0).expand(2, -1), None, 0.0),
    ],
    ids=["linear", "sum", "weighted", "product", "mask", "index", "constant", "in place", "reads values"],
)
def test_blocks_that_no_row_changes(
    function: Function, by_x: torch.Tensor | float | None, by_y: torch.Tensor | float | None
) -> None:
    found = dependence(function)
    for position, expected in enumerate((by_x, by_y)):
        block = found.constant_block(0, position)
        if expected is None:
            assert block is None
            assert found.depends(0, position)
            continue
        shape = (2, 3) if position == 0 else (2,)
        assert block is not None
        np.testing.assert_array_equal(block, np.broadcast_to(expected, shape))
        assert found.depends(0, position) == bool(block.any())


def test_the_output_is_recorded_alone() -> None:
    """Another output that varies does not make a block vary, and sub-batch axes stand behind base axes."""
    grains = Slot("grains", (2, 4), sub_batch_ndim=1)
    forward = Forward(
        "test", lambda g: [torch.linalg.inv(g[:, :2].movedim(-1, 0)).movedim(0, -1), g.mean(1)], (grains,),
        (Slot("inverse", (2, 2)), Slot("mean", (2,))),
    )  # fmt: skip
    found = Dependence(forward)
    assert found.constant_block(0, 0) is None
    block = found.constant_block(1, 0)
    np.testing.assert_allclose(block, np.einsum("ij,k->ijk", np.eye(2), np.full(4, 0.25)), rtol=1e-15)
