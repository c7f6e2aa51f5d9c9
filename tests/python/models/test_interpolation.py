"""Tables: at, between, beside and at the ends of their knots."""

import pytest
import torch

from matlaw.errors import InputFileError
from matlaw.input import InputFile
from matlaw.tensors import Scalar

TABLE = """
[Tensors]
  [x]
    type = Python
    expr = 'Scalar(torch.tensor([1.0, 2.0, 4.0]){axes})'
  []
  [y]
    type = Python
    expr = 'Scalar(torch.tensor([{values}]), sub_batch_ndim={n})'
  []
[]
[Models]
  [m]
    type = {type}
    {options}
  []
[]
"""
LINE = {"values": "10.0, 30.0, 20.0", "n": 1, "type": "ScalarLinearInterpolation"}
LINEAR = "argument = a\nabscissa = x\nordinate = y"
GRID = "argument1 = a\nargument2 = b\nabscissa1 = x\nabscissa2 = x\nordinate = y"


def build(write, options=LINEAR, axes=", sub_batch_ndim=1", **kw):
    return InputFile(write(TABLE.format(options=options, axes=axes, **{**LINE, **kw}))).model("m")


@pytest.mark.parametrize("axes", ["", ", sub_batch_ndim=1"])
def test_values_and_slopes(write, axes):
    m = build(write, axes=axes)
    a = torch.tensor([0.0, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0], dtype=torch.float64, requires_grad=True)
    found = m.evaluate({"a": Scalar(a)})["m"].data
    assert found.tolist() == [-10.0, 10.0, 20.0, 30.0, 25.0, 20.0, 10.0]
    [slope] = torch.autograd.grad(found.sum(), a)
    # at a knot the interval to the right counts
    assert slope.tolist() == [20.0, 20.0, 20.0, -5.0, -5.0, -5.0, -5.0]


def test_sub_batches_of_the_argument(write):
    m = build(write)
    a = torch.tensor([[1.5, 3.0], [2.0, 6.0], [1.0, 0.0]], dtype=torch.float64)
    assert m.evaluate({"a": Scalar(a, 1)})["m"].data.tolist() == [[20.0, 25.0], [30.0, 10.0], [10.0, -10.0]]


def test_a_bilinear_table_is_exact_for_bilinear_functions(write):
    # (1 + x1) (2 - x2) at 1, 2, 4
    values = ", ".join(f"[{', '.join(str((1 + x) * (2 - y)) for y in (1.0, 2.0, 4.0))}]" for x in (1.0, 2.0, 4.0))
    m = build(write, GRID, values=values, n=2, type="ScalarBilinearInterpolation")
    a = torch.tensor([1.0, 1.7, 3.0, 0.0, 9.0], dtype=torch.float64)
    b = torch.tensor([2.0, 3.1, 1.2, 5.0, -1.0], dtype=torch.float64)
    found = m.evaluate({"a": Scalar(a), "b": Scalar(b)})["m"].data
    torch.testing.assert_close(found, (1 + a) * (2 - b), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(
    ("kw", "message"),
    [
        ({"values": "1.0, 2.0"}, r"expected values of shape \(3,\), got \(2,\)"),
        (
            {"values": "1.0, 2.0, 3.0", "n": 0, "type": "ScalarBilinearInterpolation", "options": GRID},
            "2 sub-batch axes",
        ),
        ({"options": LINEAR.replace("abscissa = x", "abscissa = z")}, "expected the name of a .Tensors. entry"),
        ({"options": LINEAR.replace("abscissa = x", "abscissa = y")}, "two or more increasing values"),
        ({"options": LINEAR.replace("abscissa = x", "abscissa = 3")}, "two or more increasing values"),
    ],
)
def test_what_is_wrong_with_a_table_is_said(write, kw, message):
    with pytest.raises(InputFileError, match=message):
        build(write, **kw)
