"""Strain of large deformation."""

from __future__ import annotations

from matlaw.models.declaration import Input, Output
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import R2, SR2


@register("GreenLagrangeStrain")
class GreenLagrangeStrain(Leaf):
    r"""Green-Lagrange strain.

    .. math:: E = \tfrac12 (F^T F - I)

    Source: G. A. Holzapfel, Nonlinear Solid Mechanics, Wiley 2000, section 2.5.

    * ``deformation_gradient`` (R2, -): :math:`F`
    * ``strain`` (SR2, -): :math:`E`
    """

    deformation_gradient = Input(R2, "deformation gradient (-)")
    strain = Output(SR2, "Green-Lagrange strain (-)")

    def forward(self, deformation_gradient: R2) -> SR2:
        """The strain."""
        C = (deformation_gradient.T @ deformation_gradient).to_SR2()
        return 0.5 * (C - SR2.identity(dtype=C.dtype, device=C.device))
