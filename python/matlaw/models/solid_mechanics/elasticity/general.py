"""Elasticity of a rotated crystal."""

from __future__ import annotations

from matlaw.models.declaration import Input, Output, Parameter
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import MRP, SR2, SSR4


@register("GeneralElasticity")
class GeneralElasticity(Leaf):
    r"""Hooke's law with any elasticity tensor, given in axes that are rotated.

    .. math:: \sigma = R \left(C : (R^T \varepsilon R)\right) R^T

    Source: J. F. Nye, Physical Properties of Crystals, Oxford 1985, chapter 8.

    * ``strain`` (SR2, -): :math:`\varepsilon`
    * ``orientation`` (MRP): the active rotation :math:`R` from the reference to the current axes
    * ``stress`` (SR2, stress): :math:`\sigma`
    * ``elastic_stiffness_tensor`` (SSR4, stress): :math:`C` in the reference axes, parameter ``T``
    """

    strain = Input(SR2, "elastic strain (-)")
    orientation = Input(MRP, "active rotation from the reference axes")
    stress = Output(SR2, "stress (stress)")
    elastic_stiffness_tensor = Parameter(SSR4, "elasticity tensor in the reference axes (stress)", symbol="T")

    def forward(self, strain: SR2, orientation: MRP, elastic_stiffness_tensor: SSR4) -> SR2:
        """The stress."""
        R = orientation.to_R2()
        local = elastic_stiffness_tensor @ (R.T @ strain.to_R2() @ R).to_SR2()
        return (R @ local.to_R2() @ R.T).to_SR2()
