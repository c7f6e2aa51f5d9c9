"""Loss of stiffness with the phase field."""

from __future__ import annotations

from matlaw.models.context import Context
from matlaw.models.declaration import Input, Option, Output, Parameter
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import Scalar
from matlaw.tensors.functions import macaulay
from matlaw.tensors.powers import norm_power


class Degradation(Leaf):
    """A function of the phase field from 1 to a residual stiffness."""

    phase = Input(Scalar, "phase field, 0 intact, 1 broken (-)")
    degradation = Output(Scalar, "degradation (-)")
    power = Parameter(Scalar, "exponent (-)", symbol="p")
    eta = Option("float", "residual degradation at d = 1 (-)", required=False, default="0.0")

    def setup(self, context: Context) -> None:
        """Reads the residual degradation."""
        super().setup(context)
        self._eta: float = context.option("eta")


@register("PowerDegradationFunction")
class PowerDegradationFunction(Degradation):
    r"""Power law.

    .. math:: g = (1 - d)^p (1 - \eta) + \eta

    Source: B. Bourdin, G. A. Francfort, J.-J. Marigo, Numerical experiments in revisited brittle fracture, J. Mech.
    Phys. Solids 48 (2000), with p = 2.

    * ``phase`` (Scalar, -): :math:`d`
    * ``degradation`` (Scalar, -): :math:`g`
    * ``power`` (Scalar, -): :math:`p`, parameter ``p``
    * ``eta`` (-): :math:`\eta`
    """

    def forward(self, phase: Scalar, power: Scalar) -> Scalar:
        """The degradation."""
        return norm_power(macaulay(1.0 - phase), power) * (1.0 - self._eta) + self._eta


@register("RationalDegradationFunction")
class RationalDegradationFunction(Degradation):
    r"""Rational function.

    .. math::
        g = \frac{(1 - d)^p}{(1 - d)^p + Q(d)} (1 - \eta) + \eta, \quad
        Q(d) = b_1 d \, (1 + b_2 d + b_2 b_3 d^2)

    Source: J.-Y. Wu, A unified phase-field theory for the mechanics of damage and quasi-brittle failure, J. Mech. Phys.
    Solids 103 (2017), eq. 4.8.

    * ``phase`` (Scalar, -): :math:`d`
    * ``degradation`` (Scalar, -): :math:`g`
    * ``power`` (Scalar, -): :math:`p`, parameter ``p``
    * ``b1``, ``b2``, ``b3`` (Scalar, -): coefficients
    * ``eta`` (-): :math:`\eta`
    """

    b1 = Parameter(Scalar, "coefficient (-)")
    b2 = Parameter(Scalar, "coefficient (-)")
    b3 = Parameter(Scalar, "coefficient (-)")

    def forward(self, phase: Scalar, power: Scalar, b1: Scalar, b2: Scalar, b3: Scalar) -> Scalar:
        """The degradation."""
        intact = norm_power(macaulay(1.0 - phase), power)
        broken = b1 * phase * (1.0 + b2 * phase * (1.0 + b3 * phase))
        return intact / (intact + broken) * (1.0 - self._eta) + self._eta
