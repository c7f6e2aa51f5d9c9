"""How slip on one system relaxes the others."""

from __future__ import annotations

from matlaw.models.context import Context
from matlaw.models.declaration import Input, Output, Parameter
from matlaw.models.registry import register
from matlaw.models.solid_mechanics.crystal_plasticity.geometry_leaf import CrystalLeaf
from matlaw.models.variable import Variable, old
from matlaw.tensors import MRP, SR2, SSR4, Scalar
from matlaw.tensors.sub_batch import append_axis, expand_sub_batch


@register("SlipSystemElasticInteraction")
class SlipSystemElasticInteraction(CrystalLeaf):
    r"""Loss of resolved shear stress on one slip system for a slip rate on another, by elastic unloading.

    .. math:: A_{ij} = (t - t_n) \, M_i : C : M_j, \quad M_i = \mathrm{sym}(d_i \otimes n_i)

    Slip systems and stiffness turn together, so that the orientation does not matter; it tells how many crystals there
    are. Source: the return mapping of A. M. Cuitino, M. Ortiz, Computational modelling of single crystals, Model.
    Simul. Mater. Sci. Eng. 1 (1993), without the spin during the step.

    * ``orientation`` (MRP): of the crystal
    * ``time`` (Scalar, time): :math:`t`; its old value is ``<time>~1``
    * ``coupling`` (Scalar, stress time): :math:`A`, with the slip systems as the last two sub-batch axes
    * ``elastic_stiffness_tensor`` (SSR4, stress): :math:`C` in the axes of the crystal
    """

    orientation = Input(MRP, "orientation of the crystal")
    time = Input(Scalar, "time (time)", required=False, default="t")
    coupling = Output(Scalar, "coupling of the slip systems (stress time)")
    elastic_stiffness_tensor = Parameter(SSR4, "elasticity tensor in the axes of the crystal (stress)")

    def setup(self, context: Context) -> None:
        """Adds the old time."""
        super().setup(context)
        [time] = self._arguments["time"]
        self.add_input(old(str(time)), Variable(Scalar), context, "time")
        self._arguments["time_old"] = [old(str(time))]

    def forward(self, orientation: MRP, time: Scalar, time_old: Scalar, elastic_stiffness_tensor: SSR4) -> Scalar:
        """The coupling."""
        M = self.like(self.crystal.M, orientation)
        stress = append_axis(elastic_stiffness_tensor) @ M
        columns = SR2(stress.data.unsqueeze(-3), stress.sub_batch_ndim + 1)
        found = append_axis(M).inner(columns) * append_axis(append_axis(time - time_old))
        return expand_sub_batch(found, (*orientation.sub_batch_shape, *found.sub_batch_shape[-2:]))
