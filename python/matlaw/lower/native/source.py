"""Write the statements of a program of scalars in C++, over vectors of rows."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

import numpy as np

from matlaw.ir.program import Place, Program, order_statements, reachable
from matlaw.ir.values import Value
from matlaw.lower.native.outer_products import OuterProductLoop
from matlaw.lower.native.storage import storage_of
from matlaw.trace.slots import Slot

_INFIX = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "lt": "<",
    "le": "<=",
    "eq": "==",
    "ne": "!=",
    "and": "&",
    "or": "|",
}
_PREFIX = {"neg": "-", "not": "~"}
_FUNCTIONS = {
    "max": "max_of",
    "min": "min_of",
    "where": "where",
    "add_product": "add_product",
    "sub_product": "sub_product",
} | {name: f"{name}_of" for name in ("sqrt", "exp", "log", "tanh", "sinh", "cosh", "sin", "cos", "abs", "sign", "pow")}

#: Of the interface of kernels, `native::abi_version` of the runtime.
ABI_VERSION: Final = 2


def without_comments(source: str) -> str:
    r"""Generated source without comments and empty lines: what the compiled code depends on.

    >>> without_comments("// elasticity: stress\nint x = 1; // strain[0]")
    'int x = 1;'
    """
    code = (line.partition("//")[0].rstrip() for line in source.splitlines())
    return "\n".join(line for line in code if line)


def pointer_to_input(k: int, slot: Slot) -> str:
    """The declaration of the pointer to an input's memory."""
    return (
        f"  const real * const x{k} = (const real *)inputs[{k}]; // {_one_line(slot.name)} "
        f"{_shape(slot.shape, slot.shared)}"
    )


def pointer_to_output(k: int, slot: Slot) -> str:
    """The declaration of the pointer to an output's memory."""
    return f"  real * const __restrict__ y{k} = (real *)outputs[{k}]; // {_one_line(slot.name)} {_shape(slot.shape)}"


def _shape(shape: tuple[int, ...], shared: bool = False) -> str:
    return "(" + ", ".join(str(n) for n in (*shape, *([] if shared else ["rows"]))) + ")"


def table(k: int, numbers: np.ndarray, float32: bool) -> str:
    """The definition of an array of constants; the rounded numbers are exact as hexadecimal ones."""
    rounded = numbers.astype(np.float32) if float32 else numbers
    texts = [float(x).hex() for x in rounded]
    lines = ",\n  ".join(", ".join(texts[i : i + 4]) for i in range(0, len(texts), 4))
    return f"static const real k{k}[] = {{\n  {lines}}};\n"


def _literal(number: float, float32: bool) -> str:
    if math.isnan(number):
        return 'all(__builtin_nan(""))'
    with np.errstate(over="ignore"):
        rounded = float(np.float32(number)) if float32 else number
    if math.isinf(rounded):
        return f"all({'-' if rounded < 0 else ''}__builtin_inf())"
    return f"all({float(rounded).hex()})" if rounded != int(rounded) or abs(rounded) > 1e9 else f"all({rounded!r})"


class StatementWriter:
    """Writes the statements for one vector of rows.

    What sites share comes first, then a loop over the sites for what varies, which also adds up the sums over sites;
    then what follows from these sums, and so on: stage ``k`` has what needs ``k`` sums one after the other. A loop
    computes anew what an earlier one had.
    """

    def __init__(self, program: Program, float32: bool) -> None:
        self.program = program
        self.float32 = float32
        self.names: dict[int, str] = {}
        #: Arrays that hold the operands of products, by these, and numbers of the tables that are used.
        self.arrays: dict[tuple[int, ...], str] = {}
        self.tables: set[int] = set()
        #: The products that are computed together.
        self.products: dict[tuple, list[Value]] = {}
        #: What the last comment says of the statements below it; None: a loop, or other code, has come since.
        self.origin: str | None = None
        self.blocks = [
            OuterProductLoop(f"{k}_{m}", f"y{k}", block, program.sites)
            for k in range(len(program.outputs))
            for m, block in enumerate(program.products_of(k))
        ]
        #: Per value where it is stored: output, or array of factors, and place.
        self.stores: dict[int, list[tuple[int | str, Place]]] = {}
        self.roots: dict[int, Value] = {v.id: v for v in program.roots}
        for k in range(len(program.outputs)):
            for v, place in program.stores(k):
                self.stores.setdefault(v.id, []).append((k, place))
        for block in self.blocks:
            for v, array, place in block.factors():
                self.stores.setdefault(v.id, []).append((array, place))

    def start(self) -> Iterable[str]:
        """What comes before them."""
        for k, slot in enumerate(self.program.outputs):
            if self.program.has_gaps(k):
                yield f"for (int64_t c = 0; c < {slot.size}; ++c)"
                yield f"  store(y{k} + c * ld, i, all(0.0));"
        storage = storage_of(sum(sum(block.arrays().values()) for block in self.blocks))
        for block in self.blocks:
            yield from block.declarations(storage)

    def end(self) -> Iterable[str]:
        """What comes after them."""
        for block in self.blocks:
            yield from block.loop()

    def statements(self) -> Iterable[str]:
        """The statements."""
        every = reachable(self.roots.values())
        for v in every:
            if v.op == "dot":
                self.products.setdefault(_product_key(v), []).append(v)
        for group in self.products.values():
            group.sort(key=lambda v: _numbers_of(v)[1])
        sums = [v for v in every if v.op == "site_sum"]
        looped = [v for v in self.roots.values() if v.varies or any(p.stride for _, p in self.stores[v.id])]
        needed_outside = self._outside(every, sums)
        for stage in range(max((v.depth for v in every), default=0) + 1):
            yield from self._straight([v for v in needed_outside if v.depth == stage])
            added = [v for v in sums if v.args[0].depth == stage]
            stored = [v for v in looped if v.depth == stage]
            if added or stored:
                yield from self._loop(added, stored)

    def _outside(self, every: list[Value], sums: list[Value]) -> list[Value]:
        """What is computed outside of loops: the roots that no site changes, and what loops need of such."""
        wanted = {v.id: v for v in self.roots.values() if not v.varies}
        for v in every:
            if v.varies or v.op == "site_sum":
                wanted |= {a.id: a for a in v.args if not a.varies}
        return list(wanted.values())

    def _straight(self, wanted: list[Value]) -> Iterable[str]:
        for v in order_statements(wanted, self.names):
            yield from self.define(v)
            yield from self.store(v, looping=False)

    def _loop(self, added: list[Value], stored: list[Value]) -> Iterable[str]:
        for v in added:
            self.names[v.id] = f"t{v.id}"
            yield f"rows t{v.id} = all(0.0);"
        yield f"for (int64_t s = 0; s < {self.program.sites}; ++s)"
        yield "{"
        outer, arrays = dict(self.names), dict(self.arrays)
        self.origin = None
        for v in order_statements([*(v.args[0] for v in added), *stored], self.names):
            yield from (f"  {line}" for line in self.define(v))
            yield from (f"  {line}" for line in self.store(v, looping=True))
        for v in stored:
            if not v.varies:
                yield from (f"  {line}" for line in self.store(v, looping=True))
        for v in added:
            yield f"  t{v.id} = t{v.id} + {self.names[v.args[0].id]};"
        yield "}"
        self.names, self.arrays = outer, arrays
        self.origin = None
        for v in added:
            yield from self.store(v, looping=False)

    def define(self, v: Value) -> Iterable[str]:
        """The statement that computes a value from others that have names; none for a constant."""
        if v.op == "const":
            self.names[v.id] = _literal(v.number, self.float32)
        elif v.op == "mask":
            self.names[v.id] = f"all_mask({'true' if v.data else 'false'})"
        else:
            if v.op != "input" and v.origin != self.origin:  # a note says which input it is
                self.origin = v.origin
                yield f"// {_one_line(v.origin) or 'of no model'}"
            if v.op == "dot":
                yield from self._define_products(v)
                return
            self.names[v.id] = f"t{v.id}"
            kind = "mask" if v.is_mask else "rows"
            yield f"const {kind} t{v.id} = {_expression(v, self.names, self.program)};{_note(v, self.program)}"

    def _define_products(self, v: Value) -> Iterable[str]:
        """A product with shared numbers, and all others that have the same factors and numbers of the same matrix."""
        if v.id in self.names:
            return
        group = self.products[_product_key(v)]
        (slot, first, stride), step = _numbers_of(v), 0
        components = [_numbers_of(w)[1] for w in group]
        if len(group) > 1:
            first, step = components[0], components[1] - components[0]
        if components != [first + k * step for k in range(len(group))]:
            group, first = [v], _numbers_of(v)[1]
        if slot < 0:
            self.tables.add(-1 - slot)
        factors = tuple(a.id for a in v.args)
        if factors not in self.arrays:
            self.arrays[factors] = f"a{v.id}"
            yield f"const rows a{v.id}[] = {{{', '.join(self.names[a] for a in factors)}}};"
        numbers = f"x{slot}" if slot >= 0 else f"k{-1 - slot}"
        array, count = self.arrays[factors], len(group)
        yield f"rows y_{v.id}[{count}];"
        yield f"dense<{len(factors)}, {stride}>({numbers} + {first}, {step}, {array}, {count}, y_{v.id});"
        for k, w in enumerate(group):
            self.names[w.id] = f"y_{v.id}[{k}]"

    def store(self, v: Value, looping: bool) -> Iterable[str]:
        """The statements that store a value where it belongs: in a loop at the site at hand, else once for all."""
        for k, place in self.stores.get(v.id, ()):
            if looping != bool(place.stride):
                continue
            if isinstance(k, str):
                yield f"{k}[{place.component}{f' + s * {place.stride}' if place.stride else ''}] = {self.names[v.id]};"
            else:
                slot = self.program.outputs[k]
                where = component_name(slot, place.component) + (" and further sites" if looping else "")
                yield f"store({address(f'y{k}', place)}, i, {self.names[v.id]}); // {where}"


def _numbers_of(v: Value) -> tuple[int, int, int]:
    """Slot, first component and stride of the numbers that a product is with."""
    assert isinstance(v.data, tuple)
    return v.data


def _product_key(v: Value) -> tuple:
    slot, _, stride = _numbers_of(v)
    return (slot, stride, *(a.id for a in v.args))


def address(pointer: str, place: Place) -> str:
    """Of the first row of a component, in a loop over sites of that of the site at hand."""
    if place.stride:
        return f"{pointer} + ({place.component} + s * {place.stride}) * ld"
    return f"{pointer} + {place.component} * ld" if place.component else pointer


def _expression(v: Value, names: dict[int, str], program: Program) -> str:
    if v.op == "input":
        assert isinstance(v.data, tuple)
        slot, component, stride = v.data
        if program.inputs[slot].shared:
            return f"all(x{slot}[{component}])"
        return f"load({address(f'x{slot}', Place(component, stride))}, i)"
    operands = [names[a.id] for a in v.args]
    if v.op in _INFIX:
        return f"{operands[0]} {_INFIX[v.op]} {operands[1]}"
    if v.op == "pow" and v.args[1].is_const and is_half_power(v.args[1].number):
        return _half_power(operands[0], v.args[1].number)
    if v.op in _PREFIX:
        return f"{_PREFIX[v.op]}{operands[0]}"
    return f"{_FUNCTIONS[v.op]}({', '.join(operands)})"


def is_half_power(exponent: float) -> bool:
    """True for half powers from -2.5 to 3.5: as products and a root within two units in the last place."""
    return -3 < exponent < 4 and exponent != int(exponent) and 2 * exponent == int(2 * exponent)


def _half_power(base: str, exponent: float) -> str:
    """Products and a root."""
    base = f"half_base({base})"
    power = " * ".join([*[base] * int(abs(exponent)), f"sqrt_of({base})"])
    return power if exponent > 0 else f"all(1) / ({power})"


def _note(v: Value, program: Program) -> str:
    if v.op != "input":
        return ""
    assert isinstance(v.data, tuple)
    slot = program.inputs[v.data[0]]
    return f" // {component_name(slot, v.data[1])}{' and further sites' if v.data[2] else ''}"


def _one_line(text: str) -> str:
    """Text that ends with its line: no backslash joins it with the next."""
    return " ".join(text.replace("\\", "/").split())


def component_name(slot: Slot, component: int) -> str:
    """What comments call a component of a slot.

    >>> component_name(Slot("F", (3, 3)), 5)
    'F[1, 2]'
    """
    if not slot.shape:
        return _one_line(slot.name)
    indices = np.unravel_index(component, slot.shape)
    return f"{_one_line(slot.name)}[{', '.join(str(int(n)) for n in indices)}]"
