"""Reaction rates from the degree of conversion."""

from __future__ import annotations

from matlaw.models.declaration import Input, Output, Parameter
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import Scalar
from matlaw.tensors.functions import log, where
from matlaw.tensors.limits import clamp
from matlaw.tensors.powers import norm_power


class Conversion(Leaf):
    """A rate as a function of the degree of conversion."""

    conversion_degree = Input(Scalar, "degree of conversion, 0 to 1 (-)")
    reaction_rate = Output(Scalar, "reaction rate (1/time)")
    coef = Parameter(Scalar, "reaction coefficient (1/time)", symbol="k")
    order = Parameter(Scalar, "order of the reaction (-)", symbol="n")


@register("AvramiErofeevNucleation")
class AvramiErofeevNucleation(Conversion):
    r"""Nucleation and growth.

    .. math:: f = k (1 - a) (-\ln(1 - a))^n

    The rate is zero before the start, :math:`a \le 0`, and after the end, :math:`a \ge 1`. Source: M. Avrami, Kinetics
    of phase change, J. Chem. Phys. 7 (1939).

    * ``conversion_degree`` (Scalar, -): :math:`a`
    * ``reaction_rate`` (Scalar, 1/time): :math:`f`
    * ``coef`` (Scalar, 1/time): :math:`k`, parameter ``k``
    * ``order`` (Scalar, -): :math:`n`, parameter ``n``
    """

    def forward(self, conversion_degree: Scalar, coef: Scalar, order: Scalar) -> Scalar:
        """The reaction rate."""
        left = 1.0 - conversion_degree
        inside = (left > 0.0) & (left < 1.0)
        left = where(inside, left, 1.0)
        return where(inside, coef * left * norm_power(-log(left), order), 0.0)


@register("ContractingGeometry")
class ContractingGeometry(Conversion):
    r"""A front that moves inwards.

    .. math:: f = k (1 - a)^n

    with :math:`1 - a` kept between 0 and 1. Source: A. Khawam, D. R. Flanagan, Solid-state kinetic models: basics and
    mathematical fundamentals, J. Phys. Chem. B 110 (2006).

    * ``conversion_degree`` (Scalar, -): :math:`a`
    * ``reaction_rate`` (Scalar, 1/time): :math:`f`
    * ``coef`` (Scalar, 1/time): :math:`k`, parameter ``k``
    * ``order`` (Scalar, -): :math:`n`, parameter ``n``
    """

    def forward(self, conversion_degree: Scalar, coef: Scalar, order: Scalar) -> Scalar:
        """The reaction rate."""
        return coef * norm_power(clamp(1.0 - conversion_degree, 0.0, 1.0), order)
