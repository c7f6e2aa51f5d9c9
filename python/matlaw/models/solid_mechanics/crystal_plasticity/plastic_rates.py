"""Plastic flow as the sum of the slip on all systems."""

from __future__ import annotations

import torch

from matlaw.models.declaration import Input, Output
from matlaw.models.registry import register
from matlaw.models.solid_mechanics.crystal_plasticity.geometry_leaf import CrystalLeaf
from matlaw.tensors import R2, SR2, WR2, Scalar
from matlaw.tensors.sub_batch import reduce_last


class SlipSum(CrystalLeaf):
    """A model with the orientation and the slip rates as inputs."""

    orientation_matrix = Input(R2, "rotation from the crystal to the laboratory (-)")
    slip_rates = Input(Scalar, "slip rates (1/time)")

    def velocity_gradient(self, slip_rates: Scalar) -> R2:
        """``sum_i slip_rate_i d_i (x) n_i`` in the axes of the crystal."""
        return reduce_last(self.like(self.crystal.A, slip_rates) * slip_rates, torch.sum, "the variable of slip rates")


@register("PlasticDeformationRate")
class PlasticDeformationRate(SlipSum):
    r"""Rate of plastic deformation.

    .. math:: d^p = \sum_i \dot\gamma_i \, Q \, \mathrm{sym}(d_i \otimes n_i) \, Q^T

    Source: R. J. Asaro, Crystal plasticity, J. Appl. Mech. 50 (1983), section 2.

    * ``orientation_matrix`` (R2, -): :math:`Q`, from the axes of the crystal to those of the laboratory
    * ``slip_rates`` (Scalar, 1/time): :math:`\dot\gamma_i`, with the slip systems as last sub-batch axis
    * ``plastic_deformation_rate`` (SR2, 1/time): :math:`d^p`
    """

    plastic_deformation_rate = Output(SR2, "rate of plastic deformation (1/time)")

    def forward(self, orientation_matrix: R2, slip_rates: Scalar) -> SR2:
        """The rate."""
        return (orientation_matrix @ self.velocity_gradient(slip_rates) @ orientation_matrix.T).to_SR2()


@register("PlasticVorticity")
class PlasticVorticity(SlipSum):
    r"""Plastic spin.

    .. math:: w^p = \sum_i \dot\gamma_i \, Q \, \mathrm{skew}(d_i \otimes n_i) \, Q^T

    Source: R. J. Asaro, Crystal plasticity, J. Appl. Mech. 50 (1983), section 2.

    * ``orientation_matrix`` (R2, -): :math:`Q`, from the axes of the crystal to those of the laboratory
    * ``slip_rates`` (Scalar, 1/time): :math:`\dot\gamma_i`, with the slip systems as last sub-batch axis
    * ``plastic_vorticity`` (WR2, 1/time): :math:`w^p`
    """

    plastic_vorticity = Output(WR2, "plastic spin (1/time)")

    def forward(self, orientation_matrix: R2, slip_rates: Scalar) -> WR2:
        """The spin."""
        return WR2.from_R2(orientation_matrix @ self.velocity_gradient(slip_rates) @ orientation_matrix.T)


@register("PlasticSpatialVelocityGradient")
class PlasticSpatialVelocityGradient(SlipSum):
    r"""Plastic part of the velocity gradient.

    .. math:: l^p = \sum_i \dot\gamma_i \, Q \, (d_i \otimes n_i) \, Q^T

    Source: R. J. Asaro, Crystal plasticity, J. Appl. Mech. 50 (1983), section 2.

    * ``orientation_matrix`` (R2, -): :math:`Q`, from the axes of the crystal to those of the laboratory
    * ``slip_rates`` (Scalar, 1/time): :math:`\dot\gamma_i`, with the slip systems as last sub-batch axis
    * ``plastic_spatial_velocity_gradient`` (R2, 1/time): :math:`l^p`
    """

    plastic_spatial_velocity_gradient = Output(R2, "plastic velocity gradient (1/time)")

    def forward(self, orientation_matrix: R2, slip_rates: Scalar) -> R2:
        """The velocity gradient."""
        return orientation_matrix @ self.velocity_gradient(slip_rates) @ orientation_matrix.T
