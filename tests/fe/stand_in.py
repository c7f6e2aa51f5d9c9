"""Laws written in NumPy with the API that matlaw-fe uses, for what cannot be provoked with a real law.

A row fails on demand: `fail(strain, time)` marks the rows whose Newton is said to have diverged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np


def elastic_stiffness(young: float, poisson: float) -> np.ndarray:
    """Isotropic stiffness in Mandel components, (6, 6)."""
    lame = young * poisson / ((1 + poisson) * (1 - 2 * poisson))
    shear = young / (2 * (1 + poisson))
    one = np.array([1.0, 1, 1, 0, 0, 0])
    return lame * np.outer(one, one) + 2 * shear * np.eye(6)


class ElasticLaw:
    """stress = C strain."""

    name = "model"
    input_names: ClassVar = ["strain", "t"]
    input_types: ClassVar = ["SR2", "Scalar"]
    output_names: ClassVar = ["stress"]
    output_types: ClassVar = ["SR2"]
    derivative_pairs: ClassVar = [("stress", "strain")]
    state_pairs: ClassVar[list[tuple[str, str, str, list[float]]]] = []

    def __init__(self, young: float = 200000.0, poisson: float = 0.3) -> None:
        self.stiffness = elastic_stiffness(young, poisson)

    def update(self, inputs: dict[str, np.ndarray]) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Outputs and the tangent."""
        strain = inputs["strain"]
        tangent = np.broadcast_to(self.stiffness, (len(strain), 6, 6))
        return {"stress": strain @ self.stiffness}, tangent


class J2Law:
    """Rate-independent J2 with linear hardening: radial return with the consistent tangent (Simo and Taylor 1985)."""

    name = "model"
    input_names: ClassVar = ["strain", "t", "plastic_strain~1", "equivalent_plastic_strain~1"]
    input_types: ClassVar = ["SR2", "Scalar", "SR2", "Scalar"]
    output_names: ClassVar = ["stress", "plastic_strain", "equivalent_plastic_strain"]
    output_types: ClassVar = ["SR2", "SR2", "Scalar"]
    derivative_pairs: ClassVar = [("stress", "strain")]
    state_pairs: ClassVar = [
        ("plastic_strain", "plastic_strain~1", "state", [0.0] * 6),
        ("equivalent_plastic_strain", "equivalent_plastic_strain~1", "state", [0.0]),
    ]

    def __init__(
        self, young: float = 200000.0, poisson: float = 0.3, yield_stress: float = 250.0, hardening: float = 2000.0
    ) -> None:
        self.stiffness = elastic_stiffness(young, poisson)
        self.shear = young / (2 * (1 + poisson))
        self.yield_stress, self.hardening = yield_stress, hardening

    def update(self, inputs: dict[str, np.ndarray]) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Outputs and the tangent."""
        old, accumulated = inputs["plastic_strain~1"], inputs["equivalent_plastic_strain~1"]
        trial = (inputs["strain"] - old) @ self.stiffness
        deviator = trial.copy()
        deviator[:, :3] -= trial[:, :3].mean(axis=1, keepdims=True)
        norm = np.linalg.norm(deviator, axis=1)
        equivalent = np.sqrt(1.5) * norm
        excess = equivalent - self.yield_stress - self.hardening * accumulated
        increment = np.maximum(excess, 0.0) / (3 * self.shear + self.hardening)
        direction = deviator / np.where(norm > 0, norm, 1.0)[:, None]
        stress = trial - (np.sqrt(6.0) * self.shear * increment)[:, None] * direction
        plastic = old + np.sqrt(1.5) * increment[:, None] * direction
        one = np.array([1.0, 1, 1, 0, 0, 0])
        projector = np.eye(6) - np.outer(one, one) / 3
        theta = np.where(increment > 0, 3 * self.shear * increment / np.where(equivalent > 0, equivalent, 1.0), 0.0)
        slope = np.where(increment > 0, 3 * self.shear / (3 * self.shear + self.hardening), 0.0)
        outer = direction[:, :, None] * direction[:, None, :]
        tangent = self.stiffness - 2 * self.shear * (
            theta[:, None, None] * projector + (slope - theta)[:, None, None] * outer
        )
        outputs = {
            "stress": stress,
            "plastic_strain": plastic,
            "equivalent_plastic_strain": accumulated + increment,
        }
        return outputs, tangent


@dataclass
class Verdict:
    failed_rows: list[int]
    iterations: np.ndarray
    dt_factor: float = 1.0
    status: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int8))

    @property
    def ok(self) -> bool:
        return not self.failed_rows


class Batch:
    """QuadratureBatch's API."""

    fail: Callable[[np.ndarray, float], np.ndarray] | None = None

    def __init__(self, model: ElasticLaw | J2Law, n_points: int) -> None:
        self.model, self.n_points = model, n_points
        self.inputs: dict[str, np.ndarray] = {}
        self.state = {old: np.tile(initial, (n_points, 1)) for _, old, _, initial in model.state_pairs}
        for old, values in self.state.items():
            if values.shape[1] == 1:
                self.state[old] = values[:, 0]
        self.evaluated = False

    def set_input(self, name: str, values: np.ndarray | float) -> None:
        assert name in self.model.input_names
        self.inputs[name] = np.array(values, float)
        self.evaluated = False

    def evaluate(self, tangent: bool = True) -> Verdict:
        rows = np.zeros(self.n_points, bool)
        if self.fail is not None:
            rows = type(self).fail(self.inputs["strain"], float(self.inputs["t"]))
        self.outputs, self.blocks = self.model.update({**self.inputs, **self.state})
        for values in self.outputs.values():
            values[rows] = np.nan
        self.evaluated = not rows.any()
        return Verdict(np.flatnonzero(rows).tolist(), np.ones(self.n_points, int))

    def output(self, name: str) -> np.ndarray:
        return self.outputs[name]

    def tangent(self, out: str, source: str) -> np.ndarray:
        assert (out, source) in self.model.derivative_pairs
        return self.blocks[out, source] if isinstance(self.blocks, dict) else self.blocks

    def commit(self) -> None:
        assert self.evaluated
        for current, old, _, _ in self.model.state_pairs:
            self.state[old] = self.outputs[current].copy()

    def revert(self) -> None:
        self.evaluated = False
