"""Phase-field models of fracture."""

from matlaw.models.phase_field_fracture.crack_geometry import CrackGeometricFunctionAT1, CrackGeometricFunctionAT2
from matlaw.models.phase_field_fracture.degradation import PowerDegradationFunction, RationalDegradationFunction
from matlaw.models.phase_field_fracture.strain_energy import LinearIsotropicStrainEnergyDensity

__all__ = [
    "CrackGeometricFunctionAT1",
    "CrackGeometricFunctionAT2",
    "LinearIsotropicStrainEnergyDensity",
    "PowerDegradationFunction",
    "RationalDegradationFunction",
]
