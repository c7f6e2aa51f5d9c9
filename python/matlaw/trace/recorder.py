"""Record which operations a function applies, by running it on a few rows.

No symbols are involved, which would take seconds to load. A function is run twice, with different numbers of rows; what
differs between the two records must be a multiple of the number of rows, or the function does not treat all rows alike.
So with the number of sites, the places along a sub-batch axis, where that is not to be fixed either.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.weak import WeakIdKeyDictionary

from matlaw.models.provenance import Origin, observed_by
from matlaw.trace.slots import Slot


class NotRecordable(Exception):  # noqa: N818 - turned into an error that names the function
    """A function is no fixed sequence of operations on any number of rows.

    :param message: why
    :param location: of the model whose operation it is, in the input file; empty where it is that of no model
    """

    def __init__(self, message: str, location: str = "") -> None:
        super().__init__(message)
        self.location = location


class DependsOnRows(NotRecordable):
    """What a function does depends on the number of rows."""


@dataclass(frozen=True)
class Rows:
    """An extent that is a multiple of the number of rows, or of sites.

    :ivar factor: of that number
    :ivar what: ``rows`` or ``sites``
    """

    factor: int = 1
    what: str = "rows"

    def __str__(self) -> str:
        return self.what if self.factor == 1 else f"{self.factor}*{self.what}"


@dataclass(frozen=True)
class Shaped:
    """Shape and type of a recorded tensor.

    :ivar shape: numbers, and :class:`Rows`
    :ivar dtype: of the elements
    """

    shape: tuple[int | Rows, ...]
    dtype: torch.dtype


@dataclass(frozen=True)
class _Ref:
    """A tensor, by the number of the value."""

    number: int


@dataclass
class _Call:
    function: Any
    args: Any
    kwargs: Any
    results: Any
    origin: Origin


@dataclass
class _Record:
    """One run.

    :ivar calls: in order
    :ivar shapes: shape and dtype by value number
    :ivar constants: by value number the tensors that no call made
    :ivar made: by value number the results that depend on constants, and maybe the number of rows, only
    :ivar outputs: the results
    """

    calls: list[_Call] = field(default_factory=list)
    shapes: list[tuple[tuple[int, ...], torch.dtype]] = field(default_factory=list)
    constants: dict[int, torch.Tensor] = field(default_factory=dict)
    made: dict[int, torch.Tensor] = field(default_factory=dict)
    outputs: Any = ()


class _Recorder(TorchDispatchMode):
    def __init__(self, arguments: Sequence[torch.Tensor]) -> None:
        super().__init__()
        self.record = _Record()
        self._numbers = WeakIdKeyDictionary()
        self._by_rows: set[int] = set()
        self._origin = Origin()
        #: The innermost model whose evaluation ended in an exception.
        self.failed: Origin | None = None
        for x in arguments:
            self._by_rows.add(self._new(x))

    def _new(self, x: torch.Tensor) -> int:
        number = len(self.record.shapes)
        self._numbers[x] = number
        self.record.shapes.append((tuple(x.shape), x.dtype))
        return number

    def refer(self, x: Any) -> Any:
        """The same structure with references in place of tensors."""
        if isinstance(x, torch.Tensor):
            number = self._numbers.get(x)
            if number is None:
                number = self._new(x)
                self.record.constants[number] = x
            return _Ref(number)
        if isinstance(x, (list, tuple)):
            return tuple(self.refer(y) for y in x)
        return x

    def _read(self, func: Any, args: Any) -> set[int]:
        """The operands whose values decide the course of events or the shape of the result."""
        if not _READS & set(func.tags):
            return set()
        if func.overloadpacket is torch.ops.aten.index:  # by positions, or by a mask
            args = [x for x in args[1] if x is not None and x.dtype in (torch.bool, torch.uint8)]
        return _refs(self.refer(args))

    def run(self, func: Any, args: Any, kwargs: Mapping[str, Any]) -> Any:
        """Apply an operation and write it down."""
        references, named = self.refer(args), {k: self.refer(v) for k, v in kwargs.items()}
        operands = _refs((references, tuple(named.values())))
        varied = not self._by_rows.isdisjoint(operands)
        if not self._by_rows.isdisjoint(self._read(func, args)):
            raise NotRecordable(f"{func} looks at values, which differ from row to row")
        varied &= func not in OF_SHAPE
        result = func(*args, **kwargs)
        if not isinstance(result, (torch.Tensor, list, tuple)):
            return result
        results = []
        for y in result if isinstance(result, (list, tuple)) else (result,):
            if not isinstance(y, torch.Tensor):
                results.append(y)
                continue
            number = self._new(y)
            results.append(_Ref(number))
            if varied:
                self._by_rows.add(number)
            elif operands and torch.Tag.nondeterministic_seeded not in func.tags:
                self.record.made[number] = y
        references_out = tuple(results) if isinstance(result, (list, tuple)) else results[0]
        self.record.calls.append(_Call(func, references, named, references_out, self._origin))
        return result

    @contextmanager
    def within(self, origin: Origin) -> Iterator[None]:
        """Operations that are recorded here come from there."""
        outer, self._origin = self._origin, origin
        try:
            yield
        except Exception:
            self.failed = self.failed or origin
            raise
        finally:
            self._origin = outer


#: Key of a node's metadata: the :class:`~matlaw.models.provenance.Origin` of its operation.
ORIGIN: Final = "matlaw_origin"
#: Numbers of sites to run a function with.
_SITES: Final = (5, 7)

_READS: Final = {torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape}


#: What these give depends on the shape of their operand only.
OF_SHAPE: Final = {
    torch.ops.aten.ones_like.default,
    torch.ops.aten.zeros_like.default,
    torch.ops.aten.full_like.default,
    torch.ops.aten.new_zeros.default,
    torch.ops.aten.new_ones.default,
    torch.ops.aten.new_full.default,
    torch.ops.aten.sym_size.int,
}


def _dispatch(self: _Recorder, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    return self.run(func, args, kwargs or {})


# Not a method: torch would wrap it for its own compiler, and load that, which takes a second.
_Recorder.__torch_dispatch__ = _dispatch  # type: ignore[method-assign,assignment]


def _refs(x: Any) -> set[int]:
    if isinstance(x, _Ref):
        return {x.number}
    return set().union(*map(_refs, x)) if isinstance(x, tuple) else set()


def _run(function: Callable[..., Sequence[torch.Tensor]], shapes: Sequence[tuple[int, ...]], dtype: Any) -> _Record:
    generator = torch.Generator().manual_seed(1)
    # Any regular values do: the results are not used. Those of both runs begin alike.
    arguments = [torch.rand(*shape, dtype=dtype, generator=generator) + 0.5 for shape in shapes]
    recorder = _Recorder(arguments)
    with torch.no_grad(), recorder, observed_by(recorder.within):
        try:
            outputs = tuple(function(*arguments))
        except Exception as e:
            lines = str(e).strip().splitlines()
            reason = str(e) if isinstance(e, NotRecordable) else f"{type(e).__name__}: {(lines or ['no message'])[0]}"
            raise NotRecordable(reason, recorder.failed.location if recorder.failed else "") from e
    recorder.record.outputs = recorder.refer(outputs)
    return recorder.record


def record(
    function: Callable[..., Sequence[torch.Tensor]],
    inputs: Sequence[Slot],
    dtype: torch.dtype,
    rows: tuple[int, int],
    sites: int = 1,
) -> torch.fx.GraphModule:
    """Record a function for any number of rows.

    What depends on constants only is computed once, now.

    :param function: takes one tensor ``(*shape, B)`` per input, returns tensors
    :param inputs: slots of the arguments
    :param dtype: of the arguments
    :param rows: two numbers of rows to run it with
    :param sites: when larger than 1, the first sub-batch axis of slots with this extent may have any other
    :returns: its aten operations; every node that stands for a tensor has its :class:`Shaped` in ``meta["val"]``, one
        that stands for several a tuple of them
    :raises NotRecordable: it fails, looks at values, or what it does depends on the number of rows
    """
    numbers = {"rows": rows} | ({"sites": _SITES} if sites > 1 else {})

    def shapes(k: int) -> list[tuple[int, ...]]:
        places = [slot.site_axis(sites) for slot in inputs]
        return [
            (*(_SITES[k] if d == axis else n for d, n in enumerate(slot.shape)), 1 if slot.shared else rows[k])
            for slot, axis in zip(inputs, places, strict=True)
        ]

    first, second = (_run(function, shapes(k), dtype) for k in range(2))
    return _Merge(first, second, numbers).module(len(inputs))


class _Merge:
    """One graph from two records that differ in the numbers of rows and of sites."""

    def __init__(self, first: _Record, second: _Record, numbers: Mapping[str, tuple[int, int]]) -> None:
        self.first, self.second, self.numbers = first, second, numbers
        if len(first.calls) != len(second.calls) or first.constants.keys() != second.constants.keys():
            raise DependsOnRows("another number of operations", self._where_they_part())
        for number, x in first.constants.items():
            if not _same(x, second.constants[number]):
                raise DependsOnRows("other constants", self._first_use(number))
        self.graph = torch.fx.Graph()
        self.root: dict[str, torch.Tensor] = {}
        self.nodes: dict[int, torch.fx.Node] = {}
        self.extents: dict[Rows, torch.fx.Node] = {}
        mutates = any(call.function._schema.is_mutable for call in first.calls)
        self.folded: dict[int, torch.Tensor] = dict(first.constants)
        if not mutates:
            self.folded |= {k: x for k, x in first.made.items() if k in second.made and _same(x, second.made[k])}

    def _where_they_part(self) -> str:
        """Location of the first model that has other operations in the second record."""
        one: dict[str, list[Any]] = {}
        two: dict[str, list[Any]] = {}
        for found, record in ((one, self.first), (two, self.second)):
            for call in record.calls:
                found.setdefault(call.origin.location, []).append(call.function)
        return next((place for place in {**one, **two} if one.get(place) != two.get(place)), "")

    def _first_use(self, number: int) -> str:
        """Location of the model with the first operation on a value."""
        uses = (call for call in self.first.calls if number in _refs((call.args, tuple(call.kwargs.values()))))
        return next((call.origin.location for call in uses), "")

    def module(self, count: int) -> torch.fx.GraphModule:
        for k in range(count):
            self.nodes[k] = self.graph.placeholder(f"arg{k}")
            self.nodes[k].meta["val"] = self._shaped(k)
        for a, b in zip(self.first.calls, self.second.calls, strict=True):
            try:
                self._merge(a, b)
            except DependsOnRows as e:
                raise DependsOnRows(str(e), a.origin.location) from e
        outputs = self._unified(self.first.outputs, self.second.outputs)
        self.graph.output(self._nodes(outputs))
        self.graph.eliminate_dead_code()
        return torch.fx.GraphModule(self.root, self.graph)

    def _merge(self, a: _Call, b: _Call) -> None:
        """One node from the same operation in both records."""
        if a.function is not b.function or a.results != b.results or a.kwargs.keys() != b.kwargs.keys():
            raise DependsOnRows(f"{a.function} in one case, {b.function} in another")
        args, kwargs = (
            self._unified(a.args, b.args),
            {k: self._unified(v, b.kwargs[k]) for k, v in a.kwargs.items()},
        )
        numbers = _refs(a.results if isinstance(a.results, tuple) else (a.results,))
        if numbers and all(n in self.folded for n in numbers):
            return
        if a.function is torch.ops.aten.detach.default and isinstance(a.results, _Ref):
            # Of a derivative inside the function: the recorded function is differentiated through it.
            self.nodes[a.results.number] = self._nodes(args[0])
            return
        self._call(a, self._nodes(args), {k: self._nodes(v) for k, v in kwargs.items()})

    def _call(self, call: _Call, args: Any, kwargs: dict[str, Any]) -> None:
        node = self.graph.call_function(call.function, args, kwargs)
        node.meta[ORIGIN] = call.origin
        if isinstance(call.results, _Ref):
            node.meta["val"] = self._shaped(call.results.number)
            self.nodes[call.results.number] = node
            return
        node.meta["val"] = tuple(self._shaped(r.number) if isinstance(r, _Ref) else r for r in call.results)
        for k, r in enumerate(call.results):
            if isinstance(r, _Ref):
                part = self.graph.call_function(operator.getitem, (node, k))
                part.meta["val"] = node.meta["val"][k]
                self.nodes[r.number] = part

    def _shaped(self, number: int) -> Shaped:
        (a, dtype), (b, _) = self.first.shapes[number], self.second.shapes[number]
        return Shaped(tuple(self._unified(a, b)), dtype)

    def _unified(self, a: Any, b: Any) -> Any:
        """What stands for ``a`` with the first number of rows and for ``b`` with the second."""
        if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
            return tuple(self._unified(x, y) for x, y in zip(a, b, strict=True))
        if type(a) is type(b) and (a == b or a is b or (a != a and b != b)):
            return a
        for what, (one, two) in self.numbers.items():
            if type(a) is int and type(b) is int and a % one == 0 and b == a // one * two:
                return Rows(a // one, what)
        cases = [", ".join(f"{n[k]} {what}" for what, n in self.numbers.items()) for k in range(2)]
        raise DependsOnRows(f"{a} with {cases[0]}; {b} with {cases[1]}")

    def _nodes(self, x: Any) -> Any:
        if isinstance(x, tuple):
            return tuple(self._nodes(y) for y in x)
        if isinstance(x, Rows):
            return self._extent(x)
        if not isinstance(x, _Ref):
            return x
        if x.number not in self.nodes:
            name = f"constant{len(self.root)}"
            self.root[name] = self.folded[x.number].detach()
            self.nodes[x.number] = self.graph.get_attr(name)
            self.nodes[x.number].meta["val"] = self._shaped(x.number)
        return self.nodes[x.number]

    def _extent(self, rows: Rows) -> torch.fx.Node:
        if rows not in self.extents:
            first, axis = self._telling(rows.what)
            # At the front, so that every later node may use it.
            with self.graph.inserting_before(self._front()):
                whole = self.extents.setdefault(
                    Rows(what=rows.what), self.graph.call_function(torch.ops.aten.sym_size.int, (first, axis))
                )
                if rows.factor != 1:
                    self.extents[rows] = self.graph.call_function(operator.mul, (whole, rows.factor))
        return self.extents[rows]

    def _telling(self, what: str) -> tuple[torch.fx.Node, int]:
        """An argument, and the position of its axis of rows or sites."""
        for node in self.nodes.values():
            if node.op == "placeholder" and Rows(what=what) in node.meta["val"].shape:
                return node, node.meta["val"].shape.index(Rows(what=what))
        raise DependsOnRows(f"no argument tells the number of {what}")

    def _front(self) -> torch.fx.Node:
        known = {*self.extents.values()}
        for node in self.graph.nodes:
            if node.op != "placeholder" and node not in known:
                return node
        return self.graph._root


def _same(a: torch.Tensor, b: torch.Tensor) -> bool:
    if a is b:
        return True
    return a.shape == b.shape and a.dtype == b.dtype and bool(torch.equal(a, b) or _same_bits(a, b))


def _same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    # A copy, because `contiguous` leaves the stride of an axis of one element as it is, and a view needs it to be one.
    copies = (x.detach().clone(memory_format=torch.contiguous_format) for x in (a, b))
    return bool(torch.equal(*(x.reshape(-1).view(torch.uint8) for x in copies)))
