"""Elastic laws."""

from matlaw.models.solid_mechanics.elasticity.linear_isotropic import LinearIsotropicElasticity

__all__ = ["LinearIsotropicElasticity"]
