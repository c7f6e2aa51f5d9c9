"""Models of solid mechanics."""

from matlaw.models.solid_mechanics import (
    crystal_plasticity,
    elasticity,
    kinematics,
    plasticity,
    traction_separation,
    viscoelasticity,
)
from matlaw.models.solid_mechanics.annealing import ScalarTwoStageThermalAnnealing, SR2TwoStageThermalAnnealing

__all__ = [
    "SR2TwoStageThermalAnnealing",
    "ScalarTwoStageThermalAnnealing",
    "crystal_plasticity",
    "elasticity",
    "kinematics",
    "plasticity",
    "traction_separation",
    "viscoelasticity",
]
