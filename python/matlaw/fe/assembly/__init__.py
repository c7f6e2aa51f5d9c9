"""Batched assembly: arrays over all quadrature points, no loop over elements."""

from matlaw.fe.assembly.pattern import SparsePattern
from matlaw.fe.assembly.points import SidePoints, VolumePoints
from matlaw.fe.assembly.unknowns import Unknowns, Variable

__all__ = ["SidePoints", "SparsePattern", "Unknowns", "Variable", "VolumePoints"]
