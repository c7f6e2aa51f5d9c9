"""Expressions of [Tensors]: what they compute, and that they cannot break out."""

import pytest
import torch

from matlaw.errors import InputFileError
from matlaw.input.expression import MAX_LENGTH, ExpressionError, evaluate_expression
from matlaw.tensors import R2, SR2, Scalar, to_public


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("Scalar(5)", Scalar, 5.0),
        ("Scalar(1.5 * 2 - 4 / 2**2)", Scalar, 2.0),
        ("Scalar(7 // 2 + 7 % 4)", Scalar, 6.0),
        ("Scalar([1.0, 2.0])", Scalar, [1.0, 2.0]),
        ("Scalar(torch.linspace(0, 1, 3))", Scalar, [0.0, 0.5, 1.0]),
        ("Scalar(2.0) * Scalar(3.0) + 1", Scalar, 7.0),
        ("SR2(torch.tensor([1, 2, 3, 0, 0, 0]))", SR2, [1.0, 2.0, 3.0, 0.0, 0.0, 0.0]),
        ("R2(torch.eye(3) * 2)", R2, [[2.0, 0, 0], [0, 2.0, 0], [0, 0, 2.0]]),
        ("x = torch.arange(0, 3)\ny = x[1:].sum()\nresult = Scalar(y)", Scalar, 3.0),
        ("\n  x = 2.0\n  y = -x\n  result = Scalar(torch.sqrt(torch.abs(torch.tensor(y * 8))))\n", Scalar, 4.0),
        ("a = torch.ones(2, 6)\nresult = SR2(torch.where(a > 0.5, a * 3, a))", SR2, [[3.0] * 6] * 2),
        ("Scalar(torch.stack([torch.tensor(1.0), torch.tensor(2.0)]).reshape(2).flip(0))", Scalar, [2.0, 1.0]),
        ("Scalar(torch.zeros(2, 3).shape[1])", Scalar, 3.0),
        ("Scalar(torch.cos(torch.tensor(torch.pi)))", Scalar, -1.0),
        ("Scalar(torch.full((2,), 3.0).unsqueeze(-1).expand(2, 2)[:, 0])", Scalar, [3.0, 3.0]),
        ("Scalar(other) + 1", Scalar, 12.0),
    ],
)
def test_values(text, kind, expected):
    value = evaluate_expression(text, lambda name: Scalar.constant(11.0) if name == "other" else None)
    assert type(value) is kind
    assert value.dtype == torch.float64
    expected = torch.tensor(expected, dtype=torch.float64)
    batch = expected.shape[: expected.ndim - kind.base_ndim]
    torch.testing.assert_close(to_public(value, batch), expected)


BREAKOUTS = [
    "().__class__",
    "().__class__.__bases__[0].__subclasses__()",
    "torch.zeros(2).__class__",
    "torch.zeros(2).data",
    "torch.zeros(2).numpy()",
    "torch.zeros(2).apply_(1)",
    "torch.zeros(2).__reduce__()",
    "torch.__builtins__",
    "torch.os.system('true')",
    "torch.load('x')",
    "torch.save(torch.zeros(1), 'x')",
    "torch.hub",
    "torch.utils",
    "torch.float64.__class__",
    "torch.zeros.__globals__",
    "torch.pi.real",
    "Scalar.__init__",
    "Scalar(1.0).data",
    "Scalar(1.0).map(1)",
    "getattr(torch, 'os')",
    "__import__('os')",
    "eval('1')",
    "exec('1')",
    "open('x')",
    "print(1)",
    "globals()",
    "type(1)",
    "import os",
    "from os import system",
    "(lambda: 1)()",
    "[x for x in [1]]",
    "{x for x in [1]}",
    "(x for x in [1])",
    "{1: 2}",
    "{1, 2}",
    "f'{1}'",
    "'{0.__class__}'.format(1)",
    "'a' * 3",
    "b'a'",
    "1j",
    "...",
    "x = y = 1",
    "x, y = 1, 2",
    "x[0] = 1",
    "torch.zeros = 1",
    "torch = 1",
    "Scalar = 1",
    "_x = 1",
    "x += 1",
    "x: int = 1",
    "(x := 1)",
    "def f(): pass",
    "class A: pass",
    "while True: pass",
    "for x in [1]: pass",
    "if 1: x = 1",
    "with x: pass",
    "try:\n  x = 1\nexcept:\n  x = 2",
    "del x",
    "assert 1",
    "raise 1",
    "global x",
    "1 if 1 else 2",
    "1 and 2",
    "not 1",
    "~1",
    "1 << 100",
    "1 | 2",
    "1 < 2 < 3",
    "1 in [1]",
    "1 is 1",
    "torch.zeros(*[2])",
    "torch.zeros(2, **{})",
    "torch.zeros(2, out=torch.zeros(2))",
    "torch.zeros(2, device='cuda')",
    "torch.tensor([1.0], requires_grad=True)",
    "1\n2",
    "torch.zeros(2)(1)",
    "(1)(2)",
    "torch.float64(1)",
    "(1)[0]",
    "x",
    "",
]


@pytest.mark.parametrize("text", BREAKOUTS)
def test_nothing_else_runs(text):
    with pytest.raises(ExpressionError):
        evaluate_expression(text)
    with pytest.raises(ExpressionError):
        evaluate_expression(text + "\nresult = Scalar(1.0)" if text else "result = ")


@pytest.mark.parametrize(
    "text",
    [
        "10**10**10",
        "9**9**9**9",
        "2**64",
        "x = 10**18\ny = x * x",
        "-(2**63) - 10",
        "[0] * 10**9",
        "(0,) * 10**9",
        "torch.zeros(10**12)",
        "torch.ones((10**6, 10**6))",
        "torch.full((10**9, 10), 1.0)",
        "torch.eye(10**6)",
        "torch.linspace(0, 1, 10**12)",
        "torch.logspace(0, 1, 10**12)",
        "torch.arange(0, 1e15)",
        "torch.zeros(10**4)[:, None] * torch.zeros(10**4)",
        "torch.outer(torch.zeros(10**5), torch.zeros(10**5))",
        "torch.zeros(3).expand(10**9, 3)",
        "torch.zeros(2).repeat(10**9)",
        "torch.tile(torch.zeros(2), (10**9,))",
        "torch.broadcast_to(torch.zeros(1), (10**12,))",
        "torch.zeros(10**5, 1) @ torch.zeros(1, 10**5)",
        "torch.zeros(10**8)",
        "torch.where(torch.zeros(10**5, 1) > 0, torch.zeros(10**5), 0.0)",
        "1" * 5000,
        "1+" * 3000 + "1",
        "-" * 15000 + "1",
        "(" * 300 + "1" + ")" * 300,
        "[" * 300 + "]" * 300,
        "1+" * MAX_LENGTH + "1",
    ],
)
def test_nothing_large_is_computed(text):
    with pytest.raises(ExpressionError):
        evaluate_expression(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("torch.zero(2)", r"line 1: unknown torch function 'zero'; did you mean 'zeros'\?"),
        ("x = 1\ny = torch.zeros(2).summ()", r"line 2: unknown tensor method 'summ'; did you mean 'sum'\?"),
        ("Skalar(1.0)", r"unknown name 'Skalar'; did you mean 'Scalar'\?"),
        ("SR2(torch.zeros(3))", r"SR2: expected shape \(\*B, 6\), got \(3,\)"),
        ("SR2(Scalar(1.0))", "SR2 cannot be made from Scalar"),
        ("torch.zeros(3)", "the value must be a typed tensor, such as Scalar"),
        ("1 / 0", "ZeroDivisionError"),
        ("torch.ones(2) + torch.ones(3)", "RuntimeError"),
        ("x = 1", "expected a single expression, or lines that assign 'result'"),
        ("import torch", "Import is not allowed.*torch is there without an import"),
        ("1 +", "not an expression: line 1: "),
        ("Scalar(1.0)\n(", "not an expression: line 2: "),
        ("10 ** 10 ** 10", "line 1: a number is too large"),
        ("torch.linalg", r"must be a typed tensor, such as Scalar\(1.0\), not the functions torch.linalg"),
        ("lambda x: x", "not a lambda"),
        ("Scalar(**1)", r"unpacking with \*\* is not allowed"),
        ("SR2(1.0)", r"SR2: expected shape \(\*B, 6\), got \(\)"),
        ("Scalar(1.0).dynamic_batch.expand(-3)", "expand: expected extents that are not negative, got -3"),
        ("torch.save", "unknown torch function 'save'. Known: abs, .*zeros_like"),
    ],
)
def test_messages(text, message):
    with pytest.raises(ExpressionError, match=message):
        evaluate_expression(text)


def test_errors_name_the_block(model):
    bad = "[bad]\ntype = Python\nexpr = 'torch.zero(1)'\n[]"
    rest = f"[Tensors]\n{bad}\n[loop]\ntype = Python\nexpr = 'Scalar(loop)'\n[]\n[]"
    law = "[m]\ntype = YieldFunction\nyield_stress = {}\n[]"
    with pytest.raises(InputFileError, match=r"law\.i:\d+: \[Tensors\]/\[bad\]: option 'expr': line 1: unknown torch"):
        model(law.format("bad"), rest=rest)
    with pytest.raises(InputFileError, match=r"cyclic dependency: \[Tensors\]/\[loop\] -> \[Tensors\]/\[loop\]"):
        model(law.format("loop"), rest=rest)
