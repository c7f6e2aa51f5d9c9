"""What expressions may ask of typed tensors, in the public layout ``(*B, *sub_batch, *base)``.

* Of a type: ``fill(*components)``, ``full(*B, fill_value=x)``, ``zeros(*B)``, ``ones(*B)``, and ``identity()`` where
  there is one (see :data:`IDENTITIES`).
* Of a tensor: ``data``, its components as a torch tensor, and its two groups of batch axes, ``dynamic_batch`` and
  ``sub_batch``: ``shape``, ``ndim``, ``expand(*shape)``, ``unsqueeze(dim, n)``, and ``sub_batch.retag(n)``, which makes
  the last ``n`` of all batch axes the sub-batch axes.
* Of two groups of axes: ``linspace(start, end, nstep, dim=0)`` and ``logspace(..., base=10.0)``, which insert an
  axis in front of axis ``dim`` of the group.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from matlaw.input.expression_limits import ExpressionError, check_count
from matlaw.input.suggestion import unknown_name
from matlaw.tensors import MRP, R2, SR2, SSR4, WR2, Tensor, to_internal, to_public

_UNIT = torch.tensor([1.0, 1.0, 1.0, 0.0, 0.0, 0.0], dtype=torch.float64)
#: The identity of a type: of rotations the one that rotates nothing.
IDENTITIES: dict[type[Tensor], Callable[[], torch.Tensor]] = {
    SR2: lambda: _UNIT.clone(),
    R2: lambda: torch.eye(3, dtype=torch.float64),
    WR2: lambda: torch.zeros(3, dtype=torch.float64),
    MRP: lambda: torch.zeros(3, dtype=torch.float64),
    # The dyadic product of the identity with itself.
    SSR4: lambda: torch.outer(_UNIT, _UNIT),
}
#: Members of types, and of tensors.
CLASS_MEMBERS = ("fill", "full", "identity", "ones", "zeros")
MEMBERS = ("data", "dynamic_batch", "sub_batch", "sub_batch_ndim")


@dataclass(frozen=True)
class Public:
    """A typed tensor in the public layout.

    :ivar data: ``(*B, *sub_batch, *base)``
    """

    data: torch.Tensor
    kind: type[Tensor]
    sub_batch_ndim: int = 0

    @classmethod
    def of(cls, value: Tensor, batch_shape: tuple[int, ...]) -> Public:
        """From a tensor that holds its batch axes flattened."""
        return cls(to_public(value, batch_shape), type(value), value.sub_batch_ndim)

    @property
    def batch_ndim(self) -> int:
        """Number of batch axes that are not sub-batch axes."""
        return self.data.ndim - self.sub_batch_ndim - self.kind.base_ndim

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """Extents of these axes."""
        return tuple(self.data.shape[: self.batch_ndim])

    def typed(self) -> Tensor:
        """As models take it."""
        return to_internal(self.data, self.kind, self.sub_batch_ndim)


@dataclass(frozen=True)
class Member:
    """A function that an expression may call; it gives a tensor in the public layout."""

    function: Callable[..., Public]


@dataclass(frozen=True)
class Region:
    """A group of batch axes of a tensor.

    :ivar sub: whether these are its sub-batch axes
    """

    owner: Public
    sub: bool

    @property
    def start(self) -> int:
        """Position of the first axis."""
        return self.owner.batch_ndim if self.sub else 0

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the axes."""
        count = self.owner.sub_batch_ndim if self.sub else self.owner.batch_ndim
        return tuple(self.owner.data.shape[self.start : self.start + count])

    def member(self, name: str) -> Any:
        """An attribute or a method.

        :raises ExpressionError: there is none of that name
        """
        if name == "shape":
            return list(self.shape)
        if name == "ndim":
            return len(self.shape)
        methods: dict[str, Callable[..., Public]] = {"expand": self.expand, "unsqueeze": self.unsqueeze}
        if self.sub:
            methods["retag"] = self.retag
        if name not in methods:
            what = "sub_batch" if self.sub else "dynamic_batch"
            raise ExpressionError(unknown_name(f"member of {what}", name, ["shape", "ndim", *methods]))
        return Member(methods[name])

    def expand(self, *shape: int) -> Public:
        """The axes with other extents, repeated where they were 1 or not there; -1 keeps one."""
        sizes = list(_integers(shape, "expand"))
        own = self.shape
        missing = len(sizes) - len(own)
        if missing < 0:
            raise ExpressionError(f"expand: {len(sizes)} extents for {len(own)} axes")
        for i, size in enumerate(sizes):
            if size == -1 and i >= missing:
                sizes[i] = own[i - missing]
            elif size < 0:
                raise ExpressionError(f"expand: expected extents that are not negative, got {size}")
        data = self.owner.data
        for _ in range(missing):
            data = data.unsqueeze(self.start)
        full = (*data.shape[: self.start], *sizes, *data.shape[self.start + len(sizes) :])
        check_count(math.prod(full))
        return Public(data.expand(full), self.owner.kind, self.owner.sub_batch_ndim + (missing if self.sub else 0))

    def unsqueeze(self, dim: int = -1, n: int = 1) -> Public:
        """``n`` more axes of extent 1 in front of axis ``dim``, counted within the group."""
        return self.insert(self.owner.data, dim, n)

    def insert(self, data: torch.Tensor, dim: int, n: int = 1) -> Public:
        """A tensor of the same components with ``n`` more axes of extent 1 in front of axis ``dim`` of the group."""
        count = len(self.shape)
        (dim, n) = _integers((dim, n), "dim and n")
        at = dim + count + 1 if dim < 0 else dim
        if not 0 <= at <= count or not 0 <= n <= 8:
            raise ExpressionError(f"an axis at {dim} does not fit the {count} axes of the group")
        for _ in range(n):
            data = data.unsqueeze(self.start + at)
        return Public(data, self.owner.kind, self.owner.sub_batch_ndim + (n if self.sub else 0))

    def retag(self, ndim: int) -> Public:
        """The same values with another number of sub-batch axes."""
        (ndim,) = _integers((ndim,), "retag")
        available = self.owner.data.ndim - self.owner.kind.base_ndim
        if not 0 <= ndim <= available:
            raise ExpressionError(f"retag({ndim}): there are {available} batch axes")
        return Public(self.owner.data, self.owner.kind, ndim)


def class_member(kind: type[Tensor], name: str) -> Member:
    """A class method of a type.

    :raises ExpressionError: expressions may not use one of that name
    """
    members: dict[str, Callable[..., Public]] = {
        "fill": lambda *components, dtype=None: Public(_filled(kind, components), kind),
        "full": lambda *batch, fill_value, dtype=None: _uniform(kind, batch, fill_value),
        "zeros": lambda *batch, dtype=None: _uniform(kind, batch, 0.0),
        "ones": lambda *batch, dtype=None: _uniform(kind, batch, 1.0),
    }
    if kind in IDENTITIES:
        identity = IDENTITIES[kind]
        members["identity"] = lambda dtype=None: Public(identity(), kind)
    if name not in members:
        raise ExpressionError(unknown_name(f"member of {kind.__name__}", name, members))
    return Member(members[name])


def linspace(start: Region, end: Region, nstep: int, dim: int = 0) -> Public:
    """``nstep`` values from one tensor to another, equally spaced, along a new axis."""
    if not isinstance(start, Region) or not isinstance(end, Region):
        raise ExpressionError(
            "linspace and logspace take groups of axes, such as linspace(Scalar(0.0).dynamic_batch, "
            "Scalar(1.0).dynamic_batch, 10); for plain numbers there is torch.linspace"
        )
    a, b = start.owner, end.owner
    if a.kind is not b.kind or start.sub != end.sub or a.sub_batch_ndim != b.sub_batch_ndim:
        raise ExpressionError(
            "linspace: both ends must be of one type, with one group of axes and as many sub-batch axes"
        )
    (nstep,) = _integers((nstep,), "nstep")
    if nstep < 1:
        raise ExpressionError(f"linspace: expected at least 1 step, got {nstep}")
    left, right = torch.broadcast_tensors(a.data, b.data)
    check_count(left.numel() * nstep)
    region = Region(Public(left, a.kind, a.sub_batch_ndim), start.sub)
    low, high = region.insert(left, dim), region.insert(right, dim).data
    count = len(region.shape)
    axis = region.start + (dim + count + 1 if dim < 0 else dim)
    weights = torch.linspace(0.0, 1.0, nstep, dtype=torch.float64)
    weights = weights.reshape(*([1] * axis), nstep, *([1] * (low.data.ndim - axis - 1)))
    # Exact at both ends.
    data = torch.where(
        weights < 0.5, low.data + weights * (high - low.data), high - (1.0 - weights) * (high - low.data)
    )
    return Public(data, a.kind, low.sub_batch_ndim)


def logspace(start: Region, end: Region, nstep: int, dim: int = 0, base: float = 10.0) -> Public:
    """``base`` to the power of what :func:`linspace` gives."""
    exponents = linspace(start, end, nstep, dim)
    return Public(torch.pow(float(base), exponents.data), exponents.kind, exponents.sub_batch_ndim)


#: Functions of typed tensors, by the names that expressions call them.
FUNCTIONS = {"linspace": Member(linspace), "logspace": Member(logspace)}


def _filled(kind: type[Tensor], components: tuple[Any, ...]) -> torch.Tensor:
    """Components, row by row; of a symmetric tensor 1 (times the identity), 3 (diagonal) or 6 (xx yy zz yz xz xy)."""
    expected = [1, 3, 6] if kind is SR2 else [math.prod(kind.base_shape)]
    if len(components) not in expected:
        counts = " or ".join(map(str, expected))
        raise ExpressionError(f"{kind.__name__}.fill: expected {counts} components, got {len(components)}")
    values = torch.tensor([float(c) for c in components], dtype=torch.float64)
    if kind is not SR2:
        return values.reshape(kind.base_shape)
    shear = values[3:] * math.sqrt(2.0) if len(components) == 6 else torch.zeros(3, dtype=torch.float64)
    return torch.cat([values[:3].expand(3), shear])


def _uniform(kind: type[Tensor], batch: tuple[Any, ...], value: float) -> Public:
    """All components of one value."""
    if len(batch) == 1 and isinstance(batch[0], list | tuple):
        [batch] = batch
    shape = (*_integers(tuple(batch), "batch shape"), *kind.base_shape)
    check_count(math.prod(shape))
    return Public(torch.full(shape, float(value), dtype=torch.float64), kind)


def _integers(values: tuple[Any, ...], what: str) -> tuple[int, ...]:
    if any(type(v) is not int for v in values):
        raise ExpressionError(f"{what}: expected integers, got {', '.join(map(repr, values))}")
    return values
