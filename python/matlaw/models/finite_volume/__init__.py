"""Transport between cells in one dimension; cells and edges are the last sub-batch axis."""

from matlaw.models.finite_volume.boundary_condition import FiniteVolumeAppendBoundaryCondition
from matlaw.models.finite_volume.coordinates import SemiInfiniteCoordinateTransform
from matlaw.models.finite_volume.edges import (
    FiniteVolumeGradient,
    FiniteVolumeUpwindedAdvectiveFlux,
    LinearlyInterpolateToCellEdges,
)
from matlaw.models.finite_volume.sources import DumpInSmallestBin, SmearedDeltaSource

__all__ = [
    "DumpInSmallestBin",
    "FiniteVolumeAppendBoundaryCondition",
    "FiniteVolumeGradient",
    "FiniteVolumeUpwindedAdvectiveFlux",
    "LinearlyInterpolateToCellEdges",
    "SemiInfiniteCoordinateTransform",
    "SmearedDeltaSource",
]
