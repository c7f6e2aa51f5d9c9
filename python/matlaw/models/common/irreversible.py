"""Variables that never decrease."""

from __future__ import annotations

from matlaw.models.context import Context
from matlaw.models.declaration import Input, Output
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.models.variable import Variable, old
from matlaw.tensors import Scalar
from matlaw.tensors.limits import maximum


@register("IrreversibleScalar")
class IrreversibleScalar(Leaf):
    r"""The largest value so far.

    .. math:: y = \max(x, y_n)

    Source: the loading history of C. Miehe, M. Hofacker, F. Welschinger, A phase field model for rate-independent crack
    propagation, Comput. Methods Appl. Mech. Eng. 199 (2010), eq. 42.

    * ``from`` (Scalar, any unit): :math:`x`
    * ``to`` (Scalar, the same unit): :math:`y`; its old value is ``<to>~1``
    """

    from_ = Input(Scalar, "the value of this step")
    to = Output(Scalar, "the largest value so far")

    def setup(self, context: Context) -> None:
        """Adds the old value of the output."""
        super().setup(context)
        [name] = self.outputs
        self.add_input(old(name), Variable(Scalar), context, "to")
        self._arguments["old_value"] = [old(name)]

    def forward(self, from_: Scalar, old_value: Scalar) -> Scalar:
        """The largest value."""
        return maximum(from_, old_value)
