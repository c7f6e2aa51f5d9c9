"""Slip rates from shear stresses."""

from __future__ import annotations

import torch

from matlaw.models.declaration import Input, Output, Parameter
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import Scalar
from matlaw.tensors.functions import abs
from matlaw.tensors.powers import norm_power
from matlaw.tensors.sub_batch import reduce_last


@register("PowerLawSlipRule")
class PowerLawSlipRule(Leaf):
    r"""Slip rate as a power of the shear stress.

    .. math::
        \dot\gamma_i = \dot\gamma_0 \left\lvert \frac{\tau_i}{\hat\tau_i} \right\rvert^{n - 1} \frac{\tau_i}{\hat\tau_i}

    Source: J. W. Hutchinson, Bounds and self-consistent estimates for creep of polycrystalline materials, Proc. R. Soc.
    Lond. A 348 (1976).

    * ``resolved_shears`` (Scalar, stress): :math:`\tau_i`
    * ``slip_strengths`` (Scalar, stress): :math:`\hat\tau_i`
    * ``slip_rates`` (Scalar, 1/time): :math:`\dot\gamma_i`
    * ``gamma0`` (Scalar, 1/time): reference slip rate
    * ``n`` (Scalar, -): exponent
    """

    resolved_shears = Input(Scalar, "resolved shear stresses (stress)")
    slip_strengths = Input(Scalar, "strengths of the slip systems (stress)")
    slip_rates = Output(Scalar, "slip rates (1/time)")
    gamma0 = Parameter(Scalar, "reference slip rate (1/time)")
    n = Parameter(Scalar, "exponent (-)")

    def forward(self, resolved_shears: Scalar, slip_strengths: Scalar, gamma0: Scalar, n: Scalar) -> Scalar:
        """The slip rates."""
        ratio = resolved_shears / slip_strengths
        return gamma0 * norm_power(abs(ratio), n - 1.0) * ratio


@register("SumSlipRates")
class SumSlipRates(Leaf):
    r"""Total slip rate.

    .. math:: \dot\Gamma = \sum_i \lvert \dot\gamma_i \rvert

    * ``slip_rates`` (Scalar, 1/time): :math:`\dot\gamma_i`, with the slip systems as last sub-batch axis
    * ``sum_slip_rates`` (Scalar, 1/time): :math:`\dot\Gamma`
    """

    slip_rates = Input(Scalar, "slip rates (1/time)")
    sum_slip_rates = Output(Scalar, "total slip rate (1/time)")

    def forward(self, slip_rates: Scalar) -> Scalar:
        """The sum."""
        return reduce_last(abs(slip_rates), torch.sum, "the variable of slip rates")
