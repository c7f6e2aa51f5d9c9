"""Bounds of scalars, with one-sided derivatives where two values are equal."""

from __future__ import annotations

from matlaw.tensors.base import Number
from matlaw.tensors.functions import where
from matlaw.tensors.scalar import Scalar


def maximum(a: Scalar, b: Scalar) -> Scalar:
    """The larger one; where both are equal the derivative is that of ``b``.

    >>> maximum(Scalar.constant(1.0), Scalar.constant(2.0)).data.tolist()
    [2.0]
    """
    return where(a > b, a, b)


def minimum(a: Scalar, b: Scalar) -> Scalar:
    """The smaller one; where both are equal the derivative is that of ``b``.

    >>> minimum(Scalar.constant(1.0), Scalar.constant(2.0)).data.tolist()
    [1.0]
    """
    return where(a < b, a, b)


def clamp(a: Scalar, low: Number, high: Number) -> Scalar:
    """``a`` kept between two numbers; the derivative is zero at and outside them.

    >>> clamp(Scalar.constant(1.5), 0.0, 1.0).data.tolist()
    [1.0]
    """
    return where(a > low, where(a < high, a, high), low)
