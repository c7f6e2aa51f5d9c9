"""Calls of the viscoplastic example law, some of which fail."""

from __future__ import annotations

import numpy as np

#: Rows that fail.
BAD = [1, 4]


def step(rows: int = 6, size: float = 4e-3, dt: float = 0.1) -> dict[str, np.ndarray]:
    strain = size * np.sin(1.0 + np.arange(rows * 6.0)).reshape(rows, 6)
    zero = np.zeros(rows)
    return {
        "strain": strain,
        "t": zero + dt,
        "t~1": zero,
        "plastic_strain~1": strain * 0,
        "equivalent_plastic_strain~1": zero,
    }


def failing() -> dict[str, np.ndarray]:
    """A step in which two rows are strained far too much for a viscous law with this time step."""
    inputs = step()
    inputs["strain"][BAD] *= 20
    return inputs
