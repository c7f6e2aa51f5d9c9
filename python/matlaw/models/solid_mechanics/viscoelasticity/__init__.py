"""Springs and dashpots."""

from matlaw.models.solid_mechanics.viscoelasticity.burgers import BurgersElement
from matlaw.models.solid_mechanics.viscoelasticity.dashpot import LinearDashpot
from matlaw.models.solid_mechanics.viscoelasticity.kelvin_voigt import KelvinVoigtElement
from matlaw.models.solid_mechanics.viscoelasticity.wiechert import WiechertElement
from matlaw.models.solid_mechanics.viscoelasticity.zener import ZenerElement

__all__ = ["BurgersElement", "KelvinVoigtElement", "LinearDashpot", "WiechertElement", "ZenerElement"]
