"""Yield, flow and hardening."""

from matlaw.models.solid_mechanics.plasticity.associative_flow import (
    AssociativeIsotropicPlasticHardening,
    AssociativePlasticFlow,
)
from matlaw.models.solid_mechanics.plasticity.isotropic_hardening import (
    LinearIsotropicHardening,
    VoceIsotropicHardening,
)
from matlaw.models.solid_mechanics.plasticity.mandel_stress import IsotropicMandelStress
from matlaw.models.solid_mechanics.plasticity.normality import Normality
from matlaw.models.solid_mechanics.plasticity.perzyna_flow_rate import PerzynaPlasticFlowRate
from matlaw.models.solid_mechanics.plasticity.yield_function import YieldFunction

__all__ = [
    "AssociativeIsotropicPlasticHardening",
    "AssociativePlasticFlow",
    "IsotropicMandelStress",
    "LinearIsotropicHardening",
    "Normality",
    "PerzynaPlasticFlowRate",
    "VoceIsotropicHardening",
    "YieldFunction",
]
