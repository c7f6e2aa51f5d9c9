"""The one place where Python converts between the public and the internal layout.

Public: ``(*B, *sub_batch, *base)``. Internal: ``(*base, *sub_batch, B)`` with the batch flattened, last and contiguous.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from matlaw.tensors.base import Tensor


def to_internal(
    public: torch.Tensor, kind: type[Tensor], sub_batch_ndim: int = 0, batch_shape: Sequence[int] | None = None
) -> Tensor:
    """From ``(*B, *sub_batch, *base)`` to a typed tensor.

    :param public: values in the public layout
    :param kind: type of the result
    :param sub_batch_ndim: number of sub-batch axes
    :param batch_shape: batch to broadcast to before it is flattened; the tensor's own when not given

    >>> from matlaw.tensors import SR2
    >>> to_internal(torch.zeros(2, 5, 6), SR2).data.shape
    torch.Size([6, 10])
    """
    trailing = kind.base_ndim + sub_batch_ndim
    split = public.ndim - trailing
    if batch_shape is not None:
        public = public.expand((*batch_shape, *public.shape[split:]))
        split = len(batch_shape)
    size = 1
    for extent in public.shape[:split]:
        size *= extent
    flat = public.reshape((size, *public.shape[split:]))
    base = range(1 + sub_batch_ndim, 1 + trailing)
    sub = range(1, 1 + sub_batch_ndim)
    return kind(flat.permute(*base, *sub, 0).contiguous(), sub_batch_ndim)


def to_public(internal: Tensor, batch_shape: Sequence[int]) -> torch.Tensor:
    """From a typed tensor to ``(*B, *sub_batch, *base)``, contiguous.

    :param internal: batch extent 1 or the product of ``batch_shape``
    :param batch_shape: extents of the batch axes of the result
    """
    return block_to_public(internal.data, (internal.base_ndim, internal.sub_batch_ndim), (0, 0), batch_shape)


def block_to_public(
    block: torch.Tensor, output: tuple[int, int], given: tuple[int, int], batch_shape: Sequence[int]
) -> torch.Tensor:
    """A derivative in the public layout, ``(*B, *out_sub_batch, *out_base, *in_sub_batch, *in_base)``, contiguous.

    :param block: ``(*out_base, *out_sub_batch, *in_base, *in_sub_batch, B)``
    :param output: numbers of base and of sub-batch axes of what is differentiated
    :param given: the same of what it is differentiated by
    :param batch_shape: extents of the batch axes of the result
    """
    axes: list[int] = []
    at = 0
    for base, sub in (output, given):
        axes += [*range(at + base, at + base + sub), *range(at, at + base)]
        at += base + sub
    size = 1
    for extent in batch_shape:
        size *= extent
    moved = block.expand(*block.shape[:-1], size).permute(at, *axes).contiguous()
    return moved.reshape((*batch_shape, *moved.shape[1:]))
