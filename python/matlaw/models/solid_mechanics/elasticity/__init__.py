"""Elastic laws."""

from matlaw.models.solid_mechanics.elasticity.cubic_tensor import CubicElasticityTensor
from matlaw.models.solid_mechanics.elasticity.general import GeneralElasticity
from matlaw.models.solid_mechanics.elasticity.green_lagrange import GreenLagrangeStrain
from matlaw.models.solid_mechanics.elasticity.isotropic_tensor import IsotropicElasticityTensor
from matlaw.models.solid_mechanics.elasticity.linear_isotropic import LinearIsotropicElasticity

__all__ = [
    "CubicElasticityTensor",
    "GeneralElasticity",
    "GreenLagrangeStrain",
    "IsotropicElasticityTensor",
    "LinearIsotropicElasticity",
]
