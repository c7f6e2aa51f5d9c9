"""Isotropic hardening: the growth of the yield stress with plastic strain."""

from __future__ import annotations

from matlaw.models.declaration import Input, Output, Parameter
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import Scalar
from matlaw.tensors.functions import exp


@register("LinearIsotropicHardening")
class LinearIsotropicHardening(Leaf):
    r"""Linear hardening.

    .. math:: k = K \bar\varepsilon_p

    Source: J. C. Simo, T. J. R. Hughes, Computational Inelasticity, Springer 1998, section 1.2.2.

    * ``equivalent_plastic_strain`` (Scalar, -): :math:`\bar\varepsilon_p`
    * ``isotropic_hardening`` (Scalar, stress): :math:`k`
    * ``hardening_modulus`` (Scalar, stress): :math:`K`, parameter ``K``
    """

    equivalent_plastic_strain = Input(Scalar, "equivalent plastic strain (-)")
    isotropic_hardening = Output(Scalar, "isotropic hardening (stress)")
    hardening_modulus = Parameter(Scalar, "hardening modulus (stress)", symbol="K")

    def forward(self, equivalent_plastic_strain: Scalar, hardening_modulus: Scalar) -> Scalar:
        """The hardening."""
        return hardening_modulus * equivalent_plastic_strain


@register("VoceIsotropicHardening")
class VoceIsotropicHardening(Leaf):
    r"""Hardening that saturates.

    .. math:: k = R \, (1 - \exp(-d \, \bar\varepsilon_p))

    Source: E. Voce, The relationship between stress and strain for homogeneous deformation, J. Inst. Metals 74 (1948).

    * ``equivalent_plastic_strain`` (Scalar, -): :math:`\bar\varepsilon_p`
    * ``isotropic_hardening`` (Scalar, stress): :math:`k`
    * ``saturated_hardening`` (Scalar, stress): :math:`R`, parameter ``R``
    * ``saturation_rate`` (Scalar, -): :math:`d`, parameter ``d``
    """

    equivalent_plastic_strain = Input(Scalar, "equivalent plastic strain (-)")
    isotropic_hardening = Output(Scalar, "isotropic hardening (stress)")
    saturated_hardening = Parameter(Scalar, "hardening at large strain (stress)", symbol="R")
    saturation_rate = Parameter(Scalar, "rate of saturation (-)", symbol="d")

    def forward(
        self, equivalent_plastic_strain: Scalar, saturated_hardening: Scalar, saturation_rate: Scalar
    ) -> Scalar:
        """The hardening."""
        return saturated_hardening * (1.0 - exp(-saturation_rate * equivalent_plastic_strain))
