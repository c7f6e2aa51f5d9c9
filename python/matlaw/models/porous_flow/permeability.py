"""Permeability from porosity."""

from __future__ import annotations

from matlaw.models.declaration import Input, Output, Parameter
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import Scalar
from matlaw.tensors.functions import exp


class Permeability(Leaf):
    """A function of porosity through a reference point."""

    porosity = Input(Scalar, "porosity (-)")
    permeability = Output(Scalar, "permeability (length^2)")
    reference_permeability = Parameter(Scalar, "reference permeability (length^2)", symbol="K0")
    reference_porosity = Parameter(Scalar, "reference porosity (-)", symbol="phi0")


@register("ExponentialLawPermeability")
class ExponentialLawPermeability(Permeability):
    r"""Exponential law.

    .. math:: K = K_0 \exp(a (\varphi_0 - \varphi))

    Source: empirical, e.g. J. Bear, Dynamics of Fluids in Porous Media, Dover 1988, section 5.10.

    * ``porosity`` (Scalar, -): :math:`\varphi`
    * ``permeability`` (Scalar, length^2): :math:`K`
    * ``reference_permeability`` (Scalar, length^2): :math:`K_0`, parameter ``K0``
    * ``reference_porosity`` (Scalar, -): :math:`\varphi_0`, parameter ``phi0``
    * ``scale`` (Scalar, -): :math:`a`, parameter ``a``
    """

    scale = Parameter(Scalar, "factor in the exponent (-)", symbol="a")

    def forward(
        self, porosity: Scalar, reference_permeability: Scalar, reference_porosity: Scalar, scale: Scalar
    ) -> Scalar:
        """The permeability."""
        return reference_permeability * exp(scale * (reference_porosity - porosity))


@register("PowerLawPermeability")
class PowerLawPermeability(Permeability):
    r"""Power law.

    .. math:: K = K_0 (\varphi / \varphi_0)^p

    Source: empirical, e.g. J. Bear, Dynamics of Fluids in Porous Media, Dover 1988, section 5.10.

    * ``porosity`` (Scalar, -): :math:`\varphi`
    * ``permeability`` (Scalar, length^2): :math:`K`
    * ``reference_permeability`` (Scalar, length^2): :math:`K_0`, parameter ``K0``
    * ``reference_porosity`` (Scalar, -): :math:`\varphi_0`, parameter ``phi0``
    * ``exponent`` (Scalar, -): :math:`p`, parameter ``p``
    """

    exponent = Parameter(Scalar, "exponent (-)", symbol="p")

    def forward(
        self, porosity: Scalar, reference_permeability: Scalar, reference_porosity: Scalar, exponent: Scalar
    ) -> Scalar:
        """The permeability."""
        return reference_permeability * (porosity / reference_porosity) ** exponent


@register("KozenyCarmanPermeability")
class KozenyCarmanPermeability(Permeability):
    r"""Law of Kozeny and Carman.

    .. math:: K = K_0 \frac{(1 - \varphi_0)^m}{\varphi_0^m} \frac{\varphi^n}{(1 - \varphi)^n}

    The permeability at the reference porosity is :math:`K_0` when both exponents are equal. The classical law,
    :math:`\varphi^3 / (1 - \varphi)^2`, has different exponents above and below; other programs with a model of this
    name take :math:`n` for both, and so does this one. Source: P. C. Carman, Fluid flow through granular beds, Trans.
    Inst. Chem. Eng. 15 (1937).

    * ``porosity`` (Scalar, -): :math:`\varphi`
    * ``permeability`` (Scalar, length^2): :math:`K`
    * ``reference_permeability`` (Scalar, length^2): :math:`K_0`, parameter ``K0``
    * ``reference_porosity`` (Scalar, -): :math:`\varphi_0`, parameter ``phi0``
    * ``n``, ``m`` (Scalar, -): exponents
    """

    n = Parameter(Scalar, "exponent of the porosity (-)")
    m = Parameter(Scalar, "exponent of the reference porosity (-)")

    def forward(
        self, porosity: Scalar, reference_permeability: Scalar, reference_porosity: Scalar, n: Scalar, m: Scalar
    ) -> Scalar:
        """The permeability."""
        reference = ((1.0 - reference_porosity) / reference_porosity) ** m
        return reference_permeability * reference * (porosity / (1.0 - porosity)) ** n
