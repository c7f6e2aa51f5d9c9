"""Sub-batch axes of typed tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import torch

from matlaw.tensors.base import Tensor, with_sub_batch_ndim

T = TypeVar("T", bound=Tensor)


def expand_sub_batch(a: T, shape: Sequence[int]) -> T:
    """The same tensor with sub-batch axes of the given extents, repeated where it had none or extent 1.

    :param shape: extents that those of ``a`` broadcast to

    >>> from matlaw.tensors import Scalar
    >>> expand_sub_batch(Scalar.constant(2.0), (3,)).data[:, 0].tolist()
    [2.0, 2.0, 2.0]
    """
    if a.sub_batch_shape == tuple(shape):
        return a
    data = with_sub_batch_ndim(a, len(shape))
    return type(a)(data.expand(*a.base_shape, *shape, data.shape[-1]), len(shape))


def reduce_last(a: T, function: Callable[[torch.Tensor, int], torch.Tensor], what: str) -> T:
    """Removes the last sub-batch axis by a function of data and axis, such as a sum.

    :param what: the variable, for the message
    :raises ValueError: there is no sub-batch axis
    """
    require_sub_batch(a, what)
    return type(a)(function(a.data, -2), a.sub_batch_ndim - 1)


def require_sub_batch(a: Tensor, what: str) -> None:
    """Makes sure that there is a sub-batch axis.

    :raises ValueError: there is none
    """
    if not a.sub_batch_ndim:
        raise ValueError(f"{what} has no sub-batch axis; declare its extent in [Settings]/example_batch_shape")


def append_axis(a: T) -> T:
    """The same tensor with one more sub-batch axis, of extent 1, behind the others.

    >>> from matlaw.tensors import SR2
    >>> append_axis(SR2.identity()).data.shape
    torch.Size([6, 1, 1])
    """
    return type(a)(a.data.unsqueeze(-2), a.sub_batch_ndim + 1)


def slice_last(a: T, start: int, stop: int | None, what: str) -> T:
    """Part of the last sub-batch axis, as Python slices a list.

    :param what: the variable, for the message
    :raises ValueError: there is no sub-batch axis

    >>> from matlaw.tensors import Scalar
    >>> slice_last(Scalar(torch.arange(4.0).reshape(4, 1), 1), 1, -1, "x").data[:, 0].tolist()
    [1.0, 2.0]
    """
    require_sub_batch(a, what)
    return type(a)(a.data[..., start:stop, :], a.sub_batch_ndim)
