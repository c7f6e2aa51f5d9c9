"""Determinants."""

from __future__ import annotations

from matlaw.models.declaration import Input, Output
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import R2, SR2, Scalar
from matlaw.tensors.inverse import determinant


@register("R2Determinant")
class R2Determinant(Leaf):
    """Determinant of a matrix.

    * ``input`` (R2, any unit): the matrix
    * ``determinant`` (Scalar, the unit cubed)
    """

    input = Input(R2, "the matrix")
    determinant = Output(Scalar, "its determinant")

    def forward(self, input: R2) -> Scalar:
        """The determinant."""
        return determinant(input)


@register("SR2Determinant")
class SR2Determinant(Leaf):
    """Determinant of a symmetric matrix.

    * ``input`` (SR2, any unit): the matrix
    * ``determinant`` (Scalar, the unit cubed)
    """

    input = Input(SR2, "the matrix")
    determinant = Output(Scalar, "its determinant")

    def forward(self, input: SR2) -> Scalar:
        """The determinant."""
        return determinant(input.to_R2())
