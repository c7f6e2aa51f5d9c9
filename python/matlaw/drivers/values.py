"""What the options of a driver hold: numbers and ``[Tensors]`` entries, in the public layout."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from matlaw.models.context import Context
from matlaw.models.number import parse_number
from matlaw.tensors import to_public


@dataclass(frozen=True)
class Value:
    """A value in the public layout.

    :ivar data: ``(*B, *sub_batch, *base)``; for a history the first axis is time
    :ivar kind: name of the tensor type
    :ivar constant: a number written in place, which holds for all steps
    :ivar sub_batch_shape: extents of its sub-batch axes
    :ivar source: what the input file calls it, for messages
    """

    data: torch.Tensor
    kind: str
    constant: bool
    source: str
    sub_batch_shape: tuple[int, ...] = ()


def read_value(context: Context, token: str, kind: str, option: str) -> Value:
    """The value that a token stands for.

    :param token: a number (for a Scalar) or the name of a ``[Tensors]`` entry
    :param kind: name of the tensor type that is expected
    :param option: where the token stands, for messages
    :raises InputFileError: there is no such entry, or it is of another type
    """
    number = parse_number(token)
    if number is not None:
        if kind != "Scalar":
            raise context.error(
                f"expected {kind}, got the number {token}; write a [Tensors] entry and name it here", option
            )
        return Value(torch.tensor(number, dtype=torch.float64), kind, True, token)
    entry = context.object("Tensors", token, option)
    value = entry.value
    if type(value).__name__ != kind:
        raise context.error(f"expected {kind}, but [Tensors]/[{token}] is {type(value).__name__}", option)
    # A type of [Tensors] from an extension need not know its batch shape.
    shape = getattr(entry, "batch_shape", (value.batch_size,))
    return Value(to_public(value, shape), kind, False, f"[Tensors]/[{token}]", value.sub_batch_shape)
