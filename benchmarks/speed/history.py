"""Bring a law to the step that is timed: its inputs there, row by row, for every program alike."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from laws import Arrays, Law, directions

import matlaw

#: Rows that have a history of their own; larger batches repeat them.
ROWS = 8192


def write_inputs(law: Law, artifact: Path, file: Path) -> Arrays:
    """The inputs of the last step of the history, written to a ``.npz`` file.

    :raises matlaw.ConvergenceError: a row does not converge on the way
    """
    model = matlaw.load_model(artifact, "model")
    direction = directions(ROWS)
    names, shapes = model.input_names, model.input_base_shapes
    sub_batches = model.input_sub_batch_shapes
    at_zero = law.load(0.0, direction)
    values: Arrays = {}
    for name, shape, sub_batch in zip(names, shapes, sub_batches, strict=True):
        zero = np.zeros((ROWS, *sub_batch, *shape))
        start = at_zero.get(name.removesuffix("~1"))
        values[name] = zero if start is None else _spread(start, len(sub_batch)) + zero
    _scatter_orientations(values)
    for step in range(1, law.steps + 1):
        for name, value in law.load(step * law.step, direction).items():
            if name in values:
                values[name] = _spread(value, values[name].ndim - value.ndim) + np.zeros_like(values[name])
        if step == law.steps:
            break
        outputs = model.forward(values)
        for pair in model.state_pairs:
            values[pair.old] = outputs[pair.current] if pair.role == "state" else values[pair.current]
    np.savez(file, **values)
    return values


def _spread(value: np.ndarray, sub_batch_ndim: int) -> np.ndarray:
    return value.reshape(value.shape[0], *(1,) * sub_batch_ndim, *value.shape[1:])


def _scatter_orientations(values: Arrays) -> None:
    """Crystals start with random orientations (modified Rodrigues parameters)."""
    random = np.random.default_rng(1)
    for name, value in values.items():
        if name == "orientation~1":
            values[name] = random.uniform(-0.4, 0.4, value.shape)
