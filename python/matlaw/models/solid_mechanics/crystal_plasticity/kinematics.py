"""Rates of the elastic strain and of the orientation of a crystal."""

from __future__ import annotations

from matlaw.models.declaration import Input, Output
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import SR2, WR2


@register("ElasticStrainRate")
class ElasticStrainRate(Leaf):
    r"""Rate of the elastic strain in a frame that does not spin.

    .. math:: \dot\varepsilon = d - d^p - \varepsilon w + w \varepsilon

    Source: P. R. Dawson, E. B. Marin, Computational mechanics for metal deformation processes using polycrystal
    plasticity, Adv. Appl. Mech. 34 (1997), for small elastic strains.

    * ``elastic_strain`` (SR2, -): :math:`\varepsilon`
    * ``deformation_rate`` (SR2, 1/time): :math:`d`
    * ``vorticity`` (WR2, 1/time): :math:`w`
    * ``plastic_deformation_rate`` (SR2, 1/time): :math:`d^p`
    * ``elastic_strain_rate`` (SR2, 1/time): :math:`\dot\varepsilon`
    """

    elastic_strain = Input(SR2, "elastic strain (-)")
    deformation_rate = Input(SR2, "deformation rate (1/time)")
    vorticity = Input(WR2, "spin (1/time)")
    plastic_deformation_rate = Input(SR2, "rate of plastic deformation (1/time)")
    elastic_strain_rate = Output(SR2, "rate of the elastic strain (1/time)")

    def forward(self, elastic_strain: SR2, deformation_rate: SR2, vorticity: WR2, plastic_deformation_rate: SR2) -> SR2:
        """The rate."""
        # The product with the strain on the other side is its transpose: twice the symmetric part is their sum.
        turn = 2.0 * (vorticity.to_R2() @ elastic_strain.to_R2()).to_SR2()
        return deformation_rate - plastic_deformation_rate + turn


@register("OrientationRate")
class OrientationRate(Leaf):
    r"""Spin of the lattice.

    .. math:: \Omega = w - w^p - \varepsilon d^p + d^p \varepsilon

    Source: as for :class:`ElasticStrainRate`.

    * ``elastic_strain`` (SR2, -): :math:`\varepsilon`
    * ``vorticity`` (WR2, 1/time): :math:`w`
    * ``plastic_deformation_rate`` (SR2, 1/time): :math:`d^p`
    * ``plastic_vorticity`` (WR2, 1/time): :math:`w^p`
    * ``orientation_rate`` (WR2, 1/time): :math:`\Omega`
    """

    elastic_strain = Input(SR2, "elastic strain (-)")
    vorticity = Input(WR2, "spin (1/time)")
    plastic_deformation_rate = Input(SR2, "rate of plastic deformation (1/time)")
    plastic_vorticity = Input(WR2, "plastic spin (1/time)")
    orientation_rate = Output(WR2, "spin of the lattice (1/time)")

    def forward(
        self, elastic_strain: SR2, vorticity: WR2, plastic_deformation_rate: SR2, plastic_vorticity: WR2
    ) -> WR2:
        """The spin."""
        turn = 2.0 * WR2.from_R2(plastic_deformation_rate.to_R2() @ elastic_strain.to_R2())
        return vorticity - plastic_vorticity + turn
