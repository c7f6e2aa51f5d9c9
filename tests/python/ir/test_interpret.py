"""Every aten operation with a scalar form gives what eager gives, NaN and infinities included."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from matlaw.ir import UnsupportedOperation, evaluate, interpret
from matlaw.trace.forward import trace
from matlaw.trace.slots import Slot

Function = Callable[..., list[torch.Tensor]]
MATRIX = torch.linspace(-1.0, 2.0, 36, dtype=torch.float64).reshape(6, 6)

VECTOR, SCALAR = (6,), ()
CASES: dict[str, Function] = {
    "arithmetic": lambda x, s: [x + s, x - 2 * s, 3 - x, x * s, x / s, -x, torch.add(x, x, alpha=3)],
    "rsub": lambda x, s: [torch.rsub(x, s, alpha=2)],
    "powers": lambda x, s: [x**2, x**3, x**-2, s.abs() ** 0.5, 2.0**x, s.abs() ** x, s.abs() ** 2.3, x**0],
    "functions": lambda x, s: [x.exp(), x.abs().log(), x.tanh(), x.abs().sqrt(), x.abs().rsqrt(), x.sin(), x.cos()],
    "square and reciprocal": lambda x, s: [x.square(), x.reciprocal(), x.abs(), x.sign()],
    "extrema": lambda x, s: [torch.maximum(x, s), torch.minimum(x, s), x.amax(0), x.amin(0)],
    "clamp": lambda x, s: [x.clamp(min=-0.5), x.clamp(max=0.5), x.clamp(-0.5, 0.5), torch.relu(x), x.clamp(min=s)],
    "masks": lambda x, s: [
        torch.where(x > s, x, s),
        torch.where((x > 0) & (s < 0), x, 0.0),
        torch.where((x >= 0) | ~(s <= 0), x, -x),
        torch.where(x != x, 7.0, x),
        torch.where(torch.isnan(x) ^ torch.isinf(s), 1.0, x),
        (x == s).to(torch.float64),
    ],
    "sums": lambda x, s: [
        x.sum(0),
        x.mean(0),
        x.sum(0, keepdim=True),
        x[:3].prod(0),
        torch.linalg.vector_norm(x, dim=0),
    ],
    "products": lambda x, s: [MATRIX @ x, torch.einsum("ij,jb->ib", MATRIX, x), torch.einsum("ib,jb->ijb", x, x)],
    "batched product": lambda x, s: [torch.einsum("ijb,jb->ib", x.unsqueeze(0) * MATRIX.unsqueeze(-1), x)],
    "shapes": lambda x, s: [
        x.reshape(2, 3, -1).transpose(0, 1).reshape(6, -1),
        x.unsqueeze(0).expand(2, 6, x.shape[-1]),
        x.reshape(2, 3, x.shape[-1]).permute(1, 0, 2),
        s.unsqueeze(0).repeat(3, 1),
        x.flip(0),
        x.roll(1, 0),
        x.movedim(0, -1).movedim(-1, 0),
    ],
    "parts": lambda x, s: [
        x[0],
        x[1:4],
        x[::2],
        x[[5, 0, 1]],
        torch.cat([x, s.unsqueeze(0)]),
        torch.stack([s, s * 2]),
        *x.unbind(0),
        *x.split([2, 4]),
    ],
    "diagonal": lambda x, s: [torch.einsum("iib->ib", x.unsqueeze(0) * MATRIX.unsqueeze(-1))],
    "makers": lambda x, s: [
        torch.zeros_like(x) + s,
        torch.ones_like(s) * s,
        torch.full_like(x, 3.0) * s,
        torch.eye(6, dtype=x.dtype)[0].unsqueeze(-1) * s,
        x.new_zeros(6, 1) + x,
        torch.arange(6, dtype=x.dtype).unsqueeze(-1) * s,
        x.clone().detach(),
    ],
    "writing in place": lambda x, s: [_written(x, s)],
    "gradient inside": lambda x, s: [torch.func.vjp(lambda y: (y * y).sum(0).sqrt(), x)[1](s)[0]],
}


def _written(x: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    y = torch.zeros_like(x)
    y[0] = s
    y[1:3] = x[1:3]
    y[3].add_(s)
    return y * 2


def _special() -> list[torch.Tensor]:
    numbers = [0.0, -0.0, 1.0, -1.5, 0.3, 700.0, -700.0, 1e-300, -1e300, np.inf, -np.inf, np.nan]
    a, b = np.meshgrid(numbers, numbers)
    s = torch.tensor(a.ravel())
    first = torch.tensor(b.ravel())
    return [torch.stack([first.roll(7 * k) for k in range(6)]), s]


@pytest.mark.parametrize("name", CASES)
def test_operations_equal_eager(name: str) -> None:
    function = CASES[name]
    inputs = _special()
    with np.errstate(all="ignore"):
        expected = function(*inputs)
        slots = [Slot("x", VECTOR), Slot("s", SCALAR)]
        outputs = [Slot(f"y{k}", tuple(y.shape[:-1])) for k, y in enumerate(expected)]
        traced = trace(function, slots, outputs, name)
        found = evaluate(interpret(traced.module, slots, outputs), [x.numpy() for x in inputs])
    for y, e in zip(found, expected, strict=True):
        np.testing.assert_allclose(y, e.expand(y.shape).numpy(), rtol=1e-13, atol=1e-12 if name == "sums" else 1e-300)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x: [x - x.mean()], "batch axis"),
        (lambda x: [x - x.mean(-1, keepdim=True)], "batch axis"),
        (lambda x: [x.flip(-1)], "batch axis"),
        (lambda x: [x / x.shape[-1]], "."),
        (lambda x: [x * torch.arange(x.shape[-1])], "batch axis"),
        (lambda x: [x.reshape(-1).reshape(x.shape[-1], 6).transpose(0, 1)], "batch"),
        (lambda x: [x.cumsum(0)], "cumsum"),
        (lambda x: [x.to(torch.float32).to(torch.float64)], "precision"),
    ],
)
def test_what_mixes_rows_or_is_unknown_is_refused_by_name(function: Function, reason: str) -> None:
    slots = [Slot("x", VECTOR)]
    traced = trace(function, slots, slots, "test")
    with pytest.raises(UnsupportedOperation, match=reason):
        interpret(traced.module, slots, slots)
