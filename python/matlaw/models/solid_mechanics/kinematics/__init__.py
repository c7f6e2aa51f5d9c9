"""Eigenstrains and volume ratios."""

from matlaw.models.solid_mechanics.kinematics.deformation_jacobian import (
    SwellingAndPhaseChangeDeformationJacobian,
    ThermalDeformationJacobian,
    VolumeAdjustDeformationGradient,
)
from matlaw.models.solid_mechanics.kinematics.eigenstrain import (
    PhaseTransformationEigenstrain,
    ThermalEigenstrain,
    VolumeChangeEigenstrain,
)

__all__ = [
    "PhaseTransformationEigenstrain",
    "SwellingAndPhaseChangeDeformationJacobian",
    "ThermalDeformationJacobian",
    "ThermalEigenstrain",
    "VolumeAdjustDeformationGradient",
    "VolumeChangeEigenstrain",
]
