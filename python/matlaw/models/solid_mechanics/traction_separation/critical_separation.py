"""The separation at which damage starts."""

from __future__ import annotations

from matlaw.models.declaration import Input, Output, Parameter
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import Scalar
from matlaw.tensors.functions import sqrt, where


@register("CamanhoDavilaCriticalSeparation")
class CamanhoDavilaCriticalSeparation(Leaf):
    r"""Start of damage under a quadratic criterion of the tractions.

    .. math::
        \delta_c = \delta_n^0 \delta_s^0 \sqrt{\frac{1 + \beta^2}{(\delta_s^0)^2 + (\beta \delta_n^0)^2}}
        \text{ for } \delta_n > 0, \text{ else } \delta_s^0

    with :math:`\delta_n^0 = N / K` and :math:`\delta_s^0 = S / K`. Source: P. P. Camanho, C. G. Davila, Mixed-mode
    decohesion finite elements for the simulation of delamination in composite materials, NASA/TM-2002-211737, eq. 12.

    * ``normal_separation`` (Scalar, length): :math:`\delta_n`, of which only the sign matters
    * ``critical_separation`` (Scalar, length): :math:`\delta_c`
    * ``mode_mixity`` (Scalar, -): :math:`\beta`, parameter ``beta``
    * ``penalty_stiffness`` (Scalar, stress/length): :math:`K`, parameter ``K``
    * ``normal_strength``, ``shear_strength`` (Scalar, stress): :math:`N`, :math:`S`, parameters ``N``, ``S``
    """

    normal_separation = Input(Scalar, "normal separation (length)")
    critical_separation = Output(Scalar, "separation at the start of damage (length)")
    mode_mixity = Parameter(Scalar, "mode mixity (-)", symbol="beta")
    penalty_stiffness = Parameter(Scalar, "stiffness without damage (stress/length)", symbol="K")
    normal_strength = Parameter(Scalar, "normal strength (stress)", symbol="N")
    shear_strength = Parameter(Scalar, "shear strength (stress)", symbol="S")

    def forward(
        self,
        normal_separation: Scalar,
        mode_mixity: Scalar,
        penalty_stiffness: Scalar,
        normal_strength: Scalar,
        shear_strength: Scalar,
    ) -> Scalar:
        """The critical separation."""
        normal, shear = normal_strength / penalty_stiffness, shear_strength / penalty_stiffness
        square = mode_mixity * mode_mixity
        mixed = normal * shear * sqrt((1.0 + square) / (shear * shear + square * normal * normal))
        return where(normal_separation > 0.0, mixed, shear)
