"""Random expressions: scalars and their derivatives against torch, at ordinary, special and extreme numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from matlaw.ir import evaluate
from matlaw.lower.native import ForwardProgram, native_program
from matlaw.trace.derivatives import graph_function
from matlaw.trace.graphs import Forward, Pair, jvp_graph
from matlaw.trace.slots import Slot

INPUTS = ("x", "y", "z")
NUMBERS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.3, 2.0, 3.7, -12.0, 1e-9, 1e5, 1e-200, 1e200, np.inf, -np.inf, np.nan]
CONSTANTS = [0.0, 1.0, -1.0, 2.0, 0.5, 1e-300, 1e300, float("inf"), float("nan")]
UNARY: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "neg": torch.neg,
    "abs": torch.abs,
    "sqrt": torch.sqrt,
    "exp": torch.exp,
    "log": torch.log,
    "tanh": torch.tanh,
    "sinh": torch.sinh,
    "cosh": torch.cosh,
    "sin": lambda a: torch.sin(a.clamp(-10.0, 10.0)),
    "square": torch.square,
    "cube": lambda a: a**3,
    "root of cube": lambda a: a**1.5,
    "reciprocal": torch.reciprocal,
    "inverse square": lambda a: a**-2,
    "clamped": lambda a: a.clamp(-0.5, 1.5),
    "positive": torch.relu,
    "sign": torch.sign,
}
BINARY: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
    "max": torch.maximum,
    "min": torch.minimum,
    "pow": lambda a, b: a.abs() ** b.clamp(-3.0, 3.0),
}
#: What decides in a choice, by inputs: their bits are the same everywhere.
CHOICES: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "<": torch.lt,
    "<=": torch.le,
    "==": torch.eq,
    "not >": lambda a, b: ~(a > b),
    "both finite": lambda a, b: torch.isfinite(a) & torch.isfinite(b),
}


@dataclass(frozen=True)
class Expression:
    """A tree of operations."""

    op: str
    args: tuple[Expression, ...] = ()
    number: float = 0.0

    def __call__(self, inputs: dict[str, torch.Tensor], seen: list[torch.Tensor]) -> torch.Tensor:
        """The value; those of all parts go to ``seen``."""
        if self.op in inputs:
            found = inputs[self.op]
        elif self.op == "constant":
            found = torch.full_like(inputs["x"], self.number)
        else:
            parts = [a(inputs, seen) for a in self.args]
            if self.op in UNARY:
                found = UNARY[self.op](*parts)
            elif self.op in BINARY:
                found = BINARY[self.op](*parts)
            else:
                found = torch.where(CHOICES[self.op](inputs["x"], inputs["y"]), *parts)
        seen.append(found)
        return found


LEAVES = st.one_of(
    st.sampled_from(INPUTS).map(Expression),
    st.sampled_from(CONSTANTS).map(lambda number: Expression("constant", (), number)),
)
EXPRESSIONS = st.recursive(
    LEAVES,
    lambda parts: st.one_of(
        st.builds(lambda op, a: Expression(op, (a,)), st.sampled_from(list(UNARY)), parts),
        st.builds(lambda op, a, b: Expression(op, (a, b)), st.sampled_from([*BINARY, *CHOICES]), parts, parts),
    ),
    max_leaves=8,
)


def rows() -> list[NDArray]:
    """All triples of a few numbers, and random ones."""
    rng = np.random.default_rng(2)
    x, y = (v.ravel() for v in np.meshgrid(NUMBERS, NUMBERS))
    ordinary = rng.normal(size=(3, 40))
    special = [x, y, rng.choice(NUMBERS, x.size)]
    return [np.concatenate([s, o]) for s, o in zip(special, ordinary, strict=True)]


def forward_of(expressions: list[Expression]) -> Forward:
    slots = tuple(Slot(name, ()) for name in INPUTS)
    outputs = tuple(Slot(f"f{k}", ()) for k in range(len(expressions)))
    return Forward("random", lambda *x: [e(dict(zip(INPUTS, x, strict=True)), []) for e in expressions], slots, outputs)


def agree(found: list[NDArray], expected: list[NDArray], scales: list[NDArray], given: list[NDArray]) -> None:
    """Values are those of torch; derivatives too where inputs are finite and reverse mode does not meet 0 * inf."""
    regular = np.isfinite(given).all(axis=0)
    count = len(scales)
    for k, (f, e) in enumerate(zip(found, expected, strict=True)):
        scale = scales[k if k < count else (k - count) // len(INPUTS)]
        with np.errstate(all="ignore"):
            calm = scale < 1e100  # otherwise one of two ways overflows
            good = calm & np.isfinite(e)
            # Parts that large, and the reciprocals of small ones, may cancel.
            rounding = np.maximum(np.abs(e), scale if k < count else (1.0 + scale) ** 3)
            close = np.abs(f - e) <= 1e-9 * rounding
        if k < count:
            assert np.array_equal(np.isnan(f[calm]), np.isnan(e[calm]))
        else:  # where the value is NaN, torch's clamp has the slope 0, and its maximum(x, x) the slope 2
            close |= np.isnan(expected[(k - count) // len(INPUTS)]) | ~regular
        assert close[good].all(), (k, f[good & ~close], e[good & ~close])


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.lists(EXPRESSIONS, min_size=3, max_size=3))
def test_values_and_derivatives(expressions: list[Expression]) -> None:
    forward = forward_of(expressions)
    pairs = [Pair(f"f{k}", name) for k in range(len(expressions)) for name in INPUTS]
    graph = jvp_graph("jvp", forward, pairs)
    given = rows()
    tensors = [torch.tensor(x) for x in given]
    expected = [np.broadcast_to(y.detach().numpy(), given[0].shape) for y in graph_function(graph)(*tensors)]
    scales = []
    for e in expressions:
        seen: list[torch.Tensor] = []
        e(dict(zip(INPUTS, tensors, strict=True)), seen)
        sizes = torch.stack([size for s in seen for size in (s.abs(), 1.0 / s.abs())])
        scales.append(torch.where(sizes.isfinite(), sizes, 0.0).amax(0).numpy())
    agree(evaluate(native_program(graph, ForwardProgram(forward)), given), expected, scales, given)
