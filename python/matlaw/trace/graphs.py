"""The graphs of a program: which there are, what goes in and out of each.

Docs/architecture.md, section 3, says what each kind of graph computes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import torch

from matlaw.tensors import to_internal
from matlaw.trace.forward import TensorFunction
from matlaw.trace.slots import Slot, total_size

if TYPE_CHECKING:
    from matlaw.models.variable import Variable


@dataclass(frozen=True, eq=False)
class Forward:
    """A differentiable function of a segment, on flat batch-last tensors: what graphs derive from.

    :ivar name: for messages
    :ivar function: one tensor ``(*shape, B)`` per input in, one ``(*shape, B or 1)`` per output out
    :ivar inputs: slots of the arguments
    :ivar outputs: slots of the results
    """

    name: str
    function: TensorFunction
    inputs: tuple[Slot, ...]
    outputs: tuple[Slot, ...]

    def position(self, name: str) -> int:
        """Position of an input."""
        return [slot.name for slot in self.inputs].index(name)


#: Rows and columns of a block that is eliminated first.
Primary = tuple[range, range] | None
#: Name of the vector that ``matvec`` multiplies; no variable can have it.
DIRECTION = "direction v"


@dataclass(frozen=True)
class Pair:
    """A derivative block: of an output by an input or by a promoted parameter.

    :ivar constant: the block ``(*out_base, *in_base)`` when no row has another, else ``None``
    """

    output: str
    input: str
    constant: Any = field(default=None, compare=False)

    @property
    def batch_independent(self) -> bool:
        """True when every row has the same block."""
        return self.constant is not None


@dataclass(frozen=True, eq=False)
class Graph:
    """One graph.

    :ivar kind: ``value``, ``jvp``, ``residual``, ``jacobian``, ``solve``, ``jacobian_given``, ``solve_ift``,
        ``predictor``, ``param_jvp``, ``dr_dparam``, ``solve_param``, ``matvec``, ``precond_setup``, ``precond_apply``,
        ``newton_step``, ``sensitivity``
    :ivar stem: file name without extension
    :ivar inputs: slots, in order
    :ivar outputs: slots, in order
    :ivar forward: what it derives from; ``None`` for pure linear algebra
    :ivar pairs: the blocks of ``jvp``, ``param_jvp``, ``solve_ift`` and ``solve_param``; the derivatives that
        ``jacobian_given`` and ``dr_dparam`` serve
    :ivar columns: names of the inputs whose derivatives stand side by side in ``jacobian``, ``jacobian_given`` and the
        ``P`` of ``dr_dparam``
    :ivar rows: the unknowns whose sensitivities these four are about, all of them
    :ivar of_substeps: nothing but the derivative of a chain of substeps needs it
    :ivar native_only: a native kernel that stands for several graphs; other backends run these
    :ivar column_slots: their givens or parameters, side by side
    :ivar primary: rows and columns that ``solve``, ``solve_ift`` and ``solve_param`` eliminate first; None for none
    :ivar blocks: first component and size of the diagonal blocks of ``precond_setup`` and ``precond_apply``
    """

    kind: str
    stem: str
    inputs: tuple[Slot, ...]
    outputs: tuple[Slot, ...]
    forward: Forward | None = None
    pairs: tuple[Pair, ...] = ()
    columns: tuple[str, ...] = ()
    rows: tuple[Slot, ...] = ()
    column_slots: tuple[Slot, ...] = ()
    of_substeps: bool = False
    native_only: bool = False
    primary: Primary = None
    blocks: tuple[tuple[int, int], ...] = ()


def slots_of(variables: Mapping[str, Variable]) -> tuple[Slot, ...]:
    """One slot per variable."""
    return tuple(Slot(name, variable.shape, variable.sub_batch_ndim) for name, variable in variables.items())


def typed_function(
    call: Callable[[dict[str, Any], dict[str, Any]], Mapping[str, Any]],
    inputs: Mapping[str, Variable],
    parameters: Mapping[str, Any],
    outputs: Sequence[str],
    weights: Mapping[str, Any] = MappingProxyType({}),
) -> TensorFunction:
    """Wrap a function of named typed tensors as one of flat raw tensors.

    :param call: takes values by name and parameters by name, returns typed tensors by name
    :param inputs: what the first arguments are
    :param parameters: typed tensors whose types tell what the arguments after these are
    :param outputs: names of the results, in order
    :param weights: typed tensors that tell what the last arguments are, each in the public layout with one row
    """

    def function(*flat: torch.Tensor) -> list[torch.Tensor]:
        values = {
            name: variable.type(x, variable.sub_batch_ndim)
            for (name, variable), x in zip(inputs.items(), flat, strict=False)
        }
        rest = flat[len(inputs) :]
        promoted = {name: type(p)(x, p.sub_batch_ndim) for (name, p), x in zip(parameters.items(), rest, strict=False)}
        promoted |= {name: _weight(x, p) for (name, p), x in zip(weights.items(), rest[len(parameters) :], strict=True)}
        results = call(values, promoted)
        return [results[name].data for name in outputs]

    return function


def parameter_slots(parameters: Mapping[str, Any]) -> tuple[Slot, ...]:
    """One slot per promoted parameter."""
    return tuple(
        Slot(name, (*type(p).base_shape, *p.sub_batch_shape), p.sub_batch_ndim) for name, p in parameters.items()
    )


def weight_slots(weights: Mapping[str, Any]) -> tuple[Slot, ...]:
    """One slot per weight, in the public layout ``(*sub_batch, *base)``: that of the tensors that are handed over."""
    return tuple(Slot(name, (*w.sub_batch_shape, *w.base_shape), shared=True) for name, w in weights.items())


def _weight(x: torch.Tensor, like: Any) -> Any:
    """A weight as the model takes it."""
    return to_internal(x.movedim(-1, 0), type(like), like.sub_batch_ndim)


def forward_of_segment(
    segment: Any, parameters: Mapping[str, Any], name: str, weights: Mapping[str, Any] = MappingProxyType({})
) -> Forward:
    """The value function of a forward segment: ``(inputs, p, w) -> outputs``."""
    function = typed_function(
        lambda values, p: segment.value(values, p or None), segment.inputs, parameters, list(segment.outputs), weights
    )
    inputs = slots_of(segment.inputs) + parameter_slots(parameters) + weight_slots(weights)
    return Forward(name, function, inputs, slots_of(segment.outputs))


def residual_of_segment(
    segment: Any, parameters: Mapping[str, Any], name: str, weights: Mapping[str, Any] = MappingProxyType({})
) -> Forward:
    """The residual of an implicit segment: ``(u, g, p, w) -> r``, one tensor per unknown."""
    unknowns = list(segment.unknowns)

    def call(values: dict[str, Any], p: dict[str, Any]) -> Mapping[str, Any]:
        u = {k: values[f"unknown {k}"] for k in unknowns}
        return segment.residual(u, {k: values[f"given {k}"] for k in segment.givens}, p or None)

    named = {f"unknown {k}": v for k, v in segment.unknowns.items()}
    named |= {f"given {k}": v for k, v in segment.givens.items()}
    inputs = slots_of(segment.unknowns) + slots_of(segment.givens)
    inputs += parameter_slots(parameters) + weight_slots(weights)
    function = typed_function(call, named, parameters, unknowns, weights)
    return Forward(name, function, inputs, slots_of(segment.unknowns))


def predictor_of_segment(
    segment: Any, parameters: Mapping[str, Any], name: str, weights: Mapping[str, Any] = MappingProxyType({})
) -> Forward | None:
    """The initial guess: ``(its inputs, p, w) -> unknowns``; ``None`` without a predictor."""
    if segment.predictor is None:
        return None
    inputs: Mapping[str, Variable] = segment.predictor.inputs
    outputs: Mapping[str, Variable] = {n: v for n, v in segment.predictor.outputs.items() if n in segment.unknowns}
    function = typed_function(
        lambda values, p: segment.predict(values, p or None), inputs, parameters, list(outputs), weights
    )
    slots = slots_of(inputs) + parameter_slots(parameters) + weight_slots(weights)
    return Forward(name, function, slots, slots_of(outputs))


def value_graph(stem: str, forward: Forward, kind: str = "value") -> Graph:
    """The outputs of a function."""
    return Graph(kind, stem, forward.inputs, forward.outputs, forward)


def jvp_graph(stem: str, forward: Forward, pairs: Sequence[Pair]) -> Graph:
    """The outputs, then one block ``(*out_base, *in_base)`` per pair."""
    return Graph("jvp", stem, forward.inputs, forward.outputs + _blocks(forward, pairs), forward, pairs=tuple(pairs))


def param_jvp_graph(stem: str, forward: Forward, pairs: Sequence[Pair]) -> Graph:
    """One block ``(*out_base, *param_base)`` per (output, parameter) pair."""
    return Graph("param_jvp", stem, forward.inputs, _blocks(forward, pairs), forward, pairs=tuple(pairs))


def _blocks(forward: Forward, pairs: Sequence[Pair]) -> tuple[Slot, ...]:
    shapes = {slot.name: slot.shape for slot in forward.outputs}
    by = {slot.name: slot.shape for slot in forward.inputs}
    return tuple(Slot(f"d {p.output} / d {p.input}", shapes[p.output] + by[p.input]) for p in pairs)


def residual_graph(stem: str, forward: Forward) -> Graph:
    """``b = -r``"""
    return Graph("residual", stem, forward.inputs, (Slot("b", (total_size(forward.outputs),)),), forward)


def jacobian_graph(stem: str, forward: Forward) -> Graph:
    """``A = dr/du`` and ``b = -r``."""
    n = total_size(forward.outputs)
    columns = tuple(slot.name for slot in forward.outputs)
    return Graph("jacobian", stem, forward.inputs, (Slot("A", (n, n)), Slot("b", (n,))), forward, columns=columns)


def jacobian_given_graph(stem: str, forward: Forward, givens: Sequence[str], pairs: Sequence[Pair] = ()) -> Graph:
    """``Bg = dr/dg``, the columns of these givens side by side. ``pairs`` are the derivatives that it serves."""
    first_given = len(forward.outputs)
    sizes = {slot.name: slot.size for slot in forward.inputs[first_given:]}
    n, m = total_size(forward.outputs), sum(sizes[g] for g in givens)
    return Graph(
        "jacobian_given", stem, forward.inputs, (Slot("Bg", (n, m)),), forward, **_columns(forward, pairs, givens)
    )


def dr_dparam_graph(stem: str, forward: Forward, parameters: Sequence[str], pairs: Sequence[Pair] = ()) -> Graph:
    """``A = dr/du`` and ``P = dr/dp``, the columns of these parameters side by side, which serve the ``pairs``."""
    sizes = {slot.name: slot.size for slot in forward.inputs[len(forward.outputs) :]}
    n, m = total_size(forward.outputs), sum(sizes[p] for p in parameters)
    outputs = (Slot("A", (n, n)), Slot("P", (n, m)))
    return Graph("dr_dparam", stem, forward.inputs, outputs, forward, **_columns(forward, pairs, parameters))


def _columns(forward: Forward, pairs: Sequence[Pair], names: Sequence[str]) -> dict[str, Any]:
    """What is said of columns that stand side by side, and of the pairs that they serve."""
    by = {slot.name: slot for slot in forward.inputs[len(forward.outputs) :]}
    return {
        "pairs": tuple(pairs),
        "columns": tuple(names),
        "rows": forward.outputs,
        "column_slots": tuple(by[name] for name in names),
    }


def solve_graph(stem: str, forward: Forward, primary: Primary = None) -> Graph:
    """``du = A^{-1} b``"""
    n = total_size(forward.outputs)
    return Graph("solve", stem, (Slot("A", (n, n)), Slot("b", (n,))), (Slot("du", (n,)),), primary=primary)


def newton_step_graph(stem: str, forward: Forward) -> Graph:
    """``du = A^{-1} b``, ``b = -r``, and 1 where the solution is sound, 0 where ``A`` is to be solved with pivoting."""
    n = total_size(forward.outputs)
    columns = tuple(slot.name for slot in forward.outputs)
    outputs = (Slot("du", (n,)), Slot("b", (n,)), Slot("sound", ()))
    return Graph("newton_step", stem, forward.inputs, outputs, forward, columns=columns, native_only=True)


def sensitivity_graph(stem: str, forward: Forward, givens: Sequence[str]) -> Graph:
    """``-A^{-1} Bg`` with the columns of these givens side by side, and whether it is sound as in ``newton_step``."""
    columns = _columns(forward, (), givens)
    n, m = total_size(forward.outputs), total_size(columns["column_slots"])
    outputs = (Slot("X", (n, m)), Slot("sound", ()))
    return Graph("sensitivity", stem, forward.inputs, outputs, forward, **columns, native_only=True)


def dense_system(graph: Graph) -> tuple[Graph, float]:
    """The graph that forms the system which ``newton_step`` or ``sensitivity`` solves without forming it.

    :returns: the graph, whose outputs are the matrix and the right-hand sides, and the sign that these are to have
    """
    assert graph.forward is not None
    if graph.kind == "newton_step":
        return jacobian_graph(graph.stem, graph.forward), 1.0
    return dr_dparam_graph(graph.stem, graph.forward, graph.columns), -1.0


def matvec_graph(stem: str, forward: Forward) -> Graph:
    """``J v`` with ``J = dr/du``; ``v`` comes after all that the residual takes."""
    n = total_size(forward.outputs)
    columns = tuple(slot.name for slot in forward.outputs)
    inputs = (*forward.inputs, Slot(DIRECTION, (n,)))
    return Graph("matvec", stem, inputs, (Slot("J v", (n,)),), forward, columns=columns)


def precond_setup_graph(stem: str, forward: Forward, blocks: Sequence[tuple[int, int]]) -> Graph:
    """``M``: the blocks of ``J = dr/du`` one after the other, each row-major, ``(entries,)``."""
    entries = sum(size * size for _, size in blocks)
    columns = tuple(slot.name for slot in forward.outputs)
    outputs = (Slot("M", (entries,)),)
    return Graph("precond_setup", stem, forward.inputs, outputs, forward, columns=columns, blocks=tuple(blocks))


def precond_apply_graph(stem: str, forward: Forward, blocks: Sequence[tuple[int, int]]) -> Graph:
    """``z = M^{-1} r``"""
    n = total_size(forward.outputs)
    entries = sum(size * size for _, size in blocks)
    inputs = (Slot("M", (entries,)), Slot("r", (n,)))
    return Graph("precond_apply", stem, inputs, (Slot("z", (n,)),), blocks=tuple(blocks))


def solve_ift_graph(
    stem: str, forward: Forward, pairs: Sequence[Pair], givens: Sequence[str], primary: Primary = None
) -> Graph:
    """``-A^{-1} Bg``, one block ``(*u_base, *g_base)`` per pair."""
    return _sensitivity_graph("solve_ift", "Bg", stem, forward, pairs, givens, primary)


def solve_param_graph(
    stem: str, forward: Forward, pairs: Sequence[Pair], parameters: Sequence[str], primary: Primary = None
) -> Graph:
    """``-A^{-1} P``, one block ``(*u_base, *param_base)`` per pair."""
    return _sensitivity_graph("solve_param", "P", stem, forward, pairs, parameters, primary)


def _sensitivity_graph(
    kind: str, right: str, stem: str, forward: Forward, pairs: Sequence[Pair], columns: Sequence[str], primary: Primary
) -> Graph:
    n = total_size(forward.outputs)
    unknowns = {slot.name: slot for slot in forward.outputs}
    by = {slot.name: slot for slot in forward.inputs[len(forward.outputs) :]}
    m = sum(by[name].size for name in columns)
    blocks = tuple(Slot(f"d {p.output} / d {p.input}", unknowns[p.output].shape + by[p.input].shape) for p in pairs)
    inputs = (Slot("A", (n, n)), Slot(right, (n, m)))
    return Graph(
        kind,
        stem,
        inputs,
        blocks,
        primary=primary,
        **_columns(forward, pairs, columns),
    )


def offsets(slots: Sequence[Slot]) -> dict[str, int]:
    """Where each slot starts when all stand one after the other."""
    found: dict[str, int] = {}
    at = 0
    for slot in slots:
        found[slot.name] = at
        at += slot.size
    return found
