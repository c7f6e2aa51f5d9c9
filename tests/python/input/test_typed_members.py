"""Members of typed tensors in expressions, loops, lambdas, and that what they cost is bounded."""

import math

import pytest
import torch

from matlaw.input.expression import evaluate_batched
from matlaw.input.expression_limits import ExpressionError
from matlaw.tensors import MRP, R2, SR2, SSR4, WR2, Scalar, Vec, to_public

ROOT = math.sqrt(2.0)
DIAGONAL = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
DYADIC = [[1.0] * 3 + [0.0] * 3] * 3 + [[0.0] * 6] * 3


@pytest.mark.parametrize(
    ("text", "kind", "sub_batch_ndim", "expected"),
    [
        # fill, identity, full, zeros, ones: as neml2 3.1.0 gives them.
        ("SR2.fill(2)", SR2, 0, [2.0, 2.0, 2.0, 0.0, 0.0, 0.0]),
        ("SR2.fill(1, 2, 3)", SR2, 0, [1.0, 2.0, 3.0, 0.0, 0.0, 0.0]),
        ("SR2.fill(1, 2, 3, 4, 5, 6)", SR2, 0, [1.0, 2.0, 3.0, 4.0 * ROOT, 5.0 * ROOT, 6.0 * ROOT]),
        ("R2.fill(1, 2, 3, 4, 5, 6, 7, 8, 9)", R2, 0, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]),
        ("WR2.fill(1, 2, 3)", WR2, 0, [1.0, 2.0, 3.0]),
        ("Vec.fill(1, 2, 3)", Vec, 0, [1.0, 2.0, 3.0]),
        ("Scalar.fill(4)", Scalar, 0, 4.0),
        ("R2.identity()", R2, 0, DIAGONAL),
        ("SR2.identity()", SR2, 0, [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]),
        ("SSR4.identity()", SSR4, 0, DYADIC),
        ("MRP.identity()", MRP, 0, [0.0, 0.0, 0.0]),
        ("Scalar.full(2, 3, fill_value=0.5)", Scalar, 0, [[0.5] * 3] * 2),
        ("SR2.zeros(2)", SR2, 0, [[0.0] * 6] * 2),
        ("Vec.ones((2, 1), dtype=torch.float64)", Vec, 0, [[[1.0] * 3]] * 2),
        # Components and groups of axes.
        ("Scalar(Scalar([[1.0, 2.0]]).data * 2)", Scalar, 0, [[2.0, 4.0]]),
        ("SR2(SR2.fill(1).data.unsqueeze(0))", SR2, 0, [[1.0, 1.0, 1.0, 0.0, 0.0, 0.0]]),
        ("Scalar(1.0).dynamic_batch.expand(3)", Scalar, 0, [1.0] * 3),
        ("Scalar([1.0, 2.0], sub_batch_ndim=1).dynamic_batch.expand(2)", Scalar, 1, [[1.0, 2.0]] * 2),
        ("Scalar(1.0).sub_batch.expand(3)", Scalar, 1, [1.0] * 3),
        ("Scalar([[1.0], [2.0]]).dynamic_batch.expand(-1, 2)", Scalar, 0, [[1.0, 1.0], [2.0, 2.0]]),
        ("Scalar([[1.0, 2.0]]).sub_batch.retag(1)", Scalar, 1, [[1.0, 2.0]]),
        ("Scalar([1.0, 2.0], sub_batch_ndim=1).sub_batch.retag(0)", Scalar, 0, [1.0, 2.0]),
        ("Scalar([1.0, 2.0]).dynamic_batch.unsqueeze(0)", Scalar, 0, [[1.0, 2.0]]),
        ("Scalar([1.0, 2.0]).dynamic_batch.unsqueeze(-1)", Scalar, 0, [[1.0], [2.0]]),
        ("Scalar(Scalar([1.0, 2.0]).dynamic_batch.shape[0])", Scalar, 0, 2.0),
        # linspace and logspace of groups of axes.
        ("linspace(Scalar(0.0).dynamic_batch, Scalar(1.0).dynamic_batch, 3)", Scalar, 0, [0.0, 0.5, 1.0]),
        ("linspace(Scalar(0.0).sub_batch, Scalar(1.0).sub_batch, 3)", Scalar, 1, [0.0, 0.5, 1.0]),
        ("linspace(Scalar([0.0, 1.0]).dynamic_batch, Scalar(2.0).dynamic_batch, 3)", Scalar, 0,
         [[0.0, 1.0], [1.0, 1.5], [2.0, 2.0]]),
        ("linspace(Scalar([0.0, 1.0]).dynamic_batch, Scalar(2.0).dynamic_batch, 3, dim=1)", Scalar, 0,
         [[0.0, 1.0, 2.0], [1.0, 1.5, 2.0]]),
        ("linspace(Scalar([0.0, 1.0], sub_batch_ndim=1).dynamic_batch, "
         "Scalar([2.0, 2.0], sub_batch_ndim=1).dynamic_batch, 2)", Scalar, 1, [[0.0, 1.0], [2.0, 2.0]]),
        ("linspace(Vec.fill(0, 0, 1).dynamic_batch, Vec.fill(2, 4, 1).dynamic_batch, 2)", Vec, 0,
         [[0.0, 0.0, 1.0], [2.0, 4.0, 1.0]]),
        ("linspace(Scalar(3.0).dynamic_batch, Scalar(9.0).dynamic_batch, 1)", Scalar, 0, [3.0]),
        ("logspace(Scalar(0.0).dynamic_batch, Scalar(2.0).dynamic_batch, 3)", Scalar, 0, [1.0, 10.0, 100.0]),
        # Loops, lambdas, lists, and functions of torch in modules.
        ("Scalar([x * 2 for x in [1, 2, 3] if x > 1])", Scalar, 0, [4.0, 6.0]),
        ("Scalar([[i + j for i in range(2)] for j in range(2)])", Scalar, 0, [[0.0, 1.0], [1.0, 2.0]]),
        ("ends = Scalar([1.0, 3.0])\nresult = Scalar(torch.stack([torch.linspace(0, t.item(), 2) for t in ends.data]))",
         Scalar, 0, [[0.0, 1.0], [0.0, 3.0]]),
        ("x = 1\ny = [x for x in [5]]\nresult = Scalar(x + len(y))", Scalar, 0, 2.0),
        ("Scalar((lambda a, b: (lambda c: c * b)(a + 1))(2, 5))", Scalar, 0, 15.0),
        ("x = 2\nf = lambda a: a * x\nx = 100\nresult = Scalar(f(3))", Scalar, 0, 6.0),
        ("SR2([2.5] * 6)", SR2, 0, [2.5] * 6),
        ("Scalar(torch.nn.functional.pad(torch.ones(1), (0, 2)))", Scalar, 0, [1.0, 0.0, 0.0]),
        ("Scalar(torch.linalg.solve(torch.eye(2) * 4, torch.ones(2)))", Scalar, 0, [0.25, 0.25]),
        ("Scalar(torch.full_like(Scalar([1.0, 2.0]).data, 7.0))", Scalar, 0, [7.0, 7.0]),
        ("Scalar(torch.ones(2, 3)[..., 1:])", Scalar, 0, [[1.0, 1.0]] * 2),
    ],
)  # fmt: skip
def test_values(text, kind, sub_batch_ndim, expected):
    value, batch = evaluate_batched(text)
    assert type(value) is kind and value.sub_batch_ndim == sub_batch_ndim
    torch.testing.assert_close(to_public(value, batch), torch.tensor(expected, dtype=torch.float64))


def test_the_ends_are_exact():
    value, _ = evaluate_batched("linspace(Scalar(0.1).dynamic_batch, Scalar(0.7).dynamic_batch, 7)")
    assert value.data[0] == 0.1 and value.data[-1] == 0.7


def test_an_entry_with_several_batch_axes_keeps_them():
    entry = Scalar(torch.arange(6.0, dtype=torch.float64))
    value, batch = evaluate_batched("Scalar(x.data.sum(0))", lambda name: entry, lambda name: (2, 3))
    assert batch == (3,) and value.data.tolist() == [3.0, 5.0, 7.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SR2.fill(1, 2)", "1 or 3 or 6 components, got 2"),
        ("WR2.fill(1)", "expected 3 components, got 1"),
        ("Scalar.identity()", "unknown member of Scalar 'identity'"),
        ("Scalar.mro()", "unknown member of Scalar 'mro'"),
        ("Scalar(1.0).dynamic_batch.owner", "unknown member of dynamic_batch 'owner'"),
        ("Scalar(1.0).dynamic_batch.retag(1)", "unknown member of dynamic_batch 'retag'"),
        ("SR2.fill.function(1)", "attribute 'function' of Member is not allowed"),
        ("(lambda x: x).node", "attribute 'node' of a lambda is not allowed"),
        ("torch.nn.Module", "unknown torch function 'nn.Module'"),
        ("linspace(0, 1, 3)", "take groups of axes"),
        ("linspace(Scalar(0.0).dynamic_batch, Scalar(0.0).sub_batch, 3)", "one group of axes"),
        ("Scalar(1.0).sub_batch.retag(1)", "there are 0 batch axes"),
        ("Scalar([1.0, 2.0]).dynamic_batch.expand(3)", "expanded size"),
        ("[a for a in 1.0]", "needs a list, a range or a tensor"),
        ("[a for a in [1] for b in [1]]", "has one 'for'"),
        ("[a for a, b in [[1, 2]]]", "assigns a single name"),
        ("[torch for torch in [1]]", "cannot be assigned"),
        ("(lambda x: x)(1, 2)", "a lambda of 1 arguments got 2"),
        ("(lambda *x: x)(1)", "plain arguments only"),
        ("len(Scalar)", "len takes a list or a tensor"),
    ],
)
def test_refused(text, message):
    with pytest.raises(ExpressionError, match=message):
        evaluate_batched(f"y = {text}\nresult = Scalar(1.0)")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[0 for i in range(10**15)]", "takes too long"),
        ("[[[1 for i in range(999)] for j in range(999)] for k in range(999)]", "takes too long"),
        ("(lambda f: f(f))(lambda f: f(f))", "nested too deeply"),
        ("[torch.zeros(10000000) for i in range(1000)]", "elements together"),
        ("Scalar.zeros(10**10)", "too large"),
        ("Scalar(1.0).dynamic_batch.expand(10**10)", "too large"),
        ("linspace(Scalar(0.0).dynamic_batch, Scalar(1.0).dynamic_batch, 10**10)", "too large"),
        ("[1] * 10**10", "too long"),
    ],
)
def test_bombs_are_refused(text, message):
    with pytest.raises(ExpressionError, match=message):
        evaluate_batched(f"y = {text}\nresult = Scalar(1.0)")


def test_lists_that_hold_the_same_list_many_times_are_refused():
    with pytest.raises(ExpressionError, match="the lists hold more than"):
        evaluate_batched("a = [1, 1]\n" + "a = [a, a]\n" * 60 + "result = Scalar(torch.tensor(a))")
