"""Smooth steps and bumps from cubic polynomials."""

from __future__ import annotations

from matlaw.models.context import Context
from matlaw.models.declaration import Input, Option, Output, Parameter
from matlaw.models.model import Leaf
from matlaw.models.naming import NamingLeaf, OwnNameOutput
from matlaw.models.registry import register
from matlaw.tensors import Scalar
from matlaw.tensors.functions import abs
from matlaw.tensors.limits import clamp


@register("HermiteSmoothStep")
class HermiteSmoothStep(Leaf):
    r"""Cubic step from 0 to 1.

    .. math:: y = 3 u^2 - 2 u^3, \quad u = \frac{x - x_0}{x_1 - x_0} \text{ kept between 0 and 1}

    Source: the cubic Hermite polynomial with zero slopes at both ends, e.g. C. de Boor, A Practical Guide to Splines,
    Springer 2001, chapter 4.

    * ``argument`` (Scalar, any unit): :math:`x`
    * ``value`` (Scalar, -): :math:`y`, or :math:`1 - y` with ``complement``
    * ``lower_bound``, ``upper_bound`` (Scalar, unit of the argument): :math:`x_0`, :math:`x_1`, parameters ``x0``,
      ``x1``
    """

    argument = Input(Scalar, "argument")
    value = Output(Scalar, "the step (-)")
    lower_bound = Parameter(Scalar, "where the step starts", symbol="x0")
    upper_bound = Parameter(Scalar, "where the step ends", symbol="x1")
    complement = Option("bool", "step from 1 to 0", required=False, default="False")

    def setup(self, context: Context) -> None:
        """Reads the direction of the step."""
        super().setup(context)
        self._complement: bool = context.option("complement")

    def forward(self, argument: Scalar, lower_bound: Scalar, upper_bound: Scalar) -> Scalar:
        """The step."""
        u = clamp((argument - lower_bound) / (upper_bound - lower_bound), 0.0, 1.0)
        step = u * u * (3.0 - 2.0 * u)
        return 1.0 - step if self._complement else step


@register("SymmetricHermiteInterpolation")
class SymmetricHermiteInterpolation(NamingLeaf):
    r"""A bump with unit area.

    .. math:: y = \frac{24 c^2 - 32 c^3}{x_1 - x_0}, \quad c = \min(u, 1 - u), \quad u = \frac{x - x_0}{x_1 - x_0}

    and zero outside of the bounds: two cubic steps back to back. Source: as for the smooth step; the factor is the
    one that makes the area 1.

    * ``argument`` (Scalar, any unit): :math:`x`
    * ``output`` (Scalar, 1/unit): :math:`y`, by default named like the model
    * ``lower_bound``, ``upper_bound`` (Scalar, unit of the argument): :math:`x_0`, :math:`x_1`, parameters ``x0``,
      ``x1``
    """

    argument = Input(Scalar, "argument")
    output = OwnNameOutput(Scalar, "the bump")
    lower_bound = Parameter(Scalar, "where the bump starts", symbol="x0")
    upper_bound = Parameter(Scalar, "where the bump ends", symbol="x1")

    def forward(self, argument: Scalar, lower_bound: Scalar, upper_bound: Scalar) -> Scalar:
        """The bump."""
        width = upper_bound - lower_bound
        c = clamp(0.5 - abs((argument - lower_bound) / width - 0.5), 0.0, 0.5)
        return c * c * (24.0 - 32.0 * c) / width
