"""The separation at which an interface has failed."""

from __future__ import annotations

from abc import abstractmethod

from matlaw.models.declaration import Input, Output, Parameter
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import Scalar
from matlaw.tensors.functions import where
from matlaw.tensors.powers import norm_power


class FullSeparation(Leaf):
    """Full separation of a bilinear law: mixed mode while the interface opens, pure shear while it is closed."""

    normal_separation = Input(Scalar, "normal separation (length)")
    full_separation = Output(Scalar, "separation at failure (length)")
    mode_mixity = Parameter(Scalar, "mode mixity (-)", symbol="beta")
    critical_separation = Parameter(Scalar, "separation at the start of damage (length)", symbol="delta_c")
    penalty_stiffness = Parameter(Scalar, "stiffness without damage (stress/length)", symbol="K")
    mode_I_fracture_toughness = Parameter(Scalar, "energy of opening (stress length)", symbol="GIc")  # noqa: N815
    mode_II_fracture_toughness = Parameter(Scalar, "energy of shearing (stress length)", symbol="GIIc")  # noqa: N815
    shear_strength = Parameter(Scalar, "shear strength (stress)", symbol="S")
    eta = Parameter(Scalar, "exponent (-)")

    def forward(
        self,
        normal_separation: Scalar,
        mode_mixity: Scalar,
        critical_separation: Scalar,
        penalty_stiffness: Scalar,
        mode_I_fracture_toughness: Scalar,
        mode_II_fracture_toughness: Scalar,
        shear_strength: Scalar,
        eta: Scalar,
    ) -> Scalar:
        """The full separation."""
        energy = self.mixed_energy(
            mode_mixity * mode_mixity, mode_I_fracture_toughness, mode_II_fracture_toughness, eta
        )
        mixed = 2.0 * energy / (penalty_stiffness * critical_separation)
        return where(normal_separation > 0.0, mixed, 2.0 * mode_II_fracture_toughness / shear_strength)

    @abstractmethod
    def mixed_energy(self, square: Scalar, GIc: Scalar, GIIc: Scalar, eta: Scalar) -> Scalar:
        """The energy of failure at a square of the mode mixity."""


@register("BenzeggaghKenaneFullSeparation")
class BenzeggaghKenaneFullSeparation(FullSeparation):
    r"""Failure under the criterion of Benzeggagh and Kenane.

    .. math::
        \delta_f = \frac{2}{K \delta_c} \left(G_{Ic} + (G_{IIc} - G_{Ic})
            \left(\frac{\beta^2}{1 + \beta^2}\right)^\eta\right)
        \text{ for } \delta_n > 0, \text{ else } \frac{2 G_{IIc}}{S}

    Source: M. L. Benzeggagh, M. Kenane, Measurement of mixed-mode delamination fracture toughness, Compos. Sci.
    Technol. 56 (1996); P. P. Camanho, C. G. Davila, NASA/TM-2002-211737, eq. 17.

    * ``normal_separation`` (Scalar, length): :math:`\delta_n`, of which only the sign matters
    * ``full_separation`` (Scalar, length): :math:`\delta_f`
    * ``mode_mixity`` (Scalar, -): :math:`\beta`, parameter ``beta``
    * ``critical_separation`` (Scalar, length): :math:`\delta_c`, parameter ``delta_c``
    * ``penalty_stiffness`` (Scalar, stress/length): :math:`K`, parameter ``K``
    * ``mode_I_fracture_toughness``, ``mode_II_fracture_toughness`` (Scalar, stress length): :math:`G_{Ic}`,
      :math:`G_{IIc}`, parameters ``GIc``, ``GIIc``
    * ``shear_strength`` (Scalar, stress): :math:`S`, parameter ``S``
    * ``eta`` (Scalar, -): :math:`\eta`
    """

    def mixed_energy(self, square: Scalar, GIc: Scalar, GIIc: Scalar, eta: Scalar) -> Scalar:
        """The energy of failure."""
        return GIc + (GIIc - GIc) * norm_power(square / (1.0 + square), eta)


@register("PowerLawFullSeparation")
class PowerLawFullSeparation(FullSeparation):
    r"""Failure under a power law of the energies.

    .. math::
        \delta_f = \frac{2 (1 + \beta^2)}{K \delta_c} \left(\left(\frac{1}{G_{Ic}}\right)^\eta
            + \left(\frac{\beta^2}{G_{IIc}}\right)^\eta\right)^{-1/\eta}
        \text{ for } \delta_n > 0, \text{ else } \frac{2 G_{IIc}}{S}

    Source: G. Alfano, M. A. Crisfield, Finite element interface models for the delamination analysis of laminated
    composites, Int. J. Numer. Methods Eng. 50 (2001). Variables and parameters as in
    :class:`BenzeggaghKenaneFullSeparation`.
    """

    def mixed_energy(self, square: Scalar, GIc: Scalar, GIIc: Scalar, eta: Scalar) -> Scalar:
        """The energy of failure."""
        return (1.0 + square) * (GIc**-eta + norm_power(square / GIIc, eta)) ** (-1.0 / eta)
