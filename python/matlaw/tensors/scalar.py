"""Scalars."""

from __future__ import annotations

from typing import Any

import torch

from matlaw.tensors.base import Number, Tensor, align


class Scalar(Tensor):
    """A batch of numbers, ``(*sub_batch, B)``.

    >>> a = Scalar.constant(2.0)
    >>> (3.0 / (a + 1.0)).data.tolist()
    [1.0]
    """

    __slots__ = ()
    base_shape = ()
    base_ndim = 0

    def __rtruediv__(self, other: Number) -> Scalar:
        return self.map(lambda x: other / x)

    def __pow__(self, other: Scalar | Number) -> Scalar:
        return self._combine(torch.pow, other)

    def __rpow__(self, other: Number) -> Scalar:
        return self.map(lambda x: torch.pow(other, x))

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Tensor) and other.base_ndim:
            return other + self
        return self._combine(torch.add, other)

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, Tensor) and other.base_ndim:
            return -other + self
        return self._combine(torch.sub, other)

    def __gt__(self, other: Scalar | Number) -> torch.Tensor:
        return self._compare(torch.gt, other)

    def __ge__(self, other: Scalar | Number) -> torch.Tensor:
        return self._compare(torch.ge, other)

    def __lt__(self, other: Scalar | Number) -> torch.Tensor:
        return self._compare(torch.lt, other)

    def __le__(self, other: Scalar | Number) -> torch.Tensor:
        return self._compare(torch.le, other)

    def _compare(self, op: Any, other: Scalar | Number) -> torch.Tensor:
        if isinstance(other, Number):
            return op(self.data, other)
        left, right, _ = align(self, other)
        return op(left, right)
