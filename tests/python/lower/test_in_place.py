"""Kernels that read and write rows in the memory of a caller."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from matlaw.ir import Program, interpret
from matlaw.lower.native import Kernel, build, emit
from matlaw.lower.native.in_place import MOST_STATEMENTS
from matlaw.trace.forward import trace
from matlaw.trace.slots import Slot

SIZES = (1, 2, 3, 4, 5, 6, 7, 9, 36)


def scaled(*x: torch.Tensor) -> list[torch.Tensor]:
    """Every input times the first, and a scalar."""
    return [*(a * x[0] + 1.0 for a in x[1:]), x[0].sqrt()]


def kernel_of(folder: Path, target: str, float32: bool) -> Kernel:
    shapes = [() if n == 1 else (6, 6) if n == 36 else (n,) for n in SIZES]
    inputs = [Slot("s", ()), *(Slot(f"x{n}", shape) for n, shape in zip(SIZES, shapes, strict=True))]
    outputs = [*(Slot(f"y{n}", shape) for n, shape in zip(SIZES, shapes, strict=True)), Slot("root", ())]
    program = interpret(trace(scaled, inputs, outputs, "test").module, inputs, outputs)
    build(emit(program, "test", float32, in_place=True), folder / "kernel.so", target)
    return Kernel(folder / "kernel.so", inputs, outputs, np.dtype(np.float32 if float32 else np.float64))


@pytest.mark.parametrize("float32", [False, True])
@pytest.mark.parametrize("target", ["x86-64-v2", "x86-64-v3", "native"])
def test_any_layout_gives_the_same_bits(tmp_path: Path, target: str, float32: bool) -> None:
    kernel = kernel_of(tmp_path, target, float32)
    random = np.random.default_rng(0)
    values = [random.uniform(0.1, 2.0, (slot.size, 48)).astype(kernel.dtype) for slot in kernel.inputs]
    expected = [y.reshape(-1, 48) for y in kernel(*values)]
    apart = [np.empty((2 * len(x) + 1, 3 * 48), x.dtype)[1::2, 1::3] for x in values]
    for a, x in zip(apart, values, strict=True):
        a[:] = x
    layouts = [
        [np.array(x, order="C") for x in values],
        [np.array(x, order="F") for x in values],
        [np.array(x, order="FC"[k % 2]) for k, x in enumerate(values)],
        [np.empty((len(x) + 1, 49), x.dtype)[1:, 1:] for x in values],  # batch last, not aligned
        [np.empty((48, len(x) + 3), x.dtype)[:, 1:-2].T for x in values],  # batch first, rows apart
        apart,
    ]
    for layout in layouts:
        for a, x in zip(layout, values, strict=True):
            a[:] = x
        results, sound = kernel.in_place(*layout)
        assert sound
        for y, e in zip(results, expected, strict=True):
            np.testing.assert_array_equal(y, e)


def test_one_value_for_all_rows(tmp_path: Path) -> None:
    kernel = kernel_of(tmp_path, "x86-64-v3", False)
    random = np.random.default_rng(1)
    values = [random.uniform(0.1, 2.0, (slot.size, 1)).repeat(16, axis=1) for slot in kernel.inputs]
    shared = [np.broadcast_to(x[:, :1], x.shape) for x in values]
    for y, e in zip(kernel.in_place(*shared)[0], kernel(*values), strict=True):
        np.testing.assert_array_equal(y, e.reshape(-1, 16))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_seen_wherever_it_stands(tmp_path: Path, order: str, bad: float) -> None:
    kernel = kernel_of(tmp_path, "x86-64-v3", False)
    values = [np.ones((slot.size, 16), order=order) for slot in kernel.inputs]
    for x in values:
        for c in range(len(x)):
            for row in (0, 5, 15):
                x[c, row] = bad
                assert not kernel.in_place(*values)[1]
                x[c, row] = 1.0
    values[0][0, 3] = -1.0  # its root is not a number
    assert not kernel.in_place(*values)[1]


def test_large_kernels_and_those_with_weights_have_none(tmp_path: Path) -> None:
    def source(program: Program) -> str:
        return emit(program, "test", in_place=True)

    def long_one(x: torch.Tensor) -> list[torch.Tensor]:
        for k in range(MOST_STATEMENTS):
            x = (x + float(k + 1)).tanh()
        return [x]

    slots, outputs = [Slot("x", ())], [Slot("y", ())]
    assert "matlaw_in_place" not in source(interpret(trace(long_one, slots, outputs, "t").module, slots, outputs))
    weighted = [Slot("x", ()), Slot("w", (), shared=True)]
    program = interpret(trace(lambda x, w: [x * w], weighted, outputs, "t").module, weighted, outputs)
    assert "matlaw_in_place" not in source(program)
    program = interpret(trace(lambda x: [x * x], slots, outputs, "t").module, slots, outputs)
    assert "matlaw_in_place" in source(program)
    assert "matlaw_in_place" not in emit(program, "test")
    build(emit(program, "test"), tmp_path / "kernel.so", "x86-64-v3")
    assert not Kernel(tmp_path / "kernel.so", slots, outputs, np.dtype(np.float64)).has_in_place
