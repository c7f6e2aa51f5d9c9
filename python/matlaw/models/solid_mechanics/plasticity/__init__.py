"""Yield, flow and hardening."""

from matlaw.models.solid_mechanics.plasticity.associative_flow import (
    AssociativeIsotropicPlasticHardening,
    AssociativePlasticFlow,
)
from matlaw.models.solid_mechanics.plasticity.associative_kinematic import AssociativeKinematicPlasticHardening
from matlaw.models.solid_mechanics.plasticity.back_stress import (
    ChabochePlasticHardening,
    FredrickArmstrongPlasticHardening,
)
from matlaw.models.solid_mechanics.plasticity.isotropic_hardening import (
    LinearIsotropicHardening,
    VoceIsotropicHardening,
)
from matlaw.models.solid_mechanics.plasticity.j2_flow_direction import AssociativeJ2FlowDirection
from matlaw.models.solid_mechanics.plasticity.j2_trial_stress import LinearIsotropicElasticJ2TrialStressUpdate
from matlaw.models.solid_mechanics.plasticity.kinematic_hardening import LinearKinematicHardening
from matlaw.models.solid_mechanics.plasticity.kocks_mecking import (
    KocksMeckingActivationEnergy,
    KocksMeckingFlowSwitch,
    KocksMeckingFlowViscosity,
    KocksMeckingIntercept,
    KocksMeckingRateSensitivity,
    KocksMeckingYieldStress,
)
from matlaw.models.solid_mechanics.plasticity.mandel_stress import IsotropicMandelStress
from matlaw.models.solid_mechanics.plasticity.normality import Normality
from matlaw.models.solid_mechanics.plasticity.perzyna_flow_rate import PerzynaPlasticFlowRate
from matlaw.models.solid_mechanics.plasticity.porous_plasticity import (
    GTNYieldFunction,
    GursonCavitation,
    OlevskySinteringStress,
)
from matlaw.models.solid_mechanics.plasticity.slope_saturation_voce import SlopeSaturationVoceIsotropicHardening
from matlaw.models.solid_mechanics.plasticity.static_recovery import (
    PowerLawIsotropicHardeningStaticRecovery,
    PowerLawKinematicHardeningStaticRecovery,
)
from matlaw.models.solid_mechanics.plasticity.yield_function import YieldFunction

__all__ = [
    "AssociativeIsotropicPlasticHardening",
    "AssociativeJ2FlowDirection",
    "AssociativeKinematicPlasticHardening",
    "AssociativePlasticFlow",
    "ChabochePlasticHardening",
    "FredrickArmstrongPlasticHardening",
    "GTNYieldFunction",
    "GursonCavitation",
    "IsotropicMandelStress",
    "KocksMeckingActivationEnergy",
    "KocksMeckingFlowSwitch",
    "KocksMeckingFlowViscosity",
    "KocksMeckingIntercept",
    "KocksMeckingRateSensitivity",
    "KocksMeckingYieldStress",
    "LinearIsotropicElasticJ2TrialStressUpdate",
    "LinearIsotropicHardening",
    "LinearKinematicHardening",
    "Normality",
    "OlevskySinteringStress",
    "PerzynaPlasticFlowRate",
    "PowerLawIsotropicHardeningStaticRecovery",
    "PowerLawKinematicHardeningStaticRecovery",
    "SlopeSaturationVoceIsotropicHardening",
    "VoceIsotropicHardening",
    "YieldFunction",
]
