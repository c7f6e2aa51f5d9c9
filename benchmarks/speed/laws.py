"""The laws of the speed suite, and the loads that bring them to the step that is timed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

MODELS = Path(__file__).parents[2] / "examples" / "models"

Arrays = dict[str, NDArray[np.float64]]
#: The forces at a time, one row per point: name of the variable to values.
Load = Callable[[float, NDArray[np.float64]], Arrays]


def strain_path(time: float, direction: NDArray[np.float64]) -> Arrays:
    """Strain that grows linearly, at another rate and in another direction for every row, up to about 1.5 %."""
    return {"strain": time * direction, "t": np.full(len(direction), time)}


def deformation_path(time: float, direction: NDArray[np.float64]) -> Arrays:
    """A constant rate of deformation without spin, another one for every row."""
    return {
        "deformation_rate": direction,
        "vorticity": np.zeros((len(direction), 3)),
        "t": np.full(len(direction), time),
    }


@dataclass(frozen=True)
class Law:
    """One law of the suite.

    :ivar file: input file under examples/models
    :ivar load: the forces over time; a law ignores those that it has no input for
    :ivar step: time increment
    :ivar steps: how many of them lead to the step that is timed, itself included
    :ivar stress: the output that is compared
    """

    file: str
    load: Load = strain_path
    step: float = 1.0
    steps: int = 10
    stress: str = "stress"

    @property
    def by(self) -> str:
        """What the stress is differentiated by."""
        return "strain" if self.load is strain_path else "deformation_rate"

    @property
    def input(self) -> Path:
        """The input file."""
        return MODELS / f"{self.file}.i"


LAWS = {
    "linear elasticity": Law("linear_elastic", steps=1),
    "J2, closed form": Law("j2_closed_form"),
    "radial return": Law("radial_return"),
    "J2, rate independent": Law("j2_plastic"),
    "J2, viscoplastic": Law("j2_viscoplastic"),
    "Chaboche, 2 back stresses": Law("chaboche2"),
    "Chaboche, 4 back stresses": Law("chaboche4"),
    "Chaboche, 6 back stresses": Law("chaboche6"),
    "Gurson": Law("gurson"),
    "single crystal, decoupled": Law("single_crystal", deformation_path),
    "single crystal, coupled": Law("single_crystal_coupled", deformation_path),
    "Taylor polycrystal": Law("taylor_polycrystal", deformation_path, stress="mean_stress"),
}


def directions(rows: int, size: float = 1.5e-3) -> NDArray[np.float64]:
    """Mandel components of strain rates, ``(rows, 6)``: mostly shear; a few rows stay elastic."""
    random = np.random.default_rng(20261130)
    found = random.standard_normal((rows, 6))
    mean = found[:, :3].mean(axis=1, keepdims=True)
    found[:, :3] -= 0.8 * mean
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return size * random.uniform(0.02, 1.0, (rows, 1)) * found
