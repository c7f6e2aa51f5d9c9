"""The common base of the typed tensors: batch last, one batch axis, components first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import torch

if TYPE_CHECKING:
    from matlaw.tensors.scalar import Scalar

T = TypeVar("T", bound="Tensor")
Number = float | int


class Tensor:
    """A batch of tensors of one kind, stored ``(*base, *sub_batch, B)``.

    :param data: components first, then the sub-batch axes, then exactly one batch axis (extent 1 for a constant)
    :param sub_batch_ndim: number of sub-batch axes
    :raises ValueError: when the leading axes of ``data`` are not the base shape, or the number of axes does not fit

    Arithmetic is componentwise and broadcasts over sub-batch and batch axes; sub-batch axes are aligned from the
    right, next to the batch axis, whatever the base shapes of the two sides are.
    """

    base_shape: ClassVar[tuple[int, ...]] = ()
    base_ndim: ClassVar[int] = 0
    #: Whether the values are meant to be integers. Inside they are floating-point numbers like all others.
    integers: ClassVar[bool] = False

    __slots__ = ("data", "sub_batch_ndim")

    def __init__(self, data: torch.Tensor, sub_batch_ndim: int = 0) -> None:
        if data.ndim != self.base_ndim + sub_batch_ndim + 1 or tuple(data.shape[: self.base_ndim]) != self.base_shape:
            raise ValueError(
                f"{type(self).__name__}: expected shape (*{self.base_shape}, *sub_batch, B) with {sub_batch_ndim} "
                f"sub-batch axes, got {tuple(data.shape)}"
            )
        self.data = data
        self.sub_batch_ndim = sub_batch_ndim

    @classmethod
    def constant(
        cls: type[T],
        values: float | Sequence[Any],
        *,
        dtype: torch.dtype = torch.float64,
        device: torch.device | str = "cpu",
    ) -> T:
        """One tensor of the given components, batch extent 1.

        :param values: nested lists of the base shape; a number for a scalar
        :param dtype: floating-point type
        :param device: where the data lives
        """
        return cls(torch.tensor(_innermost_to_lists(values), dtype=dtype, device=device))

    @classmethod
    def zeros(cls: type[T], *, dtype: torch.dtype = torch.float64, device: torch.device | str = "cpu") -> T:
        """Zero, batch extent 1."""
        return cls(torch.zeros(*cls.base_shape, 1, dtype=dtype, device=device))

    @property
    def sub_batch_shape(self) -> tuple[int, ...]:
        """Extents of the sub-batch axes."""
        return tuple(self.data.shape[self.base_ndim : self.base_ndim + self.sub_batch_ndim])

    @property
    def batch_size(self) -> int:
        """Extent of the batch axis."""
        return self.data.shape[-1]

    @property
    def dtype(self) -> torch.dtype:
        """Type of the components."""
        return self.data.dtype

    @property
    def parameter_dtype(self) -> torch.dtype:
        """What callers give and get of a parameter with this value in the input file.

        int64 for a type of integers, unless the values are others.
        """
        whole = self.integers and bool((self.data == self.data.round()).all())
        return torch.int64 if whole else self.dtype

    @property
    def device(self) -> torch.device:
        """Where the components live."""
        return self.data.device

    def to(self: T, dtype: torch.dtype | None = None, device: torch.device | str | None = None) -> T:
        """The same tensor in another type or on another device."""
        return type(self)(self.data.to(device=device, dtype=dtype), self.sub_batch_ndim)

    def map(self: T, function: Callable[[torch.Tensor], torch.Tensor]) -> T:
        """Applies a componentwise function."""
        return type(self)(function(self.data), self.sub_batch_ndim)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({tuple(self.data.shape)}, sub_batch_ndim={self.sub_batch_ndim})"

    def __neg__(self: T) -> T:
        return self.map(torch.neg)

    def __pos__(self: T) -> T:
        return self

    def __add__(self: T, other: T | Scalar | Number) -> T:
        return self._combine(torch.add, other)

    def __radd__(self: T, other: Number) -> T:
        return self._combine(torch.add, other)

    def __sub__(self: T, other: T | Scalar | Number) -> T:
        return self._combine(torch.sub, other)

    def __rsub__(self: T, other: Number) -> T:
        return self.map(lambda x: other - x)

    def __mul__(self, other: Any) -> Any:
        return scale(self, other)

    def __rmul__(self: T, other: Number) -> T:
        return self.map(lambda x: other * x)

    def __truediv__(self: T, other: Scalar | Number) -> T:
        if isinstance(other, Tensor) and other.base_ndim:
            return NotImplemented
        return self._combine(torch.div, other)

    def _combine(self: T, op: Callable[..., torch.Tensor], other: Any) -> T:
        """Componentwise ``op`` with a tensor of the same kind, a scalar or a number."""
        if isinstance(other, Number):
            return self.map(lambda x: op(x, other))
        if not isinstance(other, Tensor) or (other.base_ndim and type(other) is not type(self)):
            return NotImplemented
        left, right, sub = align(self, other)
        return type(self)(op(left, right), sub)


def _innermost_to_lists(values: Any) -> Any:
    """Appends the batch axis of extent 1 in the literal itself, so that no extra operation is recorded."""
    if isinstance(values, list | tuple):
        return [_innermost_to_lists(v) for v in values]
    return [values]


def align(a: Tensor, b: Tensor) -> tuple[torch.Tensor, torch.Tensor, int]:
    """Data of both with the same number of sub-batch axes, ready to broadcast.

    :returns: data of ``a``, data of ``b``, number of sub-batch axes
    """
    sub = max(a.sub_batch_ndim, b.sub_batch_ndim)
    return with_sub_batch_ndim(a, sub), with_sub_batch_ndim(b, sub), sub


def with_sub_batch_ndim(a: Tensor, ndim: int) -> torch.Tensor:
    """Data of ``a`` with axes of extent 1 inserted in front of its sub-batch axes."""
    data = a.data
    for _ in range(ndim - a.sub_batch_ndim):
        data = data.unsqueeze(a.base_ndim)
    return data


def scale(a: Tensor, b: Any) -> Any:
    """Product of which at least one factor is a scalar or a number."""
    if isinstance(b, Number):
        return a.map(lambda x: x * b)
    if not isinstance(b, Tensor) or (a.base_ndim and b.base_ndim):
        return NotImplemented
    left, right, sub = align(a, b)
    return (type(a) if a.base_ndim else type(b))(left * right, sub)


def contract(constant: Sequence[Any], a: Tensor, axes: int) -> torch.Tensor:
    """Multiplies a constant over the last ``axes`` of its axes with the base axes of ``a`` and sums them.

    :param constant: nested lists of shape ``(*new_base, *a.base_shape)``
    :returns: data ``(*new_base, *sub_batch, B)``
    """
    weights = torch.tensor(constant, dtype=a.dtype, device=a.device)
    new = weights.ndim - axes
    weights = weights.reshape(*weights.shape, *([1] * (a.sub_batch_ndim + 1)))
    return (weights * a.data).sum(dim=tuple(range(new, new + axes)))
