"""The flow direction of von Mises plasticity in closed form."""

from __future__ import annotations

from matlaw.models.declaration import Input, Output
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import SR2


@register("AssociativeJ2FlowDirection")
class AssociativeJ2FlowDirection(Leaf):
    r"""Gradient of the von Mises stress.

    .. math:: N = \frac{\partial \bar\sigma}{\partial M} = \sqrt{\tfrac32} \frac{s}{\lVert s \rVert}

    with the deviator :math:`s` of the Mandel stress. Where the deviator is zero, or its norm below 3e-12, direction and
    derivatives are zero.
    Source: J. C. Simo, T. J. R. Hughes, Computational Inelasticity, Springer 1998, section 2.3.

    * ``mandel_stress`` (SR2, stress): :math:`M`
    * ``flow_direction`` (SR2, -): :math:`N`
    """

    mandel_stress = Input(SR2, "Mandel stress (stress)")
    flow_direction = Output(SR2, "flow direction (-)")

    def forward(self, mandel_stress: SR2) -> SR2:
        """The flow direction."""
        # Three times the deviator: equal components on the diagonal add up to what three times one of them is rounded
        # to, so that a hydrostatic stress leaves exactly nothing.
        deviator = (3.0 * mandel_stress).add_spherical(-mandel_stress.trace())
        return 1.5**0.5 * deviator.inverse_norm() * deviator
