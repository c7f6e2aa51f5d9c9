"""Capillary pressure from saturation."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from matlaw.models.context import Context
from matlaw.models.declaration import Input, Option, Output, Parameter
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import Scalar
from matlaw.tensors.functions import exp, where


class CapillaryPressure(Leaf):
    """A correlation that goes to infinity at zero saturation, unless its logarithm goes on as a straight line."""

    effective_saturation = Input(Scalar, "effective saturation (-)")
    capillary_pressure = Output(Scalar, "capillary pressure (stress)")
    log_extension = Option("bool", "extend the logarithm linearly", required=False, default="False")
    transition_saturation = Option("float", "saturation below which it is extended (-)", required=False, default="0.0")

    def setup(self, context: Context) -> None:
        """Reads where the extension starts."""
        super().setup(context)
        self._transition: float | None = None
        if context.option("log_extension"):
            self._transition = context.option("transition_saturation")
            if not 0.0 < self._transition < 1.0:
                raise context.error(
                    f"expected a saturation between 0 and 1 for the extension, got {self._transition}",
                    "transition_saturation",
                )

    def forward(self, effective_saturation: Scalar, **parameters: Any) -> Scalar:
        """The capillary pressure."""
        S, S0 = effective_saturation, self._transition
        if S0 is None:
            return self.pressure(S, **parameters)
        regular = S > S0
        inside = where(regular, S, S0)
        pressure = self.pressure(inside, **parameters)
        slope = self.log_slope(Scalar.constant(S0, dtype=S.dtype, device=S.device), **parameters)
        return where(regular, pressure, pressure * exp(slope * (S - S0)))

    @abstractmethod
    def pressure(self, S: Scalar, **parameters: Any) -> Scalar:
        """The correlation."""

    @abstractmethod
    def log_slope(self, S: Scalar, **parameters: Any) -> Scalar:
        """Derivative of its logarithm."""


@register("BrooksCoreyCapillaryPressure")
class BrooksCoreyCapillaryPressure(CapillaryPressure):
    r"""Correlation of Brooks and Corey.

    .. math:: P_c = P_t S^{-1/p}

    With ``log_extension``, :math:`\ln P_c` is linear in :math:`S` below the transition, with the slope at the
    transition. Source: R. H. Brooks, A. T. Corey, Hydraulic properties of porous media, Hydrology Paper 3, Colorado
    State University 1964.

    * ``effective_saturation`` (Scalar, -): :math:`S`
    * ``capillary_pressure`` (Scalar, stress): :math:`P_c`
    * ``threshold_pressure`` (Scalar, stress): :math:`P_t`, parameter ``Pt``
    * ``exponent`` (Scalar, -): :math:`p`, parameter ``p``
    """

    threshold_pressure = Parameter(Scalar, "entry pressure (stress)", symbol="Pt")
    exponent = Parameter(Scalar, "exponent (-)", symbol="p")

    def pressure(self, S: Scalar, **parameters: Any) -> Scalar:
        """The correlation."""
        return parameters["threshold_pressure"] * S ** (-1.0 / parameters["exponent"])

    def log_slope(self, S: Scalar, **parameters: Any) -> Scalar:
        """Derivative of its logarithm."""
        return -1.0 / (parameters["exponent"] * S)


@register("VanGenuchtenCapillaryPressure")
class VanGenuchtenCapillaryPressure(CapillaryPressure):
    r"""Correlation of van Genuchten.

    .. math:: P_c = a \left(S^{-1/m} - 1\right)^{1 - m}

    With ``log_extension``, :math:`\ln P_c` is linear in :math:`S` below the transition, with the slope at the
    transition. Source: M. T. van Genuchten, A closed-form equation for predicting the hydraulic conductivity of
    unsaturated soils, Soil Sci. Soc. Am. J. 44 (1980).

    * ``effective_saturation`` (Scalar, -): :math:`S`
    * ``capillary_pressure`` (Scalar, stress): :math:`P_c`
    * ``a`` (Scalar, stress), ``m`` (Scalar, -): shape
    """

    a = Parameter(Scalar, "scale of the pressure (stress)")
    m = Parameter(Scalar, "shape (-)")

    def pressure(self, S: Scalar, **parameters: Any) -> Scalar:
        """The correlation."""
        m = parameters["m"]
        return parameters["a"] * (S ** (-1.0 / m) - 1.0) ** (1.0 - m)

    def log_slope(self, S: Scalar, **parameters: Any) -> Scalar:
        """Derivative of its logarithm."""
        m = parameters["m"]
        power = S ** (-1.0 / m)
        return (m - 1.0) / m * power / (S * (power - 1.0))
