"""A law of matlaw as a material of FElupe, for small strains.

    law = matlaw.load_model("aoti/model_aoti.i", "model")
    material = SmallStrainLaw(law)
    solid = felupe.SolidBody(material, field)

FElupe keeps the state variables and hands over the old ones at every call, so the batch is given its state each time
and `commit` is never called. A law with time takes `material.time`, which the host moves on before each step.
"""

from __future__ import annotations

from typing import Any

import felupe
import numpy as np
from mandel import components, fourth_order_tensor, tensor

import matlaw


class SmallStrainLaw(felupe.ConstitutiveMaterial):
    """Stress and tangent of a law whose inputs are the strain, the time and old variables.

    :ivar time: time at the end of the step
    """

    def __init__(self, law: Any, strain: str = "strain", stress: str = "stress") -> None:
        self.law, self.strain, self.stress = law, strain, stress
        self.time = 0.0
        self.batch = matlaw.QuadratureBatch(law, 0)
        self.current = {old: current for current, old, *_ in law.state_pairs}
        self.sizes = {old: int(np.prod(self.batch.shape(old))) for old in self.current}
        # FElupe starts from zeros: what is kept is the difference from the law's initial state.
        self.initial = {old: np.ravel(initial)[:, None] for _, old, _, initial in law.state_pairs}
        self.x = [np.eye(3), np.zeros(sum(self.sizes.values()))]

    def _evaluate(self, x: list[np.ndarray], tangent: bool) -> tuple[int, ...]:
        gradient, old = x[0], x[-1]
        points = gradient.shape[2:]
        if self.batch.n_points != int(np.prod(points)):
            self.batch.resize(int(np.prod(points)))
        start = 0
        for name, size in self.sizes.items():
            values = old[start : start + size].reshape(size, -1) + self.initial[name]
            self.batch.set_state(name, values.T.reshape(-1, *self.batch.shape(name)))
            start += size
        self.batch.set_input(self.strain, components(gradient) - components(np.eye(3)))
        if "t" in self.batch.input_names:
            self.batch.set_input("t", self.time)
        verdict = self.batch.evaluate(tangent)
        if not verdict.ok:
            raise matlaw.ConvergenceError(f"the law failed at {len(verdict.failed_rows)} points", verdict.failed_rows)
        return points

    def gradient(self, x: list[np.ndarray]) -> list[np.ndarray]:
        """Return the stress and the new state variables."""
        points = self._evaluate(x, tangent=False)
        inputs = {self.strain: components(x[0]) - components(np.eye(3)), "t": np.full(self.batch.n_points, self.time)}
        new = [
            np.reshape(inputs[now] if now in inputs else self.batch.output(now), (-1, self.sizes[old])).T
            - self.initial[old]
            for old, now in self.current.items()
        ]
        state = np.concatenate(new).reshape(-1, *points) if new else np.zeros((0, *points))
        return [tensor(self.batch.output(self.stress), points), state]

    def hessian(self, x: list[np.ndarray]) -> list[np.ndarray]:
        """Return the derivative of the stress by the displacement gradient."""
        points = self._evaluate(x, tangent=True)
        return [fourth_order_tensor(self.batch.tangent(self.stress, self.strain), points)]
