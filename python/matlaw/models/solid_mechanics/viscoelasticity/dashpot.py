"""The dashpot."""

from __future__ import annotations

from matlaw.models.declaration import Input, Output, Parameter
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import SR2, Scalar


@register("LinearDashpot")
class LinearDashpot(Leaf):
    r"""Newtonian dashpot.

    .. math:: \dot\varepsilon_v = \sigma / \eta

    Source: W. N. Findley, J. S. Lai, K. Onaran, Creep and Relaxation of Nonlinear Viscoelastic Materials, Dover 1989,
    section 5.2.

    * ``stress`` (SR2, stress): :math:`\sigma`
    * ``viscous_strain_rate`` (SR2, 1/time): :math:`\dot\varepsilon_v`
    * ``viscosity`` (Scalar, stress time): :math:`\eta`, parameter ``eta``
    """

    stress = Input(SR2, "stress (stress)")
    viscous_strain_rate = Output(SR2, "rate of viscous strain (1/time)")
    viscosity = Parameter(Scalar, "viscosity (stress time)", symbol="eta")

    def forward(self, stress: SR2, viscosity: Scalar) -> SR2:
        """The rate of viscous strain."""
        return stress / viscosity
