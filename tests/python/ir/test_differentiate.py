"""Derivatives equal those of torch's reverse mode, at kinks too; zeros are structural."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from matlaw.ir import Pool, Program, differentiate, evaluate, interpret
from matlaw.trace.forward import trace
from matlaw.trace.slots import Slot

FUNCTIONS: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "product": lambda x, y: x * y * x,
    "quotient": lambda x, y: x / (y + 5),
    "sqrt": lambda x, y: (x * x + y * y + 1).sqrt(),
    "exp": lambda x, y: (x * y).exp(),
    "log": lambda x, y: (x * x + y * y + 1).log(),
    "tanh": lambda x, y: (x - 2 * y).tanh(),
    "sin": lambda x, y: x.sin() * y.cos(),
    "integer power": lambda x, y: x**5 + y**-3,
    "power": lambda x, y: (x.abs() + 1) ** (y * 0.7),
    "power at zero": lambda x, y: x.clamp(min=0) ** 2.5 + y * 0,
    "abs": lambda x, y: x.abs() * y,
    "sign": lambda x, y: x.sign() * y,
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "clamp": lambda x, y: x.clamp(min=0) * y.clamp(-1, 1),
    "relu": lambda x, y: torch.relu(x) * y,
    "where": lambda x, y: torch.where(x > y, x * x, y * x),
    "guarded root": lambda x, y: torch.where(x > 0, torch.where(x > 0, x, 1.0).sqrt(), 0.0) * y,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_rule(name: str) -> None:
    function = FUNCTIONS[name]
    numbers = [-2.0, -1.0, -0.4, 0.0, 0.3, 1.0, 1.7]
    a, b = (torch.tensor(v.ravel()) for v in np.meshgrid(numbers, numbers))
    a, b = (a, b) if name not in ("integer power",) else (a, b.where(b != 0, torch.ones_like(b)))
    slots = [Slot("x", ()), Slot("y", ())]
    program = interpret(
        trace(lambda x, y: [function(x, y)], slots, [Slot("f", ())], name).module, slots, [Slot("f", ())]
    )
    [f] = program.values[0]
    gradient = differentiate(program.pool, [f], [program.pool.input(0, 0), program.pool.input(1, 0)]).direct[f]
    outputs = (Slot("dx", ()), Slot("dy", ()))
    values = tuple((gradient.get(k, program.pool.zero),) for k in range(2))
    found = evaluate(Program(program.pool, program.inputs, outputs, values), [a.numpy(), b.numpy()])
    value, pull_back, *_ = torch.func.vjp(function, a, b)
    for d, e in zip(found, pull_back(torch.ones_like(value)), strict=True):
        np.testing.assert_allclose(d, e.numpy(), rtol=1e-13, atol=1e-14)


def test_zeros_have_no_value() -> None:
    pool = Pool()
    x, y, z = (pool.input(0, k) for k in range(3))
    f = pool.add(pool.mul(x, y), pool.mul(pool.zero, z))
    gradient = differentiate(pool, [f, y], [x, y, z]).direct
    assert sorted(gradient[f]) == [0, 1]
    assert gradient[y] == {1: pool.one}


def test_a_masked_branch_does_not_spoil_the_derivative() -> None:
    """Where the mask is false the derivative is zero, also where the branch not taken has none."""
    slots = [Slot("x", ()), Slot("y", ())]
    program = interpret(
        trace(lambda x, y: [torch.where(y > 0, (x / y).sqrt(), 0.0) ** 2], slots, [Slot("f", ())], "guard").module,
        slots,
        [Slot("f", ())],
    )
    [f] = program.values[0]
    gradient = differentiate(program.pool, [f], [program.pool.input(0, 0)]).direct[f]
    derivative = Program(program.pool, program.inputs, (Slot("dx", ()),), ((gradient[0],),))
    [d] = evaluate(derivative, [np.array([2.0, 3.0, -1.0]), np.array([4.0, 0.0, -0.0])])
    np.testing.assert_allclose(d, [0.25, 0.0, 0.0], rtol=1e-14)


def test_a_chain_of_one_variable_costs_one_factor() -> None:
    """Six seeds behind a chain of eight functions: the chain is differentiated once."""
    pool = Pool()
    seeds = [pool.input(0, k) for k in range(6)]
    v = pool.zero
    for seed in seeds:
        v = pool.add(v, pool.mul(seed, seed))
    for name in ("exp", "tanh", "sin", "cos") * 2:
        v = pool.unary(name, v)
    gradient = differentiate(pool, [v], seeds).direct[v]
    values = tuple(gradient[k] for k in range(6))
    count = Program(pool, (Slot("x", (6,)),), (Slot("d", (6,)),), (values,)).statement_count
    assert count < 60
