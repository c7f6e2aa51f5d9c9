"""A value in front of, or behind, those of cells."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from matlaw.models import Model
from matlaw.tensors import Scalar

CELLS = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64).unsqueeze(-1)


@pytest.mark.parametrize("value", ["10", "end", "end_of_an_axis"])
@pytest.mark.parametrize("side", ["left", "right"])
def test_the_value_may_have_the_axis_of_the_cells(model: Callable[..., Model], value: str, side: str) -> None:
    rest = """
    [Settings]
      example_batch_shape = '(; 3)'
    []
    [Tensors]
      [end]
        type = Python
        expr = 'Scalar(10.0)'
      []
      [end_of_an_axis]
        type = Python
        expr = 'Scalar([10.0], sub_batch_ndim=1)'
      []
    []
    """
    block = f"""
    [m]
      type = FiniteVolumeAppendBoundaryCondition
      input = 'u'
      output = 'all'
      bc_value = '{value}'
      side = {side}
    []
    """
    found = model(block, "m", rest).evaluate({"u": Scalar(CELLS, 1)})["all"]
    expected = [10.0, 1.0, 2.0, 3.0] if side == "left" else [1.0, 2.0, 3.0, 10.0]
    assert found.sub_batch_shape == (4,)
    assert found.data[:, 0].tolist() == expected
