"""Saturation of the pore space."""

from __future__ import annotations

from matlaw.models.declaration import Input, Output, Parameter
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import Scalar


@register("EffectiveSaturation")
class EffectiveSaturation(Leaf):
    r"""Saturation without the part that does not flow.

    .. math:: S = \frac{\phi / \phi_{max} - S_r}{1 - S_r}

    Source: R. H. Brooks, A. T. Corey, Hydraulic properties of porous media, Hydrology Paper 3, Colorado State
    University 1964.

    * ``fluid_fraction`` (Scalar, -): :math:`\phi`
    * ``effective_saturation`` (Scalar, -): :math:`S`
    * ``residual_saturation`` (Scalar, -): :math:`S_r`, parameter ``Sr``
    * ``max_fraction`` (Scalar, -): :math:`\phi_{max}`, parameter ``phi_max``
    """

    fluid_fraction = Input(Scalar, "volume fraction of the fluid (-)")
    effective_saturation = Output(Scalar, "effective saturation (-)")
    residual_saturation = Parameter(Scalar, "saturation that does not flow (-)", symbol="Sr")
    max_fraction = Parameter(Scalar, "largest fraction of the fluid (-)", symbol="phi_max")

    def forward(self, fluid_fraction: Scalar, residual_saturation: Scalar, max_fraction: Scalar) -> Scalar:
        """The effective saturation."""
        return (fluid_fraction / max_fraction - residual_saturation) / (1.0 - residual_saturation)
