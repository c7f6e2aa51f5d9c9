"""How much of the solutes is where."""

from __future__ import annotations

import math

import torch

from matlaw.models.context import Context
from matlaw.models.declaration import Input, Output, Parameter
from matlaw.models.kwn.species import SpeciesLeaf
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import Scalar
from matlaw.tensors.sub_batch import reduce_last


@register("CurrentConcentration")
class CurrentConcentration(SpeciesLeaf):
    r"""What the precipitates leave in solution.

    .. math:: x = \frac{x_0 - \sum_i f_i x_i^p}{1 - \sum_i f_i}

    Source: M. Perez, M. Dumont, D. Acevedo-Reyes, Implementation of classical nucleation and growth theories for
    precipitation, Acta Mater. 56 (2008).

    * ``precipitate_volume_fractions`` (Scalar, -): :math:`f_i`
    * ``current_concentration`` (Scalar, -): :math:`x`
    * ``initial_concentration`` (Scalar, -): :math:`x_0`, parameter ``x0``
    * ``precipitate_concentrations`` (Scalar, -): :math:`x_i^p`, parameters ``xp_0``, ``xp_1`` ...
    """

    precipitate_volume_fractions = Input(Scalar, "volume fractions of the precipitates (-)", many=True)
    current_concentration = Output(Scalar, "concentration in solution (-)")
    initial_concentration = Parameter(Scalar, "concentration without precipitates (-)", symbol="x0")
    precipitate_concentrations = Parameter(Scalar, "concentrations in the precipitates (-)", symbol="xp", many=True)

    def setup(self, context: Context) -> None:
        """Checks the number of precipitates."""
        super().setup(context)
        self.check_lengths(context, "precipitate_volume_fractions", "precipitate_concentrations")

    def forward(
        self,
        precipitate_volume_fractions: list[Scalar],
        initial_concentration: Scalar,
        precipitate_concentrations: list[Scalar],
    ) -> Scalar:
        """The concentration."""
        bound, left = initial_concentration, 1.0 - precipitate_volume_fractions[0]
        for f in precipitate_volume_fractions[1:]:
            left = left - f
        for f, x in zip(precipitate_volume_fractions, precipitate_concentrations, strict=True):
            bound = bound - f * x
        return bound / left


@register("PrecipitateVolumeFraction")
class PrecipitateVolumeFraction(Leaf):
    r"""Volume of spheres of several sizes.

    .. math:: f = \sum_i \tfrac43 \pi R_i^3 n_i

    * ``number_density`` (Scalar, 1/length^3): :math:`n_i`, with the sizes as last sub-batch axis
    * ``volume_fraction`` (Scalar, -): :math:`f`
    * ``radius`` (Scalar, length): :math:`R_i`, parameter ``R``
    """

    number_density = Input(Scalar, "number density of each size (1/length^3)")
    volume_fraction = Output(Scalar, "volume fraction (-)")
    radius = Parameter(Scalar, "radius of each size (length)", symbol="R")

    def forward(self, number_density: Scalar, radius: Scalar) -> Scalar:
        """The volume fraction."""
        volumes = (4.0 / 3.0 * math.pi) * radius * radius * radius * number_density
        return reduce_last(volumes, torch.sum, "the variable of number densities")
