"""Powers of norms."""

from __future__ import annotations

from matlaw.tensors.base import Number
from matlaw.tensors.functions import where
from matlaw.tensors.scalar import Scalar


def norm_power(a: Scalar, exponent: Scalar | Number) -> Scalar:
    """``a ** exponent`` for a non-negative base and exponent, with zero derivatives where ``a`` is zero.

    The value at zero is 0 for a positive exponent and 1 for the exponent 0, so that ``norm_power(|x|, n - 1) * x`` is
    right for ``n = 1`` too.

    >>> norm_power(Scalar.constant(0.0), 1.5).data.tolist(), norm_power(Scalar.constant(0.0), 0.0).data.tolist()
    ([0.0], [1.0])
    """
    positive = a > 0.0
    power = where(positive, a, 1.0) ** exponent
    if isinstance(exponent, Scalar):
        return where(positive, power, where(exponent > 0.0, 0.0 * exponent, 1.0))
    return where(positive, power, 0.0 if exponent > 0.0 else 1.0)
