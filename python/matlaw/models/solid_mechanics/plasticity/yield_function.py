"""The yield function of isotropic plasticity."""

from __future__ import annotations

from matlaw.models.declaration import Input, Output, Parameter
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import Scalar

_SQRT_2_3 = (2.0 / 3.0) ** 0.5


@register("YieldFunction")
class YieldFunction(Leaf):
    r"""Yield function with isotropic hardening, scaled so that its gradient by stress has unit norm for von Mises.

    .. math:: f = \sqrt{2/3} \, (\bar\sigma - \sigma_y - k)

    Source: J. C. Simo, T. J. R. Hughes, Computational Inelasticity, Springer 1998, box 3.1.

    * ``effective_stress`` (Scalar, stress): :math:`\bar\sigma`
    * ``isotropic_hardening`` (Scalar, stress, optional): :math:`k`
    * ``yield_stress`` (Scalar, stress): :math:`\sigma_y`, parameter ``sy``
    * ``yield_function`` (Scalar, stress): :math:`f`, negative inside the elastic domain
    """

    effective_stress = Input(Scalar, "effective stress (stress)")
    isotropic_hardening = Input(Scalar, "isotropic hardening (stress)", required=False)
    yield_function = Output(Scalar, "yield function (stress)")
    yield_stress = Parameter(Scalar, "yield stress (stress)", symbol="sy")

    def forward(
        self, effective_stress: Scalar, yield_stress: Scalar, isotropic_hardening: Scalar | None = None
    ) -> Scalar:
        """The yield function."""
        overstress = effective_stress - yield_stress
        if isotropic_hardening is not None:
            overstress = overstress - isotropic_hardening
        return _SQRT_2_3 * overstress
