"""Reactions."""

from matlaw.models.chemical_reactions.channel import CylindricalChannelGeometry, DiffusionLimitedReaction
from matlaw.models.chemical_reactions.effective_volume import EffectiveVolume
from matlaw.models.chemical_reactions.kinetics import AvramiErofeevNucleation, ContractingGeometry

__all__ = [
    "AvramiErofeevNucleation",
    "ContractingGeometry",
    "CylindricalChannelGeometry",
    "DiffusionLimitedReaction",
    "EffectiveVolume",
]
