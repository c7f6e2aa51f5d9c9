"""An elastic interface."""

from __future__ import annotations

from matlaw.models.context import Context
from matlaw.models.declaration import Parameter
from matlaw.models.registry import register
from matlaw.models.solid_mechanics.traction_separation.cohesive import Interface, traction_vector
from matlaw.tensors import Scalar, Vec


@register("OrthotropicLinearTraction")
class OrthotropicLinearTraction(Interface):
    r"""Tractions that are linear in the separations.

    .. math:: T_n = K_n \delta_n + K_p \delta_p, \quad T_{si} = K_t \delta_{si}

    Source: the elastic part of P. P. Camanho, C. G. Davila, NASA/TM-2002-211737, section 2.

    * ``normal_separation`` (Scalar, length): :math:`\delta_n`, usually its positive part
    * ``normal_penetration`` (Scalar, length, optional): :math:`\delta_p`, the negative part
    * ``tangential_separation_1``, ``tangential_separation_2`` (Scalar, length): :math:`\delta_{si}`
    * ``traction`` (Vec, stress): :math:`(T_n, T_{s1}, T_{s2})`
    * ``normal_stiffness``, ``tangential_stiffness``, ``penalty_stiffness`` (Scalar, stress/length): :math:`K_n`,
      :math:`K_t`, :math:`K_p`, parameters ``Kn``, ``Kt``, ``Kpen``; the last is only needed with a penetration
    """

    normal_stiffness = Parameter(Scalar, "normal stiffness (stress/length)", symbol="Kn")
    tangential_stiffness = Parameter(Scalar, "tangential stiffness (stress/length)", symbol="Kt")
    penalty_stiffness = Parameter(
        Scalar, "stiffness against penetration (stress/length)", symbol="Kpen", required=False, default="0.0"
    )

    def setup(self, context: Context) -> None:
        """Checks that penetration is resisted."""
        super().setup(context)
        self.require_penalty(context)

    def forward(
        self,
        normal_separation: Scalar,
        tangential_separation_1: Scalar,
        tangential_separation_2: Scalar,
        normal_stiffness: Scalar,
        tangential_stiffness: Scalar,
        penalty_stiffness: Scalar,
        normal_penetration: Scalar | None = None,
    ) -> Vec:
        """The traction."""
        normal = normal_stiffness * normal_separation
        if normal_penetration is not None:
            normal = normal + penalty_stiffness * normal_penetration
        return traction_vector(
            normal, tangential_stiffness * tangential_separation_1, tangential_stiffness * tangential_separation_2
        )
