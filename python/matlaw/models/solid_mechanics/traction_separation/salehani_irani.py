"""A coupled exponential cohesive law."""

from __future__ import annotations

import math

from matlaw.models.context import Context
from matlaw.models.declaration import Parameter
from matlaw.models.registry import register
from matlaw.models.solid_mechanics.traction_separation.cohesive import DamagingInterface, traction_vector
from matlaw.tensors import Scalar, Vec
from matlaw.tensors.functions import exp
from matlaw.tensors.limits import maximum


@register("SalehaniIraniTraction")
class SalehaniIraniTraction(DamagingInterface):
    r"""Exponential law in which normal and tangential separation share one damage.

    .. math::
        b_n = \frac{\delta_n}{\delta_n^0}, \quad b_{si} = \frac{\delta_{si}}{\sqrt2 \, \delta_t^0}, \quad
        d = \max\left(d_n, 1 - e^{-(b_n + b_{s1}^2 + b_{s2}^2)}\right)

    .. math::
        T_n = e \, \sigma_0 b_n (1 - d) + K_p \delta_p, \quad T_{si} = \sqrt{2 e} \, \tau_0 b_{si} (1 - d)

    The peak of the normal traction is :math:`\sigma_0`, that of a tangential one :math:`\tau_0`. Source: M. Khajeh
    Salehani, N. Irani, A coupled mixed-mode cohesive zone model: an extension to three-dimensional contact problems,
    arXiv:1801.03430 (2018).

    * ``normal_separation`` (Scalar, length): :math:`\delta_n`, usually its positive part
    * ``normal_penetration`` (Scalar, length, optional): :math:`\delta_p`, the negative part
    * ``tangential_separation_1``, ``tangential_separation_2`` (Scalar, length): :math:`\delta_{si}`
    * ``traction`` (Vec, stress): :math:`(T_n, T_{s1}, T_{s2})`
    * ``damage`` (Scalar, -): :math:`d`; its old value :math:`d_n` is ``<damage>~1``
    * ``normal_characteristic_length``, ``tangential_characteristic_length`` (Scalar, length): :math:`\delta_n^0`,
      :math:`\delta_t^0`, parameters ``delta_u0_n``, ``delta_u0_t``
    * ``normal_strength``, ``shear_strength`` (Scalar, stress): :math:`\sigma_0`, :math:`\tau_0`, parameters ``Tmax_n``,
      ``Tmax_t``
    * ``penalty_stiffness`` (Scalar, stress/length): :math:`K_p`, parameter ``Kpen``; only needed with a penetration
    """

    normal_characteristic_length = Parameter(Scalar, "normal length (length)", symbol="delta_u0_n")
    tangential_characteristic_length = Parameter(Scalar, "tangential length (length)", symbol="delta_u0_t")
    normal_strength = Parameter(Scalar, "peak of the normal traction (stress)", symbol="Tmax_n")
    shear_strength = Parameter(Scalar, "peak of the tangential traction (stress)", symbol="Tmax_t")
    penalty_stiffness = Parameter(
        Scalar, "stiffness against penetration (stress/length)", symbol="Kpen", required=False, default="0"
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
        old_damage: Scalar,
        normal_characteristic_length: Scalar,
        tangential_characteristic_length: Scalar,
        normal_strength: Scalar,
        shear_strength: Scalar,
        penalty_stiffness: Scalar,
        normal_penetration: Scalar | None = None,
    ) -> tuple[Vec, Scalar]:
        """The traction and the damage."""
        length = math.sqrt(2.0) * tangential_characteristic_length
        opening = normal_separation / normal_characteristic_length
        slip_1, slip_2 = tangential_separation_1 / length, tangential_separation_2 / length
        damage = maximum(1.0 - exp(-(opening + slip_1 * slip_1 + slip_2 * slip_2)), old_damage)
        normal = math.e * normal_strength * opening * (1.0 - damage)
        shear = math.sqrt(2.0 * math.e) * shear_strength * (1.0 - damage)
        if normal_penetration is not None:
            normal = normal + penalty_stiffness * normal_penetration
        return traction_vector(normal, shear * slip_1, shear * slip_2), damage
