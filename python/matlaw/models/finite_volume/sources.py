"""Sources in cells."""

from __future__ import annotations

import math

import torch

from matlaw.models.declaration import Input, Output, Parameter
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import Scalar
from matlaw.tensors.functions import exp
from matlaw.tensors.sub_batch import append_axis, require_sub_batch


@register("DumpInSmallestBin")
class DumpInSmallestBin(Leaf):
    r"""A source in the first cell and nothing in the others.

    * ``magnitude`` (Scalar, any unit): the source
    * ``dumped_source`` (Scalar): the source of each cell, with the cells as last sub-batch axis
    * ``cell_centers`` (Scalar, length): centres of the cells, the smallest first
    """

    magnitude = Input(Scalar, "the source")
    dumped_source = Output(Scalar, "the source of each cell", required=False, default="state/dumped_source")
    cell_centers = Parameter(Scalar, "centres of the cells, the smallest first (length)")

    def forward(self, magnitude: Scalar, cell_centers: Scalar) -> Scalar:
        """The sources."""
        require_sub_batch(cell_centers, "'cell_centers'")
        first = [[1.0 if cell == 0 else 0.0] for cell in range(cell_centers.sub_batch_shape[-1])]
        weights = Scalar(torch.tensor(first, dtype=magnitude.dtype, device=magnitude.device), 1)
        return append_axis(magnitude) * weights


@register("SmearedDeltaSource")
class SmearedDeltaSource(Leaf):
    r"""A point source spread over the cells by a normal distribution.

    .. math:: s_k = \frac{m}{w \sqrt{2 \pi}} \exp\left(-\frac12 \left(\frac{x_k - l}{w}\right)^2\right)

    * ``magnitude`` (Scalar, any unit): :math:`m`
    * ``location`` (Scalar, length): :math:`l`
    * ``smeared_source`` (Scalar, unit/length): :math:`s`, with the cells as last sub-batch axis
    * ``width`` (Scalar, length): standard deviation :math:`w`
    * ``cell_centers`` (Scalar, length): :math:`x_k`
    """

    magnitude = Input(Scalar, "the source")
    location_ = Input(Scalar, "where it is (length)")
    smeared_source = Output(
        Scalar, "density of the source in each cell", required=False, default="state/smeared_source"
    )
    width = Parameter(Scalar, "standard deviation (length)")
    cell_centers = Parameter(Scalar, "centres of the cells (length)")

    def forward(self, magnitude: Scalar, location_: Scalar, width: Scalar, cell_centers: Scalar) -> Scalar:
        """The sources."""
        require_sub_batch(cell_centers, "'cell_centers'")
        width = append_axis(width)
        distance = (cell_centers - append_axis(location_)) / width
        return append_axis(magnitude) / (math.sqrt(2.0 * math.pi) * width) * exp(-0.5 * distance * distance)
