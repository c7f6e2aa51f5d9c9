"""Laws of interfaces: tractions from separations."""

from matlaw.models.solid_mechanics.traction_separation.bilinear import BilinearTraction
from matlaw.models.solid_mechanics.traction_separation.critical_separation import CamanhoDavilaCriticalSeparation
from matlaw.models.solid_mechanics.traction_separation.full_separation import (
    BenzeggaghKenaneFullSeparation,
    PowerLawFullSeparation,
)
from matlaw.models.solid_mechanics.traction_separation.mode_mixity import ModeMixity
from matlaw.models.solid_mechanics.traction_separation.orthotropic import OrthotropicLinearTraction
from matlaw.models.solid_mechanics.traction_separation.salehani_irani import SalehaniIraniTraction

__all__ = [
    "BenzeggaghKenaneFullSeparation",
    "BilinearTraction",
    "CamanhoDavilaCriticalSeparation",
    "ModeMixity",
    "OrthotropicLinearTraction",
    "PowerLawFullSeparation",
    "SalehaniIraniTraction",
]
