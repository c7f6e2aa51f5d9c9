"""Maps of coordinates."""

from __future__ import annotations

from matlaw.models.declaration import Input, Output, Parameter
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import Scalar


@register("SemiInfiniteCoordinateTransform")
class SemiInfiniteCoordinateTransform(Leaf):
    r"""Map of a half line to the unit interval.

    .. math:: \hat x = \frac{x}{x + s}

    Source: C. E. Grosch, S. A. Orszag, Numerical solution of problems in unbounded regions: coordinate transforms, J.
    Comput. Phys. 25 (1977).

    * ``coordinate`` (Scalar, length): :math:`x`
    * ``transformed_coordinate`` (Scalar, -): :math:`\hat x`
    * ``shift`` (Scalar, length): :math:`s`, parameter ``s``
    """

    coordinate = Input(Scalar, "coordinate (length)")
    transformed_coordinate = Output(Scalar, "its image (-)", required=False, default="state/x_hat")
    shift = Parameter(Scalar, "shift (length)", symbol="s")

    def forward(self, coordinate: Scalar, shift: Scalar) -> Scalar:
        """The image."""
        return coordinate / (coordinate + shift)
