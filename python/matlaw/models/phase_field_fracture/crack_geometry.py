"""Local energy of a smeared crack."""

from __future__ import annotations

from matlaw.models.declaration import Input, Output
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import Scalar


class CrackGeometricFunction(Leaf):
    """A function of the phase field."""

    phase = Input(Scalar, "phase field, 0 intact, 1 broken (-)")
    crack = Output(Scalar, "crack geometric function (-)")


@register("CrackGeometricFunctionAT1")
class CrackGeometricFunctionAT1(CrackGeometricFunction):
    r"""Linear function, :math:`\alpha = d`.

    Source: K. Pham, H. Amor, J.-J. Marigo, C. Maurini, Gradient damage models and their use to approximate brittle
    fracture, Int. J. Damage Mech. 20 (2011).

    * ``phase`` (Scalar, -): :math:`d`
    * ``crack`` (Scalar, -): :math:`\alpha`
    """

    def forward(self, phase: Scalar) -> Scalar:
        """The function."""
        return phase


@register("CrackGeometricFunctionAT2")
class CrackGeometricFunctionAT2(CrackGeometricFunction):
    r"""Quadratic function, :math:`\alpha = d^2`.

    Source: B. Bourdin, G. A. Francfort, J.-J. Marigo, Numerical experiments in revisited brittle fracture, J. Mech.
    Phys. Solids 48 (2000).

    * ``phase`` (Scalar, -): :math:`d`
    * ``crack`` (Scalar, -): :math:`\alpha`
    """

    def forward(self, phase: Scalar) -> Scalar:
        """The function."""
        return phase * phase
