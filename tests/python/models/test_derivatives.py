"""Every model: traced with a symbolic batch, turned into scalars, and differentiated by inputs and parameters."""

import numpy as np
import pytest
import torch
from recorded_models import RECORDS, build, typed

from matlaw.ir import evaluate
from matlaw.ir.aten import UnsupportedOperation
from matlaw.lower.native.programs import ForwardProgram, native_program
from matlaw.trace.graphs import Forward, Pair, jvp_graph, parameter_slots, slots_of, typed_function

ROWS = 2
#: Models whose rows do not depend on each other.
BY_ROW = [record for record in RECORDS if not record["name"].startswith("SR2Dynamic")]


def forward_of(model):
    """The model as a function of flat tensors, with all parameters as arguments."""
    parameters = model.named_parameters()
    function = typed_function(lambda v, p: model.evaluate(v, p), model.inputs, parameters, list(model.outputs))
    inputs = slots_of(model.inputs) + parameter_slots(parameters)
    return Forward("model", function, inputs, slots_of(model.outputs))


def arguments_of(model, record):
    """Data of the inputs and of the parameters, each with the full batch."""
    values = typed(record["inputs"])
    given = [values[name].data for name in model.inputs]
    return given + [p.data.expand(*p.data.shape[:-1], ROWS).clone() for p in model.named_parameters().values()]


def finite_differences(function, arguments, k, c):
    """Derivatives of all outputs by component ``c`` of argument ``k``, by central differences of fourth order."""
    flat = arguments[k].reshape(-1, ROWS)
    step = 1e-4 * flat[c].abs().clamp(min=1e-2)

    def at(factor):
        moved = flat.clone()
        moved[c] += factor * step
        changed = [*arguments[:k], moved.reshape(arguments[k].shape), *arguments[k + 1 :]]
        return [y.expand(*y.shape[:-1], ROWS).reshape(-1, ROWS) for y in function(*changed)]

    return [(8.0 * (b - a) - (d - e)) / (12.0 * step) for e, a, b, d in zip(at(-2), at(-1), at(1), at(2), strict=True)]


@pytest.mark.parametrize("record", BY_ROW, ids=[record["name"] for record in BY_ROW])
def test_scalar_program_and_its_derivatives(record, write):
    model = build(record, write)
    forward = forward_of(model)
    arguments = arguments_of(model, record)
    program = ForwardProgram(forward)
    given = [a.numpy() for a in arguments]
    for found, expected in zip(evaluate(program.value, given), forward.function(*arguments), strict=True):
        np.testing.assert_allclose(found, np.broadcast_to(expected.numpy(), found.shape), rtol=1e-12, atol=1e-14)
    for k, slot in enumerate(forward.inputs):
        graph = jvp_graph("jvp", forward, [Pair(out.name, slot.name) for out in forward.outputs])
        blocks = evaluate(native_program(graph, program), given)[len(forward.outputs) :]
        found = [b.reshape(out.size, slot.size, ROWS) for b, out in zip(blocks, forward.outputs, strict=True)]
        for c in range(slot.size):
            for block, expected in zip(found, finite_differences(forward.function, arguments, k, c), strict=True):
                scale = max(float(np.abs(block).max()), 1e-6)
                np.testing.assert_allclose(block[:, c], expected.numpy(), rtol=1e-6, atol=1e-7 * scale)


@pytest.mark.parametrize("record", BY_ROW, ids=[record["name"] for record in BY_ROW])
def test_the_graph_of_a_gradient_becomes_scalars(record, write):
    """As a flow rule differentiates the model inside of a graph."""
    model = build(record, write)
    forward = forward_of(model)
    arguments = arguments_of(model, record)
    if not arguments:
        pytest.skip("a constant without parameters")

    def square(y):
        return y * y if y.ndim == 1 else (y * y).sum(tuple(range(y.ndim - 1)))

    def gradient(*given):
        value, pull_back = torch.func.vjp(lambda *x: sum(square(y) for y in forward.function(*x)), *given)[:2]
        return list(pull_back(torch.ones_like(value)))

    program = ForwardProgram(Forward("gradient", gradient, forward.inputs, forward.inputs))
    found = evaluate(program.value, [a.numpy() for a in arguments])
    for a, expected in zip(found, gradient(*arguments), strict=True):
        scale = float(expected.abs().max())
        np.testing.assert_allclose(
            a, np.broadcast_to(expected.numpy(), a.shape), rtol=1e-10, atol=1e-13 * max(scale, 1e-3)
        )


@pytest.mark.parametrize("record", BY_ROW, ids=[record["name"] for record in BY_ROW])
def test_second_derivatives_are_finite(record, write):
    model = build(record, write)
    arguments = arguments_of(model, record)
    if not arguments:
        pytest.skip("a constant without parameters")
    arguments = [a.requires_grad_() for a in arguments]
    total = sum((y * y).sum() for y in forward_of(model).function(*arguments))
    first = torch.autograd.grad(total, arguments, create_graph=True, allow_unused=True)
    squares = sum((g * g).sum() for g in first if g is not None)
    assert torch.isfinite(squares)
    if squares.requires_grad:
        second = torch.autograd.grad(squares, arguments, allow_unused=True)
        assert all(bool(torch.isfinite(g).all()) for g in second if g is not None)


@pytest.mark.parametrize("kind", ["SR2DynamicMean", "SR2DynamicSum"])
def test_what_mixes_rows_is_not_compiled(kind, write):
    [record] = [record for record in RECORDS if record["name"].startswith(kind)]
    with pytest.raises(UnsupportedOperation, match="mixes rows"):
        ForwardProgram(forward_of(build(record, write)))
