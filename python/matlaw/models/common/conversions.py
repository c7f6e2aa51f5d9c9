"""Parts and other representations of tensors."""

from __future__ import annotations

from matlaw.models.context import Context
from matlaw.models.declaration import Input, Option, Output
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.models.variable import Variable
from matlaw.tensors import MRP, R2, SR2, WR2, Scalar, Vec


@register("R2ToSR2")
class R2ToSR2(Leaf):
    r"""Symmetric part of a matrix, :math:`\tfrac12 (A + A^T)`.

    * ``input`` (R2, any unit)
    * ``output`` (SR2, the same unit)
    """

    input = Input(R2, "the matrix")
    output = Output(SR2, "its symmetric part")

    def forward(self, input: R2) -> SR2:
        """The symmetric part."""
        return input.to_SR2()


@register("R2ToWR2")
class R2ToWR2(Leaf):
    r"""Skew-symmetric part of a matrix, :math:`\tfrac12 (A - A^T)`.

    * ``input`` (R2, any unit)
    * ``output`` (WR2, the same unit)
    """

    input = Input(R2, "the matrix")
    output = Output(WR2, "its skew-symmetric part")

    def forward(self, input: R2) -> WR2:
        """The skew-symmetric part."""
        return WR2.from_R2(input)


@register("SR2ToR2")
class SR2ToR2(Leaf):
    """A symmetric tensor as a full matrix.

    * ``input`` (SR2, any unit)
    * ``output`` (R2, the same unit)
    """

    input = Input(SR2, "the symmetric tensor")
    output = Output(R2, "the full matrix")

    def forward(self, input: SR2) -> R2:
        """The full matrix."""
        return input.to_R2()


@register("ScalarToDiagonalSR2")
class ScalarToDiagonalSR2(Leaf):
    """A multiple of the identity.

    * ``input`` (Scalar, any unit): the factor
    * ``output`` (SR2, the same unit)
    """

    input = Input(Scalar, "the factor")
    output = Output(SR2, "the factor times the identity")

    def forward(self, input: Scalar) -> SR2:
        """The multiple of the identity."""
        return SR2.spherical(input)


@register("RotationMatrix")
class RotationMatrix(Leaf):
    """The matrix of a rotation (see :class:`matlaw.tensors.MRP`).

    * ``from`` (MRP): the rotation
    * ``to`` (R2, -): its matrix
    """

    from_ = Input(MRP, "the rotation")
    to = Output(R2, "its matrix (-)")

    def forward(self, from_: MRP) -> R2:
        """The matrix."""
        return from_.to_R2()


@register("VecComponents")
class VecComponents(Leaf):
    """The three components of a vector.

    * ``from`` (Vec, any unit): the vector
    * ``to``: names of the components (Scalar, the same unit)
    """

    from_ = Input(Vec, "the vector")
    to = Option("list", "names of the three components")

    def setup(self, context: Context) -> None:
        """Declares the components."""
        super().setup(context)
        names = context.option("to")
        if len(names) != 3:
            raise context.error(f"expected three names, got {len(names)}", "to")
        for name in names:
            self.add_output(name, Variable(Scalar), context, "to")

    def forward(self, from_: Vec) -> tuple[Scalar, Scalar, Scalar]:
        """The components."""
        x, y, z = (Scalar(from_.data[i], from_.sub_batch_ndim) for i in range(3))
        return x, y, z
