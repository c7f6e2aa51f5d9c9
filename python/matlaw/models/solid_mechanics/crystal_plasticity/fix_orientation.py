"""The other set of parameters of a rotation."""

from __future__ import annotations

from matlaw.models.context import Context
from matlaw.models.declaration import Input, Option, Output
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import MRP
from matlaw.tensors.functions import where


@register("FixOrientation")
class FixOrientation(Leaf):
    r"""Switches to the shadow parameters of a rotation that is far from none.

    .. math:: r^* = -r / \lVert r \rVert^2 \quad \text{where} \quad \lVert r \rVert^2 \ge t, \quad \text{else} \quad r

    Both stand for one rotation; the switch keeps away from the singularity at a full turn. Source: H. Schaub, J. L.
    Junkins, Stereographic orientation parameters for attitude dynamics, J. Astronaut. Sci. 44 (1996).

    * ``input`` (MRP): :math:`r`
    * ``output`` (MRP): :math:`r^*`
    * ``threshold``: :math:`t`
    """

    input = Input(MRP, "rotation")
    output = Output(MRP, "the same rotation")
    threshold = Option("float", "square of the norm from which the shadow is used", required=False, default="1.0")

    def setup(self, context: Context) -> None:
        """Reads the threshold."""
        super().setup(context)
        self._threshold: float = context.option("threshold")

    def forward(self, input: MRP) -> MRP:
        """The parameters."""
        square = input.inner(input)
        far = square >= self._threshold
        return where(far, -input / where(far, square, 1.0), input)
