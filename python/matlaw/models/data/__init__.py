"""Data that several models share."""

from matlaw.models.data.crystal_geometry import CrystalGeometry
from matlaw.models.data.cubic_crystal import CubicCrystal

__all__ = ["CrystalGeometry", "CubicCrystal"]
