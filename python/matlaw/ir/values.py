"""Values of the scalar IR: hash-consed, with constants folded as they are made.

Every simplification made here is exact in IEEE arithmetic, NaN and infinity included (``x * 1`` becomes ``x``,
``0 * x`` stays). Two values with the same operation and operands are the same object.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

#: Integer powers up to this are products; a product of n factors has a relative error below n units in the last place.
LARGEST_REDUCED_POWER: Final = 16

REAL_UNARY: Final = ("neg", "sqrt", "exp", "log", "tanh", "sinh", "cosh", "sin", "cos", "abs", "sign")
REAL_BINARY: Final = ("add", "sub", "mul", "div", "pow", "max", "min")
COMPARISONS: Final = ("lt", "le", "gt", "ge", "eq", "ne")
MASK_BINARY: Final = ("and", "or")
_COMMUTATIVE: Final = frozenset({"add", "mul", "eq", "ne", "and", "or"})


#: What each operation means, on NumPy numbers or arrays.
MEANING: Final[dict[str, Callable]] = {
    "neg": np.negative,
    "sqrt": np.sqrt,
    "exp": np.exp,
    "log": np.log,
    "tanh": np.tanh,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "sin": np.sin,
    "cos": np.cos,
    "abs": np.abs,
    "sign": lambda x: np.where(x > 0, 1.0, 0.0) - np.where(x < 0, 1.0, 0.0),
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "pow": np.power,
    "add_product": lambda c, a, b: c + a * b,
    "sub_product": lambda c, a, b: c - a * b,
    "max": np.maximum,
    "min": np.minimum,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "and": np.logical_and,
    "or": np.logical_or,
    "not": np.logical_not,
    "where": np.where,
}


Data = tuple[int, int, int] | float | bool | None

#: Products of so many factors or fewer are written out.
_WRITTEN_OUT: Final = 4


class Value:
    """One scalar per row, or one per row and site: a real number, or a mask (true or false).

    Sites are the places along a sub-batch axis that is kept whole, such as the grains of a polycrystal.

    :ivar op: ``input``, ``const``, ``mask`` (a constant mask), ``site_sum``, ``dot``, or a key of :data:`MEANING`
    :ivar args: operands
    :ivar data: ``(slot, component, stride)`` of an input, the number of a constant. Stride: how many components lie
        between a site and the next; 0 for what all sites share. Of a ``dot``, the product of the operands with numbers
        that all rows share: ``(slot, component, stride)`` of these, where the slot is a weight, or -1 - k for the k-th
        of :attr:`Pool.tables`
    :ivar id: position in the order of creation; operands have smaller ones
    :ivar varies: True when sites differ
    :ivar depth: how many sums over sites stand one after the other on the way to it
    :ivar origin: where it comes from, for comments
    """

    __slots__ = ("args", "data", "depth", "id", "is_mask", "op", "origin", "varies")

    def __init__(self, op: str, args: tuple[Value, ...], data: Data, id: int, is_mask: bool, origin: str) -> None:
        self.op = op
        self.args = args
        self.data = data
        self.id = id
        self.is_mask = is_mask
        self.origin = origin
        if op == "input":
            assert isinstance(data, tuple)
            self.varies, self.depth = data[2] != 0, 0
        else:
            self.varies = op != "site_sum" and any(a.varies for a in args)
            self.depth = max((a.depth for a in args), default=0) + (op == "site_sum")

    @property
    def is_const(self) -> bool:
        """True for a real constant."""
        return self.op == "const"

    @property
    def number(self) -> float:
        """The number of a constant."""
        assert isinstance(self.data, float)
        return self.data

    def __repr__(self) -> str:
        if self.op == "input":
            return f"input{self.data}"
        if self.op in ("const", "mask"):
            return repr(self.data)
        return f"{self.op}({', '.join(f'%{a.id}' for a in self.args)})"


class Pool:
    """Makes values; the same operation on the same operands is made once.

    >>> pool = Pool()
    >>> x = pool.input(0, 0)
    >>> pool.mul(x, pool.const(1.0)) is x
    True
    >>> pool.add(x, pool.const(2.0)) is pool.add(pool.const(2.0), x)
    True
    """

    def __init__(self) -> None:
        self._known: dict[tuple, Value] = {}
        self._count = 0
        #: Where the values that are made now come from.
        self.origin = ""
        #: Slots of the inputs that have one value for all rows.
        self.shared: set[int] = set()
        #: Flat arrays of constants that products go through.
        self.tables: list[np.ndarray] = []
        self.zero = self.const(0.0)
        self.one = self.const(1.0)

    def _make(
        self,
        op: str,
        args: tuple[Value, ...] = (),
        data: Data = None,
        is_mask: bool = False,
    ) -> Value:
        key_data = struct.pack("d", data) if isinstance(data, float) else data
        key = (op, key_data, *(a.id for a in args))
        found = self._known.get(key)
        if found is None:
            found = Value(op, args, data, self._count, is_mask, self.origin)
            self._count += 1
            self._known[key] = found
        return found

    # --- leaves ---

    def input(self, slot: int, component: int, stride: int = 0) -> Value:
        """Component ``component + s * stride`` of input ``slot``, at site ``s``."""
        return self._make("input", data=(slot, component, stride))

    def table(self, numbers: np.ndarray) -> int:
        """The slot that stands for constants, for :meth:`dot`."""
        flat = np.ascontiguousarray(numbers, dtype=np.float64).reshape(-1)
        for k, known in enumerate(self.tables):
            if known.shape == flat.shape and known.tobytes() == flat.tobytes():
                return -1 - k
        self.tables.append(flat)
        return -len(self.tables)

    def dot(self, slot: int, component: int, stride: int, factors: Sequence[Value | None]) -> Value | None:
        """The sum over ``j`` of the number ``component + j * stride`` of a slot times factor ``j``.

        :param slot: a weight, or from :meth:`table`
        :param factors: None is a structural zero
        :returns: None when all factors are structural zeros
        """
        there = [j for j, x in enumerate(factors) if x is not None]
        if len(there) > _WRITTEN_OUT:
            args = tuple(self.zero if x is None else x for x in factors)
            return self._make("dot", args, (slot, component, stride))
        total: Value | None = None
        for j in there:
            factor = factors[j]
            assert factor is not None
            term = self.mul(self._number(slot, component + j * stride), factor)
            total = term if total is None else self.add(total, term)
        return total

    def _number(self, slot: int, component: int) -> Value:
        return self.input(slot, component) if slot >= 0 else self.const(self.tables[-1 - slot][component])

    def const(self, number: float) -> Value:
        """A real constant."""
        return self._make("const", data=float(number))

    def mask(self, truth: bool) -> Value:
        """A constant mask."""
        return self._make("mask", data=bool(truth), is_mask=True)

    def lift(self, x: Value | float | int | bool | np.generic) -> Value:
        """A value, or a Python or NumPy number made into one."""
        if isinstance(x, Value):
            return x
        if isinstance(x, bool | np.bool_):
            return self.mask(bool(x))
        return self.const(float(x))

    def real(self, x: Value | float | int | bool | np.generic) -> Value:
        """Like :meth:`lift`, and a mask becomes 0 or 1."""
        v = self.lift(x)
        return self.where(v, self.one, self.zero) if v.is_mask else v

    def truth(self, x: Value | float | int | bool | np.generic) -> Value:
        """Like :meth:`lift`, and a real number becomes the mask ``x != 0``."""
        v = self.lift(x)
        return v if v.is_mask else self.compare("ne", v, self.zero)

    # --- real operations ---

    def _fold(self, op: str, *args: Value) -> Value | None:
        if all(a.is_const for a in args):
            with np.errstate(all="ignore"):
                return self.const(float(MEANING[op](*(np.float64(a.number) for a in args))))
        return None

    def unary(self, op: str, x: Value) -> Value:
        """One of :data:`REAL_UNARY`."""
        folded = self._fold(op, x)
        if folded is not None:
            return folded
        if op == "neg" and x.op == "neg":
            return x.args[0]
        if op == "neg" and x.op == "mul" and any(a.is_const for a in x.args):
            return self.mul(*(self.neg(a) if a.is_const else a for a in x.args))
        if op == "neg" and x.op == "div" and x.args[0].is_const:
            return self.div(self.neg(x.args[0]), x.args[1])
        if op == "neg" and x.op == "where" and all(a.is_const or a.op == "neg" for a in x.args[1:]):
            return self.where(x.args[0], self.neg(x.args[1]), self.neg(x.args[2]))
        if op == "abs" and x.op in ("abs", "neg"):
            return self.unary("abs", x.args[0]) if x.op == "neg" else x
        return self._make(op, (x,))

    def neg(self, x: Value) -> Value:
        """``-x``"""
        return self.unary("neg", x)

    def sqrt(self, x: Value) -> Value:
        """Square root."""
        return self.unary("sqrt", x)

    def binary(self, op: str, a: Value, b: Value) -> Value:
        """One of :data:`REAL_BINARY`."""
        return getattr(self, {"max": "maximum", "min": "minimum"}.get(op, op))(a, b)

    def _inside_where(self, op: str, a: Value, b: Value) -> Value | None:
        """Two choices by the same mask become one, when the operation on one of the branches folds."""
        if a.op != "where" or b.op != "where" or a.args[0] is not b.args[0]:
            return None
        branches = list(zip(a.args[1:], b.args[1:], strict=True))
        if not any(x.is_const and y.is_const for x, y in branches):
            return None
        return self.where(a.args[0], *(self.binary(op, x, y) for x, y in branches))

    def _commuted(self, op: str, a: Value, b: Value) -> Value:
        if a.id > b.id:
            a, b = b, a
        return self._make(op, (a, b), is_mask=op not in ("add", "mul"))

    def add(self, a: Value, b: Value) -> Value:
        """``a + b``"""
        folded = self._fold("add", a, b) or self._inside_where("add", a, b)
        if folded is not None:
            return folded
        if b.op == "neg":
            return self.sub(a, b.args[0])
        if a.op == "neg":
            return self.sub(b, a.args[0])
        return self._commuted("add", a, b)

    def sub(self, a: Value, b: Value) -> Value:
        """``a - b``"""
        folded = self._fold("sub", a, b) or self._inside_where("sub", a, b)
        if folded is not None:
            return folded
        if b.op == "neg":
            return self.add(a, b.args[0])
        if b is self.zero:
            return a
        return self._make("sub", (a, b))

    def mul(self, a: Value, b: Value) -> Value:
        """``a * b``"""
        folded = self._fold("mul", a, b) or self._inside_where("mul", a, b)
        if folded is not None:
            return folded
        if b.is_const:
            a, b = b, a
        if a.is_const:
            if a.number == 1.0:
                return b
            if a.number == -1.0:
                return self.neg(b)
            if b.op == "neg":
                return self.mul(self.const(-a.number), b.args[0])
        elif a.op == "neg" and b.op == "neg":
            return self.mul(a.args[0], b.args[0])
        elif a.op == "neg":
            return self.neg(self.mul(a.args[0], b))
        elif b.op == "neg":
            return self.neg(self.mul(a, b.args[0]))
        return self._commuted("mul", a, b)

    def add_product(self, c: Value, a: Value, b: Value) -> Value:
        """``c + a b``, rounded once where the CPU can: for linear algebra, which does not mind by how much."""
        return self._with_product("add", c, self.mul(a, b))

    def sub_product(self, c: Value, a: Value, b: Value) -> Value:
        """``c - a b``, likewise."""
        return self._with_product("sub", c, self.mul(a, b))

    def _with_product(self, sign: str, c: Value, product: Value) -> Value:
        if product.op == "neg" and product.args[0].op == "mul":
            sign, product = "sub" if sign == "add" else "add", product.args[0]
        if product.op != "mul" or c is self.zero:
            return self.binary(sign, c, product)
        return self._make(f"{sign}_product", (c, *product.args))

    def div(self, a: Value, b: Value) -> Value:
        """``a / b``"""
        folded = self._fold("div", a, b)
        if folded is not None:
            return folded
        if b.is_const:
            mantissa, _ = math.frexp(b.number) if math.isfinite(b.number) else (0.0, 0)
            if abs(mantissa) == 0.5 and 2.0**-100 < abs(b.number) < 2.0**100:
                return self.mul(a, self.const(1.0 / b.number))
        if a.op == "neg":
            return self.neg(self.div(a.args[0], b))
        if b.op == "neg":
            return self.neg(self.div(a, b.args[0]))
        return self._make("div", (a, b))

    def maximum(self, a: Value, b: Value) -> Value:
        """The larger one; NaN when either is."""
        return self._fold("max", a, b) or (a if a is b else self._make("max", (a, b)))

    def minimum(self, a: Value, b: Value) -> Value:
        """The smaller one; NaN when either is."""
        return self._fold("min", a, b) or (a if a is b else self._make("min", (a, b)))

    def pow(self, base: Value, exponent: Value) -> Value:
        """``base ** exponent``; small integer powers become products.

        Half powers stay: as products with roots they would have no derivative at zero. Backends may reduce them.
        """
        if exponent.is_const and not base.is_const:
            n = exponent.number
            if n == 0.0:
                return self.one
            if abs(n) <= LARGEST_REDUCED_POWER and n == int(n):
                power = self._integer_power(base, abs(int(n)))
                return power if n > 0 else self.div(self.one, power)
        return self._fold("pow", base, exponent) or self._make("pow", (base, exponent))

    def _integer_power(self, base: Value, n: int) -> Value:
        if n == 1:
            return base
        half = self._integer_power(base, n // 2)
        square = self.mul(half, half)
        return self.mul(square, base) if n % 2 else square

    def site_sum(self, a: Value, sites: int) -> Value:
        """The sum over all sites."""
        return self._make("site_sum", (a,)) if a.varies else self.mul(self.const(float(sites)), a)

    # --- masks ---

    def compare(self, op: str, a: Value, b: Value) -> Value:
        """One of :data:`COMPARISONS`; a comparison with NaN is false, except ``ne``."""
        if a.is_const and b.is_const:
            return self.mask(bool(MEANING[op](a.number, b.number)))
        if op in ("gt", "ge"):
            return self._make({"gt": "lt", "ge": "le"}[op], (b, a), is_mask=True)
        return self._commuted(op, a, b) if op in _COMMUTATIVE else self._make(op, (a, b), is_mask=True)

    def logical_and(self, a: Value, b: Value) -> Value:
        """Both."""
        for x, y in ((a, b), (b, a)):
            if x.op == "mask":
                return y if x.data else x
        return a if a is b else self._commuted("and", a, b)

    def logical_or(self, a: Value, b: Value) -> Value:
        """Either."""
        for x, y in ((a, b), (b, a)):
            if x.op == "mask":
                return x if x.data else y
        return a if a is b else self._commuted("or", a, b)

    def logical_not(self, a: Value) -> Value:
        """Not."""
        if a.op == "mask":
            return self.mask(not a.data)
        return a.args[0] if a.op == "not" else self._make("not", (a,), is_mask=True)

    def where(self, mask: Value, a: Value, b: Value) -> Value:
        """``a`` where the mask is true, else ``b``; what is not chosen has no influence."""
        if mask.op == "mask":
            return a if mask.data else b
        if a is b:
            return a
        if a.is_mask or b.is_mask:
            a, b = self.truth(a), self.truth(b)
            return self.logical_or(self.logical_and(mask, a), self.logical_and(self.logical_not(mask), b))
        if mask.op == "not":
            return self.where(mask.args[0], b, a)
        if a.op == "where" and a.args[0] is mask:
            return self.where(mask, a.args[1], b)
        if b.op == "where" and b.args[0] is mask:
            return self.where(mask, a, b.args[2])
        if a.op == "neg" and (b.op == "neg" or b.is_const):
            return self.neg(self.where(mask, a.args[0], self.neg(b)))
        if b.op == "neg" and a.is_const:
            return self.neg(self.where(mask, self.neg(a), b.args[0]))
        return self._make("where", (mask, a, b))
