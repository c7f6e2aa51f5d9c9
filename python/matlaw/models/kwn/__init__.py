"""Precipitation by size classes (Kampmann and Wagner, numerical): growth, nucleation, balance of solutes."""

from matlaw.models.kwn.composition import CurrentConcentration, PrecipitateVolumeFraction
from matlaw.models.kwn.driving_force import ChemicalGibbsFreeEnergyDifference, IdealSolutionVolumetricDrivingForce
from matlaw.models.kwn.growth import (
    ProjectedDiffusivitySum,
    RateLimitedPrecipitateGrowthRate,
    SFFKPrecipitationGrowthRate,
)
from matlaw.models.kwn.nucleation import (
    KineticFactor,
    NucleationBarrierAndCriticalRadius,
    NucleationFluxMagnitude,
    ZeldovichFactor,
)

__all__ = [
    "ChemicalGibbsFreeEnergyDifference",
    "CurrentConcentration",
    "IdealSolutionVolumetricDrivingForce",
    "KineticFactor",
    "NucleationBarrierAndCriticalRadius",
    "NucleationFluxMagnitude",
    "PrecipitateVolumeFraction",
    "ProjectedDiffusivitySum",
    "RateLimitedPrecipitateGrowthRate",
    "SFFKPrecipitationGrowthRate",
    "ZeldovichFactor",
]
