"""Functions of typed tensors.

All are componentwise and keep kind and shape. Functions whose derivative is singular at a point that a law meets in
regular use (a norm at zero, a power of a bracket at zero) come in a form whose value and derivatives are finite there
and which changes nothing elsewhere: the argument is replaced by a harmless one before the function sees it, because
a `where` on the result alone still multiplies zero by infinity when it is differentiated.
"""

from __future__ import annotations

from typing import TypeVar

import torch

from matlaw.tensors.base import Number, Tensor, with_sub_batch_ndim
from matlaw.tensors.scalar import Scalar

T = TypeVar("T", bound=Tensor)


def exp(a: T) -> T:
    """Exponential."""
    return a.map(torch.exp)


def log(a: T) -> T:
    """Natural logarithm."""
    return a.map(torch.log)


def log10(a: T) -> T:
    """Decimal logarithm."""
    return a.map(torch.log10)


def sqrt(a: T) -> T:
    """Square root; its derivative at zero is infinite, see :func:`root`."""
    return a.map(torch.sqrt)


def sin(a: T) -> T:
    """Sine of an angle in radians."""
    return a.map(torch.sin)


def cos(a: T) -> T:
    """Cosine of an angle in radians."""
    return a.map(torch.cos)


def tanh(a: T) -> T:
    """Hyperbolic tangent."""
    return a.map(torch.tanh)


def sinh(a: T) -> T:
    """Hyperbolic sine."""
    return a.map(torch.sinh)


def cosh(a: T) -> T:
    """Hyperbolic cosine."""
    return a.map(torch.cosh)


def abs(a: T) -> T:
    """Absolute value; its derivative at zero is zero."""
    return a.map(torch.abs)


def sign(a: T) -> T:
    """-1, 0 or 1; its derivative is zero."""
    return a.map(torch.sign)


def pow(a: Scalar, b: Scalar | Number) -> Scalar:
    """``a ** b``."""
    return a**b


def heaviside(a: T) -> T:
    """1 where positive, else 0; its derivative is zero.

    >>> heaviside(Scalar(torch.tensor([-1.0, 0.0, 2.0]))).data.tolist()
    [0.0, 0.0, 1.0]
    """
    return a.map(lambda x: (x > 0).to(x.dtype))


def macaulay(a: T) -> T:
    """Positive part ``<a>``; its derivative at zero is zero.

    >>> macaulay(Scalar(torch.tensor([-1.0, 0.0, 2.0]))).data.tolist()
    [0.0, 0.0, 2.0]
    """
    return a.map(torch.relu)


def where(condition: torch.Tensor, a: T | Number, b: T | Number) -> T:
    """``a`` where the condition holds, else ``b``.

    :param condition: booleans ``(*sub_batch, B)``, as a comparison of scalars gives them
    :raises TypeError: when neither is a tensor
    """
    model = a if isinstance(a, Tensor) else b
    if not isinstance(model, Tensor):
        raise TypeError("where: at least one of the two values must be a tensor")
    sub = max(x.sub_batch_ndim for x in (a, b) if isinstance(x, Tensor))
    sub = max(sub, condition.ndim - 1)
    left = with_sub_batch_ndim(a, sub) if isinstance(a, Tensor) else a
    right = with_sub_batch_ndim(b, sub) if isinstance(b, Tensor) else b
    return type(model)(torch.where(condition, left, right), sub)


def root(a: Scalar) -> Scalar:
    """Square root of a non-negative scalar whose derivatives at zero are zero.

    >>> root(Scalar(torch.tensor([0.0, 4.0]))).data.tolist()
    [0.0, 2.0]
    """
    positive = a > 0.0
    return where(positive, sqrt(where(positive, a, 1.0)), 0.0)


def macaulay_power(a: Scalar, exponent: Scalar | Number) -> Scalar:
    """``<a> ** exponent`` for a positive exponent; zero, with zero derivatives, where ``a`` is not positive.

    >>> macaulay_power(Scalar(torch.tensor([-1.0, 0.0, 2.0])), 3.0).data.tolist()
    [0.0, 0.0, 8.0]
    """
    positive = a > 0.0
    return where(positive, where(positive, a, 1.0) ** exponent, 0.0)
