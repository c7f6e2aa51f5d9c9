"""Invariants of symmetric tensors."""

from __future__ import annotations

from collections.abc import Callable

from matlaw.models.context import Context
from matlaw.models.declaration import Input, Option, Output
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import SR2, Scalar


def _i1(a: SR2) -> Scalar:
    return a.trace()


def _i2(a: SR2) -> Scalar:
    trace = a.trace()
    return 0.5 * (trace * trace - a.inner(a))


def _von_mises(a: SR2) -> Scalar:
    return 1.5**0.5 * a.deviator().norm()


def _effective_strain(a: SR2) -> Scalar:
    return (2.0 / 3.0) ** 0.5 * a.deviator().norm()


INVARIANTS: dict[str, Callable[[SR2], Scalar]] = {
    "I1": _i1,
    "I2": _i2,
    "VONMISES": _von_mises,
    "EFFECTIVE_STRAIN": _effective_strain,
}


@register("SR2Invariant")
class SR2Invariant(Leaf):
    r"""An invariant of a symmetric tensor.

    * ``I1``: :math:`\mathrm{tr} A`
    * ``I2``: :math:`\frac12 ((\mathrm{tr} A)^2 - A : A)`
    * ``VONMISES``: :math:`\sqrt{3/2 \, s : s}` with the deviator :math:`s`
    * ``EFFECTIVE_STRAIN``: :math:`\sqrt{2/3 \, s : s}`

    The derivative of the last two is taken as zero where the deviator is zero. Source: G. A. Holzapfel, Nonlinear
    Solid Mechanics, Wiley 2000, section 1.4; R. von Mises (1913).

    * ``tensor`` (SR2, any unit): :math:`A`
    * ``invariant`` (Scalar, unit of the tensor, squared for I2)
    """

    tensor = Input(SR2, "symmetric tensor")
    invariant = Output(Scalar, "its invariant")
    invariant_type = Option("str", "which invariant", choices=tuple(INVARIANTS))

    def setup(self, context: Context) -> None:
        """Picks the invariant."""
        super().setup(context)
        self._invariant = INVARIANTS[context.option("invariant_type")]

    def forward(self, tensor: SR2) -> Scalar:
        """The invariant."""
        return self._invariant(tensor)
