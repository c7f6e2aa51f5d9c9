"""Kinematic hardening: the shift of the elastic domain with plastic strain."""

from __future__ import annotations

from matlaw.models.declaration import Input, Output, Parameter
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import SR2, Scalar


@register("LinearKinematicHardening")
class LinearKinematicHardening(Leaf):
    r"""Linear kinematic hardening.

    .. math:: X = H K_p

    Source: W. Prager, A new method of analyzing stresses and strains in work-hardening plastic solids, J. Appl. Mech.
    23 (1956).

    * ``kinematic_plastic_strain`` (SR2, -): :math:`K_p`
    * ``back_stress`` (SR2, stress): :math:`X`
    * ``hardening_modulus`` (Scalar, stress): :math:`H`, parameter ``H``
    """

    kinematic_plastic_strain = Input(SR2, "kinematic plastic strain (-)")
    back_stress = Output(SR2, "back stress (stress)")
    hardening_modulus = Parameter(Scalar, "hardening modulus (stress)", symbol="H")

    def forward(self, kinematic_plastic_strain: SR2, hardening_modulus: Scalar) -> SR2:
        """The back stress."""
        return hardening_modulus * kinematic_plastic_strain
