"""Batched assembly: arrays over all quadrature points, no loop over elements."""

from matlaw.fe.assembly.discretisation import Discretisation
from matlaw.fe.assembly.pattern import SparsePattern

__all__ = ["Discretisation", "SparsePattern"]
