"""Shear stresses on slip systems."""

from __future__ import annotations

from matlaw.models.declaration import Input, Output
from matlaw.models.registry import register
from matlaw.models.solid_mechanics.crystal_plasticity.geometry_leaf import CrystalLeaf
from matlaw.tensors import R2, SR2, Scalar
from matlaw.tensors.sub_batch import append_axis


@register("ResolvedShear")
class ResolvedShear(CrystalLeaf):
    r"""Shear stress on each slip system.

    .. math:: \tau_i = \sigma : Q \, \mathrm{sym}(d_i \otimes n_i) \, Q^T

    Source: U. F. Kocks, C. N. Tome, H.-R. Wenk, Texture and Anisotropy, Cambridge 1998, chapter 8. The stress is
    rotated to the axes of the crystal once, instead of every slip system to those of the laboratory.

    * ``stress`` (SR2, stress): :math:`\sigma`
    * ``orientation_matrix`` (R2, -): :math:`Q`, from the axes of the crystal to those of the laboratory
    * ``resolved_shears`` (Scalar, stress): :math:`\tau_i`, with the slip systems as last sub-batch axis
    """

    stress = Input(SR2, "stress (stress)")
    orientation_matrix = Input(R2, "rotation from the crystal to the laboratory (-)")
    resolved_shears = Output(Scalar, "resolved shear stresses (stress)")

    def forward(self, stress: SR2, orientation_matrix: R2) -> Scalar:
        """The shear stresses."""
        local = (orientation_matrix.T @ stress.to_R2() @ orientation_matrix).to_SR2()
        return append_axis(local).inner(self.like(self.crystal.M, stress))
