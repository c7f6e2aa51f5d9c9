"""The bilinear cohesive law."""

from __future__ import annotations

from matlaw.models.declaration import Input, Parameter
from matlaw.models.registry import register
from matlaw.models.solid_mechanics.traction_separation.cohesive import DamagingInterface, traction_vector
from matlaw.tensors import Scalar, Vec
from matlaw.tensors.functions import where
from matlaw.tensors.limits import clamp, maximum


@register("BilinearTraction")
class BilinearTraction(DamagingInterface):
    r"""Elastic up to a critical separation, then softening to a full separation.

    .. math::
        d = \max\left(d_n, \frac{\delta_f (\delta_m - \delta_c)}{\delta_m (\delta_f - \delta_c)}\right), \quad
        T_n = (1 - d) K \delta_n + K \delta_p, \quad T_{si} = (1 - d) K \delta_{si}

    with the damage kept between 0 and 1. Source: P. P. Camanho, C. G. Davila, Mixed-mode decohesion finite elements for
    the simulation of delamination in composite materials, NASA/TM-2002-211737, eq. 20.

    * ``effective_separation`` (Scalar, length): :math:`\delta_m`
    * ``normal_separation`` (Scalar, length): :math:`\delta_n`, usually its positive part
    * ``normal_penetration`` (Scalar, length, optional): :math:`\delta_p`, the negative part
    * ``tangential_separation_1``, ``tangential_separation_2`` (Scalar, length): :math:`\delta_{si}`
    * ``traction`` (Vec, stress): :math:`(T_n, T_{s1}, T_{s2})`
    * ``damage`` (Scalar, -): :math:`d`; its old value :math:`d_n` is ``<damage>~1``
    * ``penalty_stiffness`` (Scalar, stress/length): :math:`K`, parameter ``K``
    * ``critical_separation``, ``full_separation`` (Scalar, length): :math:`\delta_c`, :math:`\delta_f`, parameters
      ``delta_c``, ``delta_f``
    """

    effective_separation = Input(Scalar, "effective separation (length)")
    penalty_stiffness = Parameter(Scalar, "stiffness without damage (stress/length)", symbol="K")
    critical_separation = Parameter(Scalar, "separation at the start of damage (length)", symbol="delta_c")
    full_separation = Parameter(Scalar, "separation at failure (length)", symbol="delta_f")

    def forward(
        self,
        effective_separation: Scalar,
        normal_separation: Scalar,
        tangential_separation_1: Scalar,
        tangential_separation_2: Scalar,
        old_damage: Scalar,
        penalty_stiffness: Scalar,
        critical_separation: Scalar,
        full_separation: Scalar,
        normal_penetration: Scalar | None = None,
    ) -> tuple[Vec, Scalar]:
        """The traction and the damage."""
        overshoot = effective_separation - critical_separation
        separation = where(overshoot > 0.0, effective_separation, 1.0)
        trial = full_separation * overshoot / (separation * (full_separation - critical_separation))
        damage = maximum(clamp(trial, 0.0, 1.0), old_damage)
        stiffness = (1.0 - damage) * penalty_stiffness
        normal = stiffness * normal_separation
        if normal_penetration is not None:
            normal = normal + penalty_stiffness * normal_penetration
        traction = traction_vector(normal, stiffness * tangential_separation_1, stiffness * tangential_separation_2)
        return traction, damage
