"""Flow through porous solids."""

from matlaw.models.porous_flow.advective_stress import AdvectiveStress
from matlaw.models.porous_flow.capillary_pressure import BrooksCoreyCapillaryPressure, VanGenuchtenCapillaryPressure
from matlaw.models.porous_flow.permeability import (
    ExponentialLawPermeability,
    KozenyCarmanPermeability,
    PowerLawPermeability,
)
from matlaw.models.porous_flow.saturation import EffectiveSaturation

__all__ = [
    "AdvectiveStress",
    "BrooksCoreyCapillaryPressure",
    "EffectiveSaturation",
    "ExponentialLawPermeability",
    "KozenyCarmanPermeability",
    "PowerLawPermeability",
    "VanGenuchtenCapillaryPressure",
]
