"""From a traced graph of tensors to scalars: every aten operation is interpreted on arrays of IR values.

The batch axis is represented with extent 1, so one array element stands for that component of every row. Whatever
would mix rows (a reduction over the batch, a reshape that scrambles it) is refused, like an operation not listed here;
such a graph is left to Inductor. A sub-batch axis that was recorded as symbolic is treated alike: its sites are told
apart by nothing but what they read, and only a sum may bring them together.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray

from matlaw.ir.program import Program, places
from matlaw.ir.values import COMPARISONS, MEANING, Pool, Value
from matlaw.models.provenance import Origin
from matlaw.trace.recorder import ORIGIN, Rows, Shaped
from matlaw.trace.slots import Slot

Array = NDArray[Any]


class UnsupportedOperation(Exception):  # noqa: N818 - a condition, answered by falling back to Inductor
    """A graph cannot become scalars.

    :ivar operation: the aten operation, for instance ``aten.linalg_inv.default``
    :ivar location: of the model that applies it, in the input file; empty where it is that of no model
    """

    def __init__(self, operation: str, reason: str = "it has no scalar form here") -> None:
        super().__init__(f"{operation}: {reason}")
        self.operation = operation
        self.reason = reason
        self.location = ""


class BatchExtent(int):
    """The number of rows or sites (or a multiple of it) in shape arithmetic; its value counts as 1."""

    def __mul__(self, other: int) -> BatchExtent:
        return BatchExtent(int(self) * int(other))

    __rmul__ = __mul__

    def __floordiv__(self, other: int) -> BatchExtent:
        return BatchExtent(int(self) // int(other))


def symbolic_axes(shape: Sequence[int | Rows]) -> dict[str, int]:
    """Positions of the symbolic extents in a traced shape, by symbol, in order."""
    axes: dict[str, int] = {}
    for d, extent in enumerate(shape):
        if isinstance(extent, int):
            continue
        symbol = str(extent)
        if not symbol.isidentifier():
            raise UnsupportedOperation("shape", f"an axis of extent {symbol} mixes the batch with others")
        if symbol in axes:
            raise UnsupportedOperation("shape", "a tensor has the batch axis twice")
        axes[symbol] = d
    return axes


class Context:
    """What the handler of an operation may use.

    :ivar pool: makes values
    :ivar node: the traced node
    :ivar sites: extent of the symbolic sub-batch axis, 1 without one
    :ivar site_symbol: what stands for it in shapes
    """

    def __init__(self, pool: Pool, node: torch.fx.Node, sites: int = 1, site_symbol: str = "") -> None:
        self.pool = pool
        self.node = node
        self.sites = sites
        self.site_symbol = site_symbol

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the result, symbolic axes with extent 1."""
        return tuple(int(n) if isinstance(n, int) else 1 for n in self.node.meta["val"].shape)

    def axes(self, k: int = 0) -> dict[str, int]:
        """Positions of the symbolic axes of operand ``k``, by symbol."""
        operand = self.node.args[k]
        if not isinstance(operand, torch.fx.Node) or not isinstance(operand.meta.get("val"), Shaped):
            return {}
        return symbolic_axes(operand.meta["val"].shape)

    @property
    def result_axes(self) -> dict[str, int]:
        """Positions of the symbolic axes of the result, by symbol."""
        return symbolic_axes(self.node.meta["val"].shape)

    def is_symbolic(self, axis: int, rank: int, k: int = 0) -> bool:
        """True for an axis of rows or sites of operand ``k``."""
        return axis % max(rank, 1) in self.axes(k).values()

    def refuse(self, reason: str) -> UnsupportedOperation:
        """The exception to raise."""
        return UnsupportedOperation(str(self.node.target), reason)

    def keep_batch_whole(self, axis: int, rank: int, what: str, operand: int = 0) -> None:
        """Refuse when ``axis`` is an axis of rows or sites."""
        if self.is_symbolic(axis, rank, operand):
            raise self.refuse(f"{what} the batch axis mixes rows")

    def map(self, function: Callable[..., Value], *arrays: Any, real: bool = True) -> Array:
        """Apply a function of values element by element, with broadcasting."""
        lift = self.pool.real if real else self.pool.lift
        if any(isinstance(a, BatchExtent) for a in arrays):
            raise self.refuse("the number of rows is used as a value")
        elementwise = np.frompyfunc(lambda *xs: function(*map(lift, xs)), len(arrays), 1)
        with np.errstate(all="ignore"):
            result = elementwise(*(np.asarray(a, dtype=object) for a in arrays))
        return _objects(result)


Handler = Callable[..., Any]
HANDLERS: dict[str, Handler] = {}


def handles(*names: str) -> Callable[[Handler], Handler]:
    """Register a handler for aten operations, by ``name`` or ``name.overload``."""

    def register(handler: Handler) -> Handler:
        for name in names:
            HANDLERS[name] = handler
        return handler

    return register


def _objects(x: Any) -> Array:
    result = np.empty(np.shape(x), dtype=object)
    result[...] = x
    return result


def _is_float(node: torch.fx.Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.dtype.is_floating_point


def _numeric(*arrays: Any) -> bool:
    return all(np.asarray(a).dtype != object for a in arrays)


# --- elementwise ---


def _unary(name: str) -> Handler:
    return lambda c, x: c.map(lambda v: c.pool.unary(name, v), x)


for _name in ("sqrt", "exp", "log", "tanh", "sinh", "cosh", "sin", "cos", "abs", "neg"):
    handles(_name)(_unary(_name))


@handles("sign", "sgn")
def _sign(c: Context, x: Array) -> Array:
    return c.map(lambda v: c.pool.unary("sign", v), x)


def _arithmetic(name: str, numeric: Callable) -> Handler:
    def handler(c: Context, a: Any, b: Any, *, alpha: Any = 1) -> Array:
        if _numeric(a, b) and not _is_float(c.node):
            return numeric(np.asarray(a), np.asarray(b) * alpha)

        def apply(x: Value, y: Value) -> Value:
            if alpha != 1:
                y = c.pool.mul(c.pool.const(float(alpha)), y)
            return c.pool.binary(name, x, y)

        return c.map(apply, a, b)

    return handler


for _name, _numpy in (("add", np.add), ("sub", np.subtract), ("mul", np.multiply)):
    handles(_name)(_arithmetic(_name, _numpy))


@handles("rsub")
def _rsub(c: Context, a: Any, b: Any, alpha: Any = 1) -> Array:
    return _arithmetic("sub", np.subtract)(c, b, c.map(lambda v: c.pool.mul(c.pool.const(float(alpha)), v), a))


@handles("div", "true_divide")
def _div(c: Context, a: Any, b: Any, *, rounding_mode: str | None = None) -> Array:
    if rounding_mode is not None:
        raise c.refuse(f"rounding_mode='{rounding_mode}'")
    return c.map(c.pool.div, a, b)


@handles("pow", "float_power")
def _pow(c: Context, a: Any, b: Any) -> Array:
    return c.map(c.pool.pow, a, b)


@handles("square")
def _square(c: Context, x: Array) -> Array:
    return c.map(lambda v: c.pool.mul(v, v), x)


@handles("reciprocal")
def _reciprocal(c: Context, x: Array) -> Array:
    return c.map(lambda v: c.pool.div(c.pool.one, v), x)


@handles("rsqrt")
def _rsqrt(c: Context, x: Array) -> Array:
    return c.map(lambda v: c.pool.div(c.pool.one, c.pool.sqrt(v)), x)


@handles("exp2")
def _exp2(c: Context, x: Array) -> Array:
    return c.map(lambda v: c.pool.pow(c.pool.const(2.0), v), x)


def _logarithm(base: float) -> Handler:
    def handler(c: Context, x: Array) -> Array:
        factor = c.pool.const(1.0 / np.log(base))
        return c.map(lambda v: c.pool.mul(factor, c.pool.unary("log", v)), x)

    return handler


handles("log10")(_logarithm(10.0))
handles("log2")(_logarithm(2.0))


@handles("addcmul")
def _addcmul(c: Context, x: Array, a: Array, b: Array, *, value: float = 1) -> Array:
    p = c.pool
    return c.map(lambda u, v, w: p.add(u, p.mul(p.mul(p.const(float(value)), v), w)), x, a, b)


@handles("addcdiv")
def _addcdiv(c: Context, x: Array, a: Array, b: Array, *, value: float = 1) -> Array:
    p = c.pool
    return c.map(lambda u, v, w: p.add(u, p.div(p.mul(p.const(float(value)), v), w)), x, a, b)


@handles("sigmoid")
def _sigmoid(c: Context, x: Array) -> Array:
    p = c.pool
    return c.map(lambda v: p.div(p.one, p.add(p.one, p.unary("exp", p.neg(v)))), x)


@handles("maximum")
def _maximum(c: Context, a: Array, b: Array) -> Array:
    return c.map(c.pool.maximum, a, b)


@handles("minimum")
def _minimum(c: Context, a: Array, b: Array) -> Array:
    return c.map(c.pool.minimum, a, b)


def _at_least(c: Context, x: Any, low: Any) -> Array:
    p = c.pool
    return c.map(lambda v, m: p.where(p.logical_or(p.compare("lt", v, m), p.compare("ne", m, m)), m, v), x, low)


def _at_most(c: Context, x: Any, high: Any) -> Array:
    p = c.pool
    return c.map(lambda v, m: p.where(p.logical_or(p.compare("gt", v, m), p.compare("ne", m, m)), m, v), x, high)


@handles("clamp", "clip")
def _clamp(c: Context, x: Array, min: Any = None, max: Any = None) -> Array:
    """NaN stays NaN, a bound that is NaN gives NaN; the derivative at a bound is 1, as in torch."""
    if min is not None:
        x = _at_least(c, x, min)
    return x if max is None else _at_most(c, x, max)


@handles("clamp_min")
def _clamp_min(c: Context, x: Array, min: Any) -> Array:
    return _at_least(c, x, min)


@handles("clamp_max")
def _clamp_max(c: Context, x: Array, max: Any) -> Array:
    return _at_most(c, x, max)


@handles("silu")
def _silu(c: Context, x: Array) -> Array:
    p = c.pool
    return c.map(lambda v: p.div(v, p.add(p.one, p.unary("exp", p.neg(v)))), x)


@handles("softplus")
def _softplus(c: Context, x: Array, beta: float = 1, threshold: float = 20) -> Array:
    p = c.pool

    def smooth(v: Value) -> Value:
        scaled = p.mul(p.const(float(beta)), v)
        # exp of what is chosen only, so that neither value nor derivative overflows.
        small = p.where(p.compare("gt", scaled, p.const(float(threshold))), p.zero, scaled)
        curved = p.div(p.unary("log", p.add(p.one, p.unary("exp", small))), p.const(float(beta)))
        return p.where(p.compare("gt", scaled, p.const(float(threshold))), v, curved)

    return c.map(smooth, x)


@handles("leaky_relu")
def _leaky_relu(c: Context, x: Array, negative_slope: float = 0.01) -> Array:
    p = c.pool
    return c.map(lambda v: p.where(p.compare("gt", v, p.zero), v, p.mul(p.const(float(negative_slope)), v)), x)


@handles("elu")
def _elu(c: Context, x: Array, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Array:
    p = c.pool

    def curved(v: Value) -> Value:
        exponent = p.mul(p.const(float(input_scale)), p.where(p.compare("gt", v, p.zero), p.zero, v))
        return p.mul(p.const(float(alpha * scale)), p.sub(p.unary("exp", exponent), p.one))

    return c.map(lambda v: p.where(p.compare("gt", v, p.zero), p.mul(p.const(float(scale)), v), curved(v)), x)


@handles("relu")
def _relu(c: Context, x: Array) -> Array:
    """NaN stays NaN; the derivative at zero is 0, as in torch."""
    p = c.pool
    return c.map(lambda v: p.where(p.compare("le", v, p.zero), p.zero, v), x)


@handles("threshold_backward")
def _threshold_backward(c: Context, gradient: Array, x: Array, threshold: float) -> Array:
    p = c.pool
    return c.map(lambda g, v: p.where(p.compare("le", v, p.const(float(threshold))), p.zero, g), gradient, x)


@handles("tanh_backward")
def _tanh_backward(c: Context, gradient: Array, y: Array) -> Array:
    p = c.pool
    return c.map(lambda g, v: p.mul(g, p.sub(p.one, p.mul(v, v))), gradient, y)


@handles("where")
def _where(c: Context, mask: Array, a: Any, b: Any) -> Array:
    if _numeric(mask, a, b):
        return np.where(mask, a, b)
    return c.map(lambda m, x, y: c.pool.where(c.pool.truth(m), x, y), mask, a, b, real=False)


@handles("masked_fill")
def _masked_fill(c: Context, x: Array, mask: Array, value: Any) -> Array:
    return _where(c, mask, value, x)


def _comparison(name: str) -> Handler:
    def handler(c: Context, a: Any, b: Any) -> Array:
        if _numeric(a, b):
            return MEANING[name](a, b)
        return c.map(lambda x, y: c.pool.compare(name, x, y), a, b)

    return handler


for _name in COMPARISONS:
    handles(_name)(_comparison(_name))


@handles("logical_and", "bitwise_and")
def _and(c: Context, a: Any, b: Any) -> Array:
    return c.map(lambda x, y: c.pool.logical_and(c.pool.truth(x), c.pool.truth(y)), a, b, real=False)


@handles("logical_or", "bitwise_or")
def _or(c: Context, a: Any, b: Any) -> Array:
    return c.map(lambda x, y: c.pool.logical_or(c.pool.truth(x), c.pool.truth(y)), a, b, real=False)


@handles("logical_xor", "bitwise_xor")
def _xor(c: Context, a: Any, b: Any) -> Array:
    p = c.pool
    return c.map(lambda x, y: p.where(p.truth(x), p.logical_not(p.truth(y)), p.truth(y)), a, b, real=False)


@handles("logical_not", "bitwise_not")
def _not(c: Context, a: Any) -> Array:
    return c.map(lambda x: c.pool.logical_not(c.pool.truth(x)), a, real=False)


@handles("isnan")
def _isnan(c: Context, a: Array) -> Array:
    return c.map(lambda x: c.pool.compare("ne", x, x), a)


@handles("isinf")
def _isinf(c: Context, a: Array) -> Array:
    p = c.pool
    return c.map(lambda x: p.compare("eq", p.unary("abs", x), p.const(np.inf)), a)


@handles("isfinite")
def _isfinite(c: Context, a: Array) -> Array:
    p = c.pool
    return c.map(lambda x: p.compare("lt", p.unary("abs", x), p.const(np.inf)), a)


# --- reductions and products ---


def _reduce(c: Context, x: Array, dims: Any, keepdim: bool, combine: Callable[[Value, Value], Value]) -> Array:
    rank = x.ndim
    if dims is None or (isinstance(dims, list | tuple) and not dims):
        dims = list(range(rank))
    axes = sorted({d % max(rank, 1) for d in ([dims] if isinstance(dims, int) else dims)})
    over_sites = c.axes().get(c.site_symbol, -1) in axes
    for axis in axes:
        if not over_sites or axis != c.axes()[c.site_symbol]:
            c.keep_batch_whole(axis, rank, "a reduction over")
    if over_sites and combine != c.pool.add:
        raise c.refuse("a reduction over sites other than a sum")
    kept = [d for d in range(rank) if d not in axes]
    moved = np.transpose(x, kept + axes).reshape(*(x.shape[d] for d in kept), -1)
    result = np.empty(moved.shape[:-1], dtype=object)
    for index in np.ndindex(*result.shape):
        terms = [c.pool.real(v) for v in moved[index]]
        while len(terms) > 1:  # pairwise: shorter chains, smaller rounding
            paired = [combine(a, b) for a, b in zip(terms[::2], terms[1::2], strict=False)]
            terms = paired + ([terms[-1]] if len(terms) % 2 else [])
        total = terms[0] if terms else c.pool.zero
        result[index] = c.pool.site_sum(total, c.sites) if over_sites else total
    return result.reshape(c.shape)


@handles("sum")
def _sum(c: Context, x: Array, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Array:
    return _reduce(c, x, dim, keepdim, c.pool.add)


@handles("mean")
def _mean(c: Context, x: Array, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Array:
    total = _reduce(c, x, dim, keepdim, c.pool.add)
    over_sites = c.site_symbol in c.axes() and c.site_symbol not in c.result_axes
    count = c.pool.const(float(x.size // max(total.size, 1) * (c.sites if over_sites else 1)))
    return c.map(lambda v: c.pool.div(v, count), total)


@handles("prod")
def _prod(c: Context, x: Array, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Array:
    return _reduce(c, x, dim, keepdim, c.pool.mul)


@handles("amax")
def _amax(c: Context, x: Array, dim: Any = None, keepdim: bool = False) -> Array:
    return _reduce(c, x, dim, keepdim, c.pool.maximum)


@handles("amin")
def _amin(c: Context, x: Array, dim: Any = None, keepdim: bool = False) -> Array:
    return _reduce(c, x, dim, keepdim, c.pool.minimum)


@handles("linalg_vector_norm")
def _norm(c: Context, x: Array, ord: float = 2, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Array:
    if ord != 2:
        raise c.refuse(f"only the 2-norm, not ord={ord}")
    squares = c.map(lambda v: c.pool.mul(v, v), x)
    return c.map(c.pool.sqrt, _reduce(c, squares, dim, keepdim, c.pool.add))


#: Products of so many terms or more with numbers that all rows share are loops.
_LOOP_TERMS: Final = 8
#: Matrices of constants with fewer numbers are written out, and so are sparse ones: what is zero costs nothing then.
_TABLE_SIZE: Final = 64
_TABLE_DENSITY: Final = 0.9
#: Wider layers are as fast in a library's matrix product, and compile faster there.
_WIDEST: Final = 512


def _matmul(c: Context, a: Array, b: Array, first: int = 0) -> Array:
    """The product of operands ``first`` and ``first + 1``."""
    c.keep_batch_whole(-1, a.ndim, "a product over", first)
    c.keep_batch_whole(max(b.ndim - 2, 0), b.ndim, "a product over", first + 1)
    if b.ndim == 2 and a.ndim in (1, 2) and b.shape[0] >= _LOOP_TERMS:
        places = [_shared_numbers(c, b[:, j]) for j in range(b.shape[1])]
        if all(place is not None for place in places):
            return _looped(c, a.reshape(-1, b.shape[0]), places)
        places = _table(c, b)
        if places:
            return _looped(c, a.reshape(-1, b.shape[0]), places)
    if b.ndim == 1:
        products = c.map(c.pool.mul, a, b)
        return _sum_last(c, products)
    columns = np.swapaxes(b, -1, -2)
    return _sum_last(c, c.map(c.pool.mul, a[..., :, None, :], columns[..., None, :, :]))


def _shared_numbers(c: Context, column: Array) -> tuple[int, int, int] | None:
    """Slot, component and stride when a column holds numbers of a weight at equal distances."""
    if not all(isinstance(v, Value) and v.op == "input" for v in column):
        return None
    (slot, first, _), (_, second, _) = column[0].data, column[1].data
    step = second - first
    wanted = [(slot, first + j * step, 0) for j in range(len(column))]
    return (slot, first, step) if slot in c.pool.shared and [v.data for v in column] == wanted else None


def _table(c: Context, matrix: Array) -> list[tuple[int, int, int] | None]:
    """The same for each column of a matrix of constants; none for one that is small or sparse."""
    if matrix.size < _TABLE_SIZE or not all(isinstance(v, Value) and v.is_const for v in matrix.ravel()):
        return []
    numbers = np.array([[v.number for v in row] for row in matrix])
    if np.count_nonzero(numbers) < _TABLE_DENSITY * numbers.size or not np.isfinite(numbers).all():
        return []
    slot, terms = c.pool.table(numbers.T), numbers.shape[0]
    return [(slot, j * terms, 1) for j in range(numbers.shape[1])]


def _looped(c: Context, a: Array, places: Sequence[tuple[int, int, int] | None]) -> Array:
    if max(a.shape[1], len(places)) > _WIDEST:
        raise c.refuse(f"a product with a matrix of {a.shape[1]} x {len(places)} numbers")
    result = np.empty((a.shape[0], len(places)), dtype=object)
    for i, row in enumerate(a):
        factors = [c.pool.real(v) for v in row]
        for j, place in enumerate(places):
            assert place is not None
            result[i, j] = c.pool.dot(*place, factors)
    return result.reshape(c.shape)


def _sum_last(c: Context, products: Array) -> Array:
    result = np.empty(products.shape[:-1], dtype=object)
    for index in np.ndindex(*result.shape):
        total: Value | None = None
        for term in products[index]:
            total = term if total is None else c.pool.add(total, term)
        result[index] = c.pool.zero if total is None else total
    return result.reshape(c.shape)


for _name in ("mm", "bmm", "mv", "dot", "matmul"):
    handles(_name)(lambda c, a, b: _matmul(c, a, b))


@handles("addmm")
def _addmm(c: Context, x: Array, a: Array, b: Array, *, beta: float = 1, alpha: float = 1) -> Array:
    p = c.pool
    scaled = c.map(lambda v: p.mul(p.const(float(alpha)), v), _matmul(c, a, b, first=1))
    return c.map(lambda u, v: p.add(v, p.mul(p.const(float(beta)), u)), x, scaled)


@handles("linalg_cross")
def _cross(c: Context, a: Array, b: Array, *, dim: int = -1) -> Array:
    c.keep_batch_whole(dim, a.ndim, "a product along")
    p = c.pool
    a, b = (np.moveaxis(x, dim, 0) for x in np.broadcast_arrays(a, b))
    parts = [
        c.map(lambda t, u, v, w: p.sub(p.mul(t, u), p.mul(v, w)), a[i], b[j], a[j], b[i])
        for i, j in ((1, 2), (2, 0), (0, 1))
    ]
    return np.stack(parts, axis=dim % (parts[0].ndim + 1))


# --- shapes ---


@handles("view", "reshape", "_unsafe_view", "squeeze", "unsqueeze", "flatten", "_reshape_alias", "view_copy")
def _view(c: Context, x: Array, *_: Any, **__: Any) -> Array:
    target = c.shape
    before, after = c.axes(), c.result_axes
    if list(before) != list(after):
        raise c.refuse("a reshape that makes or drops the batch axis")
    if any(np.prod(x.shape[: before[s]]) != np.prod(target[: after[s]]) for s in before):
        raise c.refuse("a reshape that scrambles the batch axis")
    shaped = x.view()
    try:
        shaped.shape = target
    except AttributeError:
        shaped = x.reshape(target)
        shaped.flags.writeable = False  # a copy: writing to it would not reach the original
    return shaped


@handles("expand", "broadcast_to", "expand_as")
def _expand(c: Context, x: Array, *_: Any, **__: Any) -> Array:
    return np.broadcast_to(x, c.shape)


@handles("permute")
def _permute(c: Context, x: Array, dims: Sequence[int]) -> Array:
    return np.transpose(x, dims)


@handles("transpose")
def _transpose(c: Context, x: Array, a: int, b: int) -> Array:
    return np.swapaxes(x, a, b)


@handles("t", "numpy_T")
def _t(c: Context, x: Array) -> Array:
    return x.T


@handles("movedim")
def _movedim(c: Context, x: Array, a: Any, b: Any) -> Array:
    return np.moveaxis(x, a, b)


@handles("select")
def _select(c: Context, x: Array, dim: int, index: int) -> Array:
    c.keep_batch_whole(dim, x.ndim, "selecting along")
    return x[(slice(None),) * (dim % x.ndim) + (index, ...)]


@handles("slice")
def _slice(c: Context, x: Array, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Array:
    if c.is_symbolic(dim, x.ndim):
        whole = (start in (None, 0)) and (end is None or isinstance(end, BatchExtent) or end > 2**60) and step == 1
        if not whole:
            raise c.refuse("slicing the batch axis mixes rows")
        return x
    return x[(slice(None),) * (dim % x.ndim) + (slice(start, None if end is None else min(end, 2**31), step),)]


@handles("narrow")
def _narrow(c: Context, x: Array, dim: int, start: int, length: int) -> Array:
    return _slice(c, x, dim, start, start + length)


@handles("cat", "concat")
def _cat(c: Context, tensors: Sequence[Array], dim: int = 0) -> Array:
    rank = len(c.shape)
    if dim % rank in c.result_axes.values():
        raise c.refuse("joining along the batch axis mixes rows")
    return np.concatenate([_objects(t) if _is_float(c.node) else t for t in tensors if t.shape != (0,)], axis=dim)


@handles("stack")
def _stack(c: Context, tensors: Sequence[Array], dim: int = 0) -> Array:
    return np.stack(list(tensors), axis=dim)


@handles("unbind")
def _unbind(c: Context, x: Array, dim: int = 0) -> list[Array]:
    c.keep_batch_whole(dim, x.ndim, "taking apart")
    return [x[(slice(None),) * (dim % x.ndim) + (k, ...)] for k in range(x.shape[dim])]


@handles("split", "split_with_sizes")
def _split(c: Context, x: Array, sizes: Any, dim: int = 0) -> list[Array]:
    c.keep_batch_whole(dim, x.ndim, "splitting")
    if isinstance(sizes, int):
        return np.split(x, list(range(sizes, x.shape[dim], sizes)), axis=dim)
    return np.split(x, np.cumsum(sizes)[:-1].tolist(), axis=dim)


@handles("flip")
def _flip(c: Context, x: Array, dims: Sequence[int]) -> Array:
    for d in dims:
        c.keep_batch_whole(d, x.ndim, "flipping")
    return np.flip(x, axis=tuple(dims))


@handles("roll")
def _roll(c: Context, x: Array, shifts: Sequence[int], dims: Sequence[int] = ()) -> Array:
    if not dims and c.axes():
        raise c.refuse("rolling the batch axis mixes rows")
    for d in dims:
        c.keep_batch_whole(d, x.ndim, "rolling")
    return np.roll(x, tuple(shifts), axis=tuple(dims) if dims else None)


@handles("repeat")
def _repeat(c: Context, x: Array, repeats: Sequence[int]) -> Array:
    if any(repeats[axis - x.ndim] != 1 for axis in c.axes().values()):
        raise c.refuse("repeating the batch axis mixes rows")
    return np.tile(x, [int(n) for n in repeats])


@handles("diagonal", "diagonal_copy")
def _diagonal(c: Context, x: Array, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Array:
    for d in (dim1, dim2):
        c.keep_batch_whole(d, x.ndim, "the diagonal of")
    return np.diagonal(x, offset, dim1, dim2)


@handles("diag_embed")
def _diag_embed(c: Context, x: Array, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Array:
    c.keep_batch_whole(-1, x.ndim, "the diagonal of")
    if offset:
        raise c.refuse("offset")
    n = x.shape[-1]
    full = np.full((*x.shape, n), c.pool.zero, dtype=object)
    full[..., range(n), range(n)] = x
    return np.moveaxis(full, (-2, -1), (dim1, dim2))


def _indices(c: Context, x: Array, indices: Sequence[Array | None]) -> tuple[Any, ...]:
    symbolic = c.axes().values()
    found: list[Any] = []
    for d, index in enumerate(indices):
        if index is None:
            found.append(slice(None))
            continue
        if d in symbolic or index.dtype == object:
            raise c.refuse("indexing rows, or by values of rows, mixes rows")
        found.append(index)
    return tuple(found)


@handles("index", "_unsafe_index")
def _index(c: Context, x: Array, indices: Sequence[Array | None]) -> Array:
    return x[_indices(c, x, indices)]


@handles("index_select")
def _index_select(c: Context, x: Array, dim: int, index: Array) -> Array:
    c.keep_batch_whole(dim, x.ndim, "selecting along")
    return np.take(x, index, axis=dim)


@handles("index_put")
def _index_put(c: Context, x: Array, indices: Sequence[Array | None], values: Array, accumulate: bool = False) -> Array:
    where = _indices(c, x, indices)
    result = x.copy()
    if not accumulate:
        result[where] = values
        return result
    positions = np.arange(x.size).reshape(x.shape)[where]
    flat = result.reshape(-1)
    for position, value in zip(positions.ravel(), np.broadcast_to(values, positions.shape).ravel(), strict=True):
        flat[position] = c.pool.add(c.pool.real(flat[position]), c.pool.real(value))
    return flat.reshape(x.shape)


@handles("select_scatter")
def _select_scatter(c: Context, x: Array, source: Array, dim: int, index: int) -> Array:
    c.keep_batch_whole(dim, x.ndim, "writing along")
    result = x.copy()
    result[(slice(None),) * (dim % x.ndim) + (index, ...)] = source
    return result


@handles("slice_scatter")
def _slice_scatter(
    c: Context, x: Array, source: Array, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Array:
    c.keep_batch_whole(dim, x.ndim, "writing along")
    result = x.copy()
    result[(slice(None),) * (dim % x.ndim) + (slice(start, end, step),)] = source
    return result


def _zeros(c: Context) -> Array:
    return np.full(c.shape, c.pool.zero, dtype=object)


@handles("select_backward")
def _select_backward(c: Context, gradient: Array, sizes: Any, dim: int, index: int) -> Array:
    result = _zeros(c)
    result[(slice(None),) * (dim % result.ndim) + (index, ...)] = gradient
    return result


@handles("slice_backward")
def _slice_backward(c: Context, gradient: Array, sizes: Any, dim: int, start: int, end: int, step: int) -> Array:
    result = _zeros(c)
    result[(slice(None),) * (dim % result.ndim) + (slice(start, min(end, 2**31), step),)] = gradient
    return result


@handles("diagonal_backward")
def _diagonal_backward(c: Context, gradient: Array, sizes: Any, offset: int, dim1: int, dim2: int) -> Array:
    if offset:
        raise c.refuse("offset")
    result = _zeros(c)
    moved = np.moveaxis(result, (dim1, dim2), (-2, -1))
    n = gradient.shape[-1]
    moved[..., range(n), range(n)] = gradient
    return result


# --- makers, copies ---


def _full(c: Context, number: Any) -> Array:
    value = c.node.meta["val"]
    if value.dtype.is_floating_point:
        return np.full(c.shape, c.pool.real(number), dtype=object)
    return np.full(c.shape, number, dtype=bool if value.dtype == torch.bool else np.int64)


@handles("zeros", "zeros_like", "new_zeros", "empty", "empty_like", "new_empty", "empty_strided", "new_empty_strided")
def _make_zeros(c: Context, *_: Any, **__: Any) -> Array:
    return _full(c, 0)


@handles("ones", "ones_like", "new_ones")
def _make_ones(c: Context, *_: Any, **__: Any) -> Array:
    return _full(c, 1)


@handles("full", "full_like", "new_full", "fill")
def _make_full(c: Context, _: Any, number: Any, **__: Any) -> Array:
    return _full(c, number.item() if isinstance(number, np.ndarray) else number)


@handles("scalar_tensor")
def _scalar_tensor(c: Context, number: Any, **_: Any) -> Array:
    return _full(c, number)


@handles("eye")
def _eye(c: Context, *_: Any, **__: Any) -> Array:
    return _constant(c.pool, np.eye(c.shape[0], c.shape[1]), _is_float(c.node))


@handles("arange")
def _arange(c: Context, *args: Any, **_: Any) -> Array:
    if any(isinstance(a, BatchExtent) for a in args):
        raise c.refuse("a range over the batch axis tells rows apart")
    return _constant(c.pool, np.arange(*args), _is_float(c.node))


@handles("linspace")
def _linspace(c: Context, start: float, end: float, steps: int, **_: Any) -> Array:
    return _constant(c.pool, np.linspace(start, end, steps), True)


@handles("tril")
def _tril(c: Context, x: Array, diagonal: int = 0) -> Array:
    keep = np.tril(np.ones(x.shape[-2:], dtype=bool), diagonal)
    return _where(c, keep, x, np.full(x.shape, c.pool.zero, dtype=object))


@handles("triu")
def _triu(c: Context, x: Array, diagonal: int = 0) -> Array:
    keep = np.triu(np.ones(x.shape[-2:], dtype=bool), diagonal)
    return _where(c, keep, x, np.full(x.shape, c.pool.zero, dtype=object))


@handles("clone", "lift_fresh_copy", "contiguous", "_copy")
def _clone(c: Context, x: Array, **_: Any) -> Array:
    return x.copy()


@handles("detach", "alias", "lift_fresh", "lift", "positive")
def _same(c: Context, x: Array) -> Array:
    return x


@handles("_to_copy", "to", "type_as")
def _to_copy(c: Context, x: Array, *_: Any, **__: Any) -> Array:
    source, result = c.node.args[0], c.node.meta["val"]
    before = source.meta["val"].dtype if isinstance(source, torch.fx.Node) else result.dtype
    if result.dtype.is_floating_point:
        if before.is_floating_point and before != result.dtype:
            raise c.refuse(f"a cast from {before} to {result.dtype} changes the precision inside a graph")
        return c.map(c.pool.real, x)
    if result.dtype == torch.bool:
        return c.map(c.pool.truth, x, real=False) if x.dtype == object else x.astype(bool)
    if x.dtype == object:
        raise c.refuse(f"a cast of row values to {result.dtype}")
    return x.astype(np.int64)


@handles("copy")
def _copy(c: Context, x: Array, source: Array, non_blocking: bool = False) -> Array:
    return np.broadcast_to(source, x.shape)


# --- the walk over the graph ---

_SYMBOLIC_ARITHMETIC = {operator.mul, operator.floordiv, operator.getitem}


def _constant(pool: Pool, data: Array, real: bool) -> Array:
    if not real:
        return data
    return _objects(np.frompyfunc(lambda x: pool.const(float(x)), 1, 1)(data))


def _resolve(environment: dict[torch.fx.Node, Any], x: Any) -> Any:
    return torch.fx.node.map_arg(x, lambda node: environment[node])


def _call(context: Context, environment: dict[torch.fx.Node, Any]) -> Any:
    node = context.node
    args = [_resolve(environment, a) for a in node.args]
    kwargs = {k: _resolve(environment, v) for k, v in node.kwargs.items()}
    if node.target in _SYMBOLIC_ARITHMETIC:
        assert callable(node.target)
        return node.target(*args)
    if not isinstance(node.target, torch._ops.OpOverload) or node.target.namespace != "aten":
        raise UnsupportedOperation(str(node.target))
    name = node.target._schema.name.removeprefix("aten::")
    if name in ("sym_size", "sym_numel"):
        if name == "sym_numel":
            return BatchExtent(args[0].size)
        return BatchExtent(1) if context.is_symbolic(args[1], args[0].ndim) else args[0].shape[args[1]]
    value = node.meta.get("val")
    if isinstance(value, Shaped):
        symbolic_axes(value.shape)
    in_place = name.endswith("_") and not name.endswith("__")
    handler = HANDLERS.get(f"{name}.{node.target._overloadname}") or HANDLERS.get(
        name.rstrip("_") if in_place else name
    )
    if handler is None:
        raise UnsupportedOperation(str(node.target))
    for option in ("device", "layout", "pin_memory", "memory_format", "generator"):
        kwargs.pop(option, None)
    if name not in ("_to_copy", "sum", "mean", "prod", "linalg_vector_norm"):
        kwargs.pop("dtype", None)
    try:
        result = handler(context, *args, **kwargs)
    except TypeError as e:
        raise context.refuse(f"called with arguments not known here ({e})") from e
    if in_place:
        if not args[0].flags.writeable:
            raise context.refuse("it writes to a view that is a copy here")
        args[0][...] = result
        return args[0]
    return result


def interpret(
    graph_module: torch.fx.GraphModule,
    inputs: Sequence[Slot],
    outputs: Sequence[Slot],
    pool: Pool | None = None,
    sites: int = 1,
) -> Program:
    """Turn a traced graph into scalars.

    :param graph_module: aten operations on tensors ``(*shape, B)`` with a symbolic ``B``, from
        :func:`matlaw.trace.forward.trace`
    :param inputs: slots of the placeholders, in order
    :param outputs: slots of the outputs, in order; a result without the batch axis, or with extent 1, is broadcast
    :param pool: where to make the values; a new one by default
    :param sites: extent of the sub-batch axis that was recorded as symbolic
    :raises UnsupportedOperation: names the operation that has no scalar form, or that mixes rows
    """
    pool = Pool() if pool is None else pool
    environment: dict[torch.fx.Node, Any] = {}
    slots = iter(enumerate(inputs))
    results: list[tuple[Value, ...]] = []
    site_symbol = ""
    for node in graph_module.graph.nodes:
        if node.op == "placeholder":
            k, slot = next(slots)
            if slot.shared:
                pool.shared.add(k)
            axis = slot.site_axis(sites)
            if axis is not None:
                site_symbol = str(node.meta["val"].shape[axis])
            components = _objects([pool.input(k, p.component, p.stride) for p in places(slot, sites)])
            environment[node] = components.reshape(*(1 if d == axis else n for d, n in enumerate(slot.shape)), 1)
        elif node.op == "get_attr":
            data = operator.attrgetter(str(node.target))(graph_module)
            environment[node] = _constant(pool, data.detach().cpu().numpy(), data.dtype.is_floating_point)
        elif node.op == "call_function":
            origin = node.meta.get(ORIGIN, Origin())
            pool.origin = origin.what
            try:
                environment[node] = _call(Context(pool, node, sites, site_symbol), environment)
            except UnsupportedOperation as e:
                e.location = origin.location
                raise
        elif node.op == "output":
            for slot, x in zip(outputs, _resolve(environment, node.args[0]), strict=True):
                array = np.asarray(x, dtype=object)
                if array.size != len(places(slot, sites)):
                    raise UnsupportedOperation("output", f"'{slot.name}' has shape {array.shape}, not {slot.shape}")
                results.append(tuple(pool.real(v) for v in array.ravel()))
        else:
            raise UnsupportedOperation(f"{node.op} {node.target}")
    pool.origin = ""
    stands = tuple(places(slot, sites) for slot in outputs) if sites > 1 else ()
    return Program(pool, tuple(inputs), tuple(outputs), tuple(results), stands, sites)
