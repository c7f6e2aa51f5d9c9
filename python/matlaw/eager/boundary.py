"""What callers hand over: names, types, shapes and devices are checked before anything is computed."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping

import numpy as np
import torch

from matlaw.errors import FatalError
from matlaw.input.suggestion import closest
from matlaw.models import Variable


def check_names(kind: str, given: Iterable[str], known: Iterable[str], *, complete: bool) -> None:
    """Every given name is known, and when ``complete`` every known name is given.

    :raises FatalError: naming the first that is not, with the closest known name
    """
    given, known = list(given), list(known)
    for name in given:
        if name not in known:
            hint = closest(str(name), known) or "."
            raise FatalError(f"unknown {kind} '{name}'{hint} The {kind}s are: {', '.join(known) or 'none'}")
    missing = [name for name in known if name not in given]
    if complete and missing:
        raise FatalError(f"missing {kind} {', '.join(repr(m) for m in missing)}; expected: {', '.join(known)}")


def check_tensor(
    what: str,
    value: torch.Tensor,
    trailing: tuple[int, ...],
    dtype: torch.dtype,
    device: torch.device,
    sub_batch_ndim: int = 0,
) -> None:
    """The tensor has the type, the device and the trailing axes that are expected.

    :param what: for the message, such as ``input 'strain'``
    :param trailing: ``(*sub_batch, *base)``
    :param sub_batch_ndim: how many of these are sub-batch axes; a value may have extent 1 there
    :raises FatalError: saying what was expected and what came
    """
    if not isinstance(value, torch.Tensor):
        raise FatalError(f"{what}: expected a torch tensor, got {type(value).__name__}")
    if value.dtype != dtype:
        raise FatalError(f"{what}: expected {dtype}, got {value.dtype}; convert it with .to({dtype})")
    if value.device.type != device.type:
        raise FatalError(f"{what}: expected a tensor on {device}, got one on {value.device}")
    own = tuple(value.shape[value.ndim - len(trailing) :]) if trailing and value.ndim >= len(trailing) else ()
    sub = zip(own[:sub_batch_ndim], trailing[:sub_batch_ndim], strict=False)
    fits = len(own) == len(trailing) and own[sub_batch_ndim:] == trailing[sub_batch_ndim:]
    if not fits or any(e not in (1, extent) for e, extent in sub):
        expected = ", ".join(["*B", *map(str, trailing)])
        hint = f", of which the first {sub_batch_ndim} after *B are the sub-batch" if sub_batch_ndim else ""
        raise FatalError(f"{what}: expected shape ({expected}){hint}, got {tuple(value.shape)}")


def is_integer(dtype: torch.dtype) -> bool:
    """Whether tensors of a dtype hold integers.

    >>> is_integer(torch.int32), is_integer(torch.bool), is_integer(torch.float64)
    (True, False, False)
    """
    return not dtype.is_floating_point and not dtype.is_complex and dtype != torch.bool


def common_batch(what: str, shapes: Mapping[str, tuple[int, ...]], scalars: Collection[str]) -> tuple[int, ...]:
    """The batch shape that all broadcast to.

    :param scalars: those of the names whose values have no axes behind their batch
    :raises FatalError: listing the batch shape of each when they do not; or numbers have the batch of other values with
        an axis of extent 1 behind, ``(n, 1)`` beside ``(n,)``, and nothing else says that so many rows are meant
    """
    try:
        # torch.broadcast_shapes does the same, and imports a computer algebra system for it.
        whole = tuple(np.broadcast_shapes(*shapes.values()))
    except ValueError as error:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise FatalError(f"the batch shapes of the {what} do not broadcast: {listed}") from error
    _refuse_columns(shapes, scalars, math.prod(whole))
    return whole


def _refuse_columns(shapes: Mapping[str, tuple[int, ...]], scalars: Collection[str], rows: int) -> None:
    """A column of numbers is not taken for a batch of two axes."""
    if any(math.prod(shape) >= rows for shape in shapes.values()):
        return
    deliberate = {shape for name, shape in shapes.items() if name not in scalars}
    for name, shape in shapes.items():
        meant = shape[:-1]
        if len(shape) < 2 or shape[-1] != 1 or shape in deliberate:
            continue
        other = next((other for other, its in shapes.items() if its == meant), None)
        if other is not None:
            name, other = (n if "'" in n else f"'{n}'" for n in (name, other))
            raise FatalError(
                f"the scalar {name} has shape {shape}, expected {meant} beside the batch {meant} of {other}: the two "
                f"would broadcast to {rows} rows. Drop the last axis, value.squeeze(-1); or, where every row of {name} "
                f"shall meet every row of {other}, give {other} the batch {(1, *meant)}"
            )


def trailing_shape(variable: Variable) -> tuple[int, ...]:
    """``(*sub_batch, *base)`` of a variable in the public layout."""
    return (*variable.sub_batch_shape, *variable.type.base_shape)
