"""States at which the self-check compares: nothing at all, small, large, each variable on a scale of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from matlaw.trace.graphs import Graph

#: Number of different states.
STATES = 200
#: Number of rows at which compiled graphs run: the states again and again. Smaller batches are the first of them.
ROWS = 1000


def in_slices(
    graph: Graph, parameters: Mapping[str, NDArray], float32: bool, seed: int, most: int
) -> Iterator[list[NDArray]]:
    """Inputs of a graph for all states, at most `most` states at a time; else as :func:`sample`.

    Whole matrices are made a slice at a time, too.
    """
    if most >= STATES:
        yield sample(graph, parameters, float32, seed)
    elif graph.forward is not None:
        yield from slices(graph, sample(graph, parameters, float32, seed), most)
    else:
        for first in range(0, STATES, most):
            rng = np.random.default_rng([seed, first])
            yield _of_linear_algebra(graph, rng, float32, min(most, STATES - first))


def slices(graph: Graph, inputs: Sequence[NDArray], most: int) -> Iterator[list[NDArray]]:
    """These inputs, at most `most` states at a time; weights are in all slices."""
    for first in range(0, STATES, most):
        yield [
            x if slot.shared else np.ascontiguousarray(x[..., first : first + most])
            for slot, x in zip(graph.inputs, inputs, strict=True)
        ]


def sample(graph: Graph, parameters: Mapping[str, NDArray], float32: bool, seed: int = 1) -> list[NDArray]:
    """Inputs of a graph, ``(*shape, STATES)`` each, in double precision; exact in single precision when ``float32``.

    A weight is ``(*shape, 1)``, near its initial value.

    Row 0 is zero everywhere. In even rows all variables are of one magnitude, in odd rows each of its own. A scalar
    with an old value is larger than that (time goes on); parameters vary by some per cent around their values.

    :param graph: what to evaluate
    :param parameters: values of promoted parameters and of weights, of their slots' shapes, by name
    :param float32: narrower magnitudes, rounded to single precision
    """
    rng = np.random.default_rng(seed)
    if graph.forward is None:
        return _of_linear_algebra(graph, rng, float32, STATES)
    low, high = (-4.0, 0.0) if float32 else (-6.0, 1.0)
    common = 10.0 ** rng.uniform(low, 0.0, STATES)
    by_name: dict[str, NDArray] = {}
    for slot in graph.inputs:
        if slot.shared:  # other values than the initial ones: a compiled graph must have none of these
            spread = 1.0 + 1e-3 * rng.uniform(-1.0, 1.0, (*slot.shape, 1))
            by_name[slot.name] = parameters[slot.name][..., None] * spread
            continue
        if slot.name in parameters:
            spread = 1.0 + 0.05 * rng.uniform(-1.0, 1.0, (*slot.shape, STATES))
            by_name[slot.name] = parameters[slot.name][..., None] * spread
            continue
        own = 10.0 ** rng.uniform(low, high, STATES)
        scale = np.where(np.arange(STATES) % 2 == 0, common, own)
        x = rng.uniform(-1.0, 1.0, (*slot.shape, STATES)) * scale
        x[..., 0] = 0.0
        by_name[slot.name] = x
    for slot in graph.inputs:
        old = f"{slot.name}~1"
        if not slot.shape and old in by_name:
            by_name[slot.name] = by_name[old] + np.abs(by_name[slot.name])
    values = [by_name[slot.name] for slot in graph.inputs]
    return [x.astype(np.float32).astype(np.float64) for x in values] if float32 else values


def _of_linear_algebra(graph: Graph, rng: np.random.Generator, float32: bool, states: int) -> list[NDArray]:
    """Well-conditioned matrices, or diagonal blocks, and arbitrary right-hand sides."""
    if graph.blocks:
        parts = [_well_conditioned(rng, k, states).reshape(k * k, states) for _, k in graph.blocks]
        matrices = np.concatenate(parts)
    else:
        matrices = _well_conditioned(rng, graph.inputs[0].shape[0], states)
    right = rng.uniform(-1.0, 1.0, (*graph.inputs[1].shape, states))
    return [x.astype(np.float32).astype(np.float64) if float32 else x for x in (matrices, right)]


def _well_conditioned(rng: np.random.Generator, n: int, states: int) -> NDArray:
    A = rng.uniform(-1.0, 1.0, (n, n, states))
    A[np.arange(n), np.arange(n)] += 2.0 * n
    return A
