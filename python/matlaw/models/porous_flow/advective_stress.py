"""Stress that drives a fluid through a swelling solid."""

from __future__ import annotations

from matlaw.models.declaration import Input, Output, Parameter
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import R2, Scalar


@register("AdvectiveStress")
class AdvectiveStress(Leaf):
    r"""Energy conjugate of a swelling of the solid.

    .. math:: p_s = -\frac{c}{3 J_s^{5/3} J_t^{2/3}} P : F

    Source: the derivative of the energy of :math:`F_e = (J_s J_t)^{-1/3} F` by :math:`J_s`, e.g. O. Coussy,
    Poromechanics, Wiley 2004, chapter 3.

    * ``js``, ``jt`` (Scalar, -, optional): volume ratios of swelling and of thermal expansion, 1 when not given
    * ``deformation_gradient`` (R2, -): :math:`F`
    * ``pk1_stress`` (R2, stress): first Piola-Kirchhoff stress :math:`P`
    * ``advective_stress`` (Scalar, stress): :math:`p_s`
    * ``coefficient`` (Scalar, -): :math:`c`, parameter ``coeff``
    """

    js = Input(Scalar, "volume ratio of swelling and phase change (-)", required=False)
    jt = Input(Scalar, "volume ratio of thermal expansion (-)", required=False)
    deformation_gradient = Input(R2, "deformation gradient (-)")
    pk1_stress = Input(R2, "first Piola-Kirchhoff stress (stress)")
    advective_stress = Output(Scalar, "advective stress (stress)")
    coefficient = Parameter(Scalar, "coefficient (-)", symbol="coeff")

    def forward(
        self,
        deformation_gradient: R2,
        pk1_stress: R2,
        coefficient: Scalar,
        js: Scalar | None = None,
        jt: Scalar | None = None,
    ) -> Scalar:
        """The advective stress."""
        stress = -coefficient / 3.0 * pk1_stress.inner(deformation_gradient)
        if js is not None:
            stress = stress * js ** (-5.0 / 3.0)
        if jt is not None:
            stress = stress * jt ** (-2.0 / 3.0)
        return stress
