"""Loss of hardening at high temperature."""

from __future__ import annotations

from typing import Any, ClassVar

from matlaw.models.declaration import Input, Output, Parameter
from matlaw.models.family import member
from matlaw.models.model import Leaf
from matlaw.tensors import SR2, Scalar, Tensor
from matlaw.tensors.functions import where


class TwoStageThermalAnnealing(Leaf):
    r"""Hardening that stops at one temperature and is lost at a higher one.

    .. math::
        \dot h = \begin{cases}
            \dot h_b & T < T_1 \\ 0 & T_1 \le T < T_2 \\ -h / \tau & T \ge T_2 \end{cases}

    Source: recovery as in J. L. Chaboche, A review of some plasticity and viscoplasticity constitutive theories,
    Int. J. Plast. 24 (2008), section 5, switched on by temperature.

    * ``base_rate`` (stress/time): :math:`\dot h_b`
    * ``base`` (stress): :math:`h`
    * ``temperature`` (Scalar, K): :math:`T`
    * ``modified_rate`` (stress/time): :math:`\dot h`
    * ``T1``, ``T2`` (Scalar, K): the two temperatures
    * ``tau`` (Scalar, time): time of the recovery
    """

    kind: ClassVar[type[Tensor]]

    def forward(self, base_rate: Any, base: Any, temperature: Scalar, T1: Scalar, T2: Scalar, tau: Scalar) -> Tensor:
        """The rate of the hardening."""
        return where(temperature < T1, base_rate, where(temperature < T2, 0.0, -base / tau))


def _family(kind: type[Tensor]) -> type[TwoStageThermalAnnealing]:
    return member(
        TwoStageThermalAnnealing,
        f"{kind.__name__}TwoStageThermalAnnealing",
        kind,
        base_rate=Input(kind, "rate of the hardening without annealing (stress/time)"),
        base=Input(kind, "hardening (stress)"),
        temperature=Input(Scalar, "temperature (K)"),
        modified_rate=Output(kind, "rate of the hardening (stress/time)"),
        T1=Parameter(Scalar, "temperature where hardening stops (K)"),
        T2=Parameter(Scalar, "temperature where recovery starts (K)"),
        tau=Parameter(Scalar, "time of the recovery (time)"),
    )


ScalarTwoStageThermalAnnealing = _family(Scalar)
SR2TwoStageThermalAnnealing = _family(SR2)
