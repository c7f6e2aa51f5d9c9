"""Strengths of slip systems and how they evolve."""

from __future__ import annotations

from matlaw.models.declaration import Input, Output, Parameter
from matlaw.models.model import Leaf
from matlaw.models.naming import DerivedOutput, NamingLeaf
from matlaw.models.registry import register
from matlaw.models.solid_mechanics.crystal_plasticity.geometry_leaf import CrystalLeaf
from matlaw.tensors import Scalar
from matlaw.tensors.functions import abs, root
from matlaw.tensors.sub_batch import append_axis, expand_sub_batch


class SingleSlipHardeningRule(Leaf):
    """One strength for all slip systems, which grows with the total slip rate."""

    slip_hardening = Input(Scalar, "hardening (stress)")
    sum_slip_rates = Input(Scalar, "total slip rate (1/time)")
    slip_hardening_rate = Output(Scalar, "rate of the hardening (stress/time)")


@register("LinearSingleSlipHardeningRule")
class LinearSingleSlipHardeningRule(SingleSlipHardeningRule):
    r"""Linear hardening of all slip systems alike.

    .. math:: \dot\tau = \theta \sum_i \lvert \dot\gamma_i \rvert

    Source: R. J. Asaro, Crystal plasticity, J. Appl. Mech. 50 (1983), section 3.

    * ``slip_hardening`` (Scalar, stress): :math:`\tau`
    * ``sum_slip_rates`` (Scalar, 1/time): the sum
    * ``slip_hardening_rate`` (Scalar, stress/time): :math:`\dot\tau`
    * ``hardening_slope`` (Scalar, stress): :math:`\theta`
    """

    hardening_slope = Parameter(Scalar, "hardening modulus (stress)")

    def forward(self, slip_hardening: Scalar, sum_slip_rates: Scalar, hardening_slope: Scalar) -> Scalar:
        """The rate."""
        return hardening_slope * sum_slip_rates


@register("VoceSingleSlipHardeningRule")
class VoceSingleSlipHardeningRule(SingleSlipHardeningRule):
    r"""Saturating hardening of all slip systems alike.

    .. math:: \dot\tau = \theta_0 \left(1 - \frac{\tau}{\tau_f}\right) \sum_i \lvert \dot\gamma_i \rvert

    Source: U. F. Kocks, C. N. Tome, H.-R. Wenk, Texture and Anisotropy, Cambridge 1998, chapter 8.

    * ``slip_hardening`` (Scalar, stress): :math:`\tau`
    * ``sum_slip_rates`` (Scalar, 1/time): the sum
    * ``slip_hardening_rate`` (Scalar, stress/time): :math:`\dot\tau`
    * ``initial_slope`` (Scalar, stress): :math:`\theta_0`
    * ``saturated_hardening`` (Scalar, stress): :math:`\tau_f`
    """

    initial_slope = Parameter(Scalar, "initial hardening modulus (stress)")
    saturated_hardening = Parameter(Scalar, "hardening at saturation (stress)")

    def forward(
        self, slip_hardening: Scalar, sum_slip_rates: Scalar, initial_slope: Scalar, saturated_hardening: Scalar
    ) -> Scalar:
        """The rate."""
        return initial_slope * (1.0 - slip_hardening / saturated_hardening) * sum_slip_rates


@register("SingleSlipStrengthMap")
class SingleSlipStrengthMap(CrystalLeaf):
    r"""One strength for all slip systems.

    .. math:: \hat\tau_i = \tau + \tau_0

    * ``slip_hardening`` (Scalar, stress): :math:`\tau`
    * ``slip_strengths`` (Scalar, stress): :math:`\hat\tau_i`, with the slip systems as last sub-batch axis
    * ``constant_strength`` (Scalar, stress): :math:`\tau_0`
    """

    slip_hardening = Input(Scalar, "hardening (stress)")
    slip_strengths = Output(Scalar, "strengths of the slip systems (stress)")
    constant_strength = Parameter(Scalar, "strength without hardening (stress)")

    def forward(self, slip_hardening: Scalar, constant_strength: Scalar) -> Scalar:
        """The strengths."""
        total = slip_hardening + constant_strength
        return expand_sub_batch(append_axis(total), (*total.sub_batch_shape, self.crystal.count))


@register("DislocationObstacleStrengthMap")
class DislocationObstacleStrengthMap(Leaf):
    r"""Strength by forest dislocations.

    .. math:: \hat\tau_i = \tau_0 + \alpha \mu b \sqrt{\rho_i}

    Its derivative by a density of zero is zero here. Source: G. I. Taylor, The mechanism of plastic deformation of
    crystals, Proc. R. Soc. Lond. A 145 (1934).

    * ``dislocation_density`` (Scalar, 1/length^2): :math:`\rho_i`
    * ``slip_strengths`` (Scalar, stress): :math:`\hat\tau_i`
    * ``constant_strength`` (Scalar, stress): :math:`\tau_0`
    * ``alpha`` (Scalar, -): strength of the interaction
    * ``mu`` (Scalar, stress): shear modulus
    * ``b`` (Scalar, length): length of the Burgers vector
    """

    dislocation_density = Input(Scalar, "dislocation density of each slip system (1/length^2)")
    slip_strengths = Output(Scalar, "strengths of the slip systems (stress)")
    constant_strength = Parameter(Scalar, "strength without dislocations (stress)")
    alpha = Parameter(Scalar, "strength of the interaction (-)")
    mu = Parameter(Scalar, "shear modulus (stress)")
    b = Parameter(Scalar, "length of the Burgers vector (length)")

    def forward(
        self, dislocation_density: Scalar, constant_strength: Scalar, alpha: Scalar, mu: Scalar, b: Scalar
    ) -> Scalar:
        """The strengths."""
        return constant_strength + alpha * mu * b * root(dislocation_density)


@register("PerSlipForestDislocationEvolution")
class PerSlipForestDislocationEvolution(NamingLeaf):
    r"""Storage and recovery of dislocations.

    .. math:: \dot\rho_i = (k_1 \sqrt{\rho_i} - k_2 \rho_i) \lvert \dot\gamma_i \rvert

    Source: U. F. Kocks, H. Mecking, Physics and phenomenology of strain hardening: the FCC case, Prog. Mater. Sci. 48
    (2003).

    * ``dislocation_density`` (Scalar, 1/length^2): :math:`\rho_i`
    * ``slip_rates`` (Scalar, 1/time): :math:`\dot\gamma_i`
    * ``dislocation_density_rate`` (Scalar, 1/length^2/time): :math:`\dot\rho_i`, by default
      ``<dislocation_density>_rate``
    * ``k1`` (Scalar, 1/length): storage
    * ``k2`` (Scalar, -): recovery
    """

    dislocation_density = Input(Scalar, "dislocation density of each slip system (1/length^2)")
    slip_rates = Input(Scalar, "slip rates (1/time)")
    dislocation_density_rate = DerivedOutput(
        Scalar, "dislocation_density", "_rate", "rate of the dislocation density (1/length^2/time)"
    )
    k1 = Parameter(Scalar, "storage (1/length)")
    k2 = Parameter(Scalar, "recovery (-)")

    def forward(self, dislocation_density: Scalar, slip_rates: Scalar, k1: Scalar, k2: Scalar) -> Scalar:
        """The rate."""
        return (k1 * root(dislocation_density) - k2 * dislocation_density) * abs(slip_rates)
