"""Slip in single crystals."""

from matlaw.models.solid_mechanics.crystal_plasticity.elastic_interaction import SlipSystemElasticInteraction
from matlaw.models.solid_mechanics.crystal_plasticity.fix_orientation import FixOrientation
from matlaw.models.solid_mechanics.crystal_plasticity.hardening import (
    DislocationObstacleStrengthMap,
    LinearSingleSlipHardeningRule,
    PerSlipForestDislocationEvolution,
    SingleSlipStrengthMap,
    VoceSingleSlipHardeningRule,
)
from matlaw.models.solid_mechanics.crystal_plasticity.kinematics import ElasticStrainRate, OrientationRate
from matlaw.models.solid_mechanics.crystal_plasticity.plastic_rates import (
    PlasticDeformationRate,
    PlasticSpatialVelocityGradient,
    PlasticVorticity,
)
from matlaw.models.solid_mechanics.crystal_plasticity.predictors import (
    CrystalPlasticityDeformationGradientPredictor,
    CrystalPlasticityStrainPredictor,
)
from matlaw.models.solid_mechanics.crystal_plasticity.resolved_shear import ResolvedShear
from matlaw.models.solid_mechanics.crystal_plasticity.slip_rule import PowerLawSlipRule, SumSlipRates

__all__ = [
    "CrystalPlasticityDeformationGradientPredictor",
    "CrystalPlasticityStrainPredictor",
    "DislocationObstacleStrengthMap",
    "ElasticStrainRate",
    "FixOrientation",
    "LinearSingleSlipHardeningRule",
    "OrientationRate",
    "PerSlipForestDislocationEvolution",
    "PlasticDeformationRate",
    "PlasticSpatialVelocityGradient",
    "PlasticVorticity",
    "PowerLawSlipRule",
    "ResolvedShear",
    "SingleSlipStrengthMap",
    "SlipSystemElasticInteraction",
    "SumSlipRates",
    "VoceSingleSlipHardeningRule",
]
