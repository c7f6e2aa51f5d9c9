"""An artifact proves itself before it is written: every graph against eager, derivatives against finite differences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray

from matlaw.artifact.memory import rows_at_once, states_at_once
from matlaw.artifact.rounding import with_noise
from matlaw.artifact.samples import ROWS, STATES, in_slices, sample, slices
from matlaw.errors import CompileError
from matlaw.ir.backward_error import backward_errors, too_large
from matlaw.lower.native.kernel import ROW_BLOCK, Kernel
from matlaw.trace.derivatives import graph_function, stacked
from matlaw.trace.graphs import Forward, Graph, dense_system, offsets, residual_graph

#: Batch sizes at which compiled graphs run, as far as memory allows; else as many rows as fit stand for the last.
BATCHES: Final = (1, 2, 3, 17, ROWS)
#: Eager runs more than once with one row, as one state (zero strain) may hide what it does.
_ALONE: Final = (1, 1, 1)
#: A result may be off by this many units of rounding of the row's largest component,
ROUNDING: Final = 100.0
#: plus this many times what one unit of rounding in every operation does.
AMPLIFICATION: Final = 50.0
#: Largest relative difference between derivatives and finite differences.
FINITE_DIFFERENCE: Final = 1e-3
#: From here on a compiled graph may overflow where eager does not.
_HUGE: Final = {True: 1e20, False: 1e150}
#: Finite differences say something as long as a step changes the values by no more than so much of themselves.
_LARGEST_CHANGE: Final = 1.0
#: A row says nothing when its allowed difference is more than this part of its largest component.
_ALL_ROUNDING: Final = 1e-3
_NOISY_RUNS: Final = 3
#: Noise of so many units of rounding shows what one does; one alone is often lost when the next operation rounds.
_NOISE: Final = 4.0
#: Graphs of which every output is a derivative.
_DERIVATIVES: Final = (
    "jacobian", "jacobian_given", "solve_ift", "param_jvp", "dr_dparam", "solve_param", "matvec", "precond_setup"
)  # fmt: skip

Evaluator = Callable[[Sequence[NDArray]], list[NDArray]]


@dataclass
class Reference:
    """What eager says of a graph at sampled states.

    :ivar inputs: per slot ``(*shape, states)``
    :ivar outputs: per output ``(size, states)``
    :ivar allowed: per output, the allowed difference of every component of a row, ``(states,)``
    :ivar huge: rows with larger results may overflow
    :ivar unit: unit of rounding of the compiled graph
    """

    inputs: list[NDArray]
    outputs: list[NDArray]
    allowed: list[NDArray]
    huge: float
    unit: float

    @property
    def states(self) -> int:
        """Number of states."""
        return len(self.allowed[0])


@dataclass(frozen=True, order=True)
class Worst:
    """The largest difference of an output from eager, and among how many rows.

    :ivar error: relative to the row's largest component
    """

    error: float
    rows: int


@torch.no_grad()
def reference(graph: Graph, inputs: Sequence[NDArray], float32: bool) -> Reference:
    """Evaluate a graph eagerly in double precision, and how strongly rounding moves the results."""
    states = _states(graph, inputs)
    outputs = eager(graph, inputs)
    unit = float(np.finfo(np.float32 if float32 else np.float64).eps)
    arguments = [torch.as_tensor(x) for x in inputs]
    moved = [np.zeros_like(y) for y in outputs]
    with np.errstate(all="ignore"):
        for seed in range(_NOISY_RUNS):
            noisy = with_noise(graph_function(graph), arguments, _NOISE * unit, seed)
            for k, (slot, x) in enumerate(zip(graph.outputs, noisy, strict=True)):
                difference = np.abs(_rows_of(x.detach().numpy(), slot.size, states) - outputs[k])
                moved[k] = np.fmax(moved[k], difference / _NOISE)
        allowed = []
        for y, m in zip(outputs, moved, strict=True):
            scale = np.nanmax(np.where(np.isfinite(y), np.abs(y), 0.0), axis=0, initial=0.0)
            worst = np.nanmax(np.where(np.isfinite(m), m, 0.0), axis=0, initial=0.0)
            allowed.append(ROUNDING * unit * scale + AMPLIFICATION * worst + 1e-30)
    return Reference(list(inputs), outputs, allowed, _HUGE[float32], unit)


@torch.no_grad()
def eager(graph: Graph, inputs: Sequence[NDArray]) -> list[NDArray]:
    """The outputs of a graph in plain torch, ``(size, B)`` each."""
    rows = _states(graph, inputs)
    results = graph_function(graph)(*(torch.as_tensor(x) for x in inputs))
    return [_rows_of(x.detach().numpy(), slot.size, rows) for slot, x in zip(graph.outputs, results, strict=True)]


def _rows_of(x: NDArray, size: int, rows: int) -> NDArray:
    """``(size, rows)``; a block without a batch axis is repeated."""
    x = x.reshape(size, -1).astype(np.float64, copy=False)
    return x if x.shape[1] == rows else np.broadcast_to(x, (size, rows))


def _states(graph: Graph, inputs: Sequence[NDArray]) -> int:
    """The number of rows of inputs."""
    return next((x.shape[-1] for slot, x in zip(graph.inputs, inputs, strict=True) if not slot.shared), 1)


def native_evaluator(graph: Graph, library: Path, float32: bool, device: str = "cpu") -> Evaluator:
    """Evaluate through a native kernel."""
    kernel = Kernel(library, graph.inputs, graph.outputs, np.dtype(np.float32 if float32 else np.float64))
    return lambda inputs: [
        _rows_of(y, slot.size, inputs[0].shape[-1]) for slot, y in zip(graph.outputs, kernel(*inputs), strict=True)
    ]


def inductor_evaluator(graph: Graph, package: Path, float32: bool, device: str = "cpu") -> Evaluator:
    """Evaluate through a ``.pt2``, rows padded to whole blocks like the runtime does."""
    # What torch._inductor.aoti_load_package wraps; that would import a compiler, and try it out.
    runner = torch._C._aoti.AOTIModelPackageLoader(str(package), "model", False, 1, -1)
    dtype = torch.float32 if float32 else torch.float64

    def evaluate(inputs: Sequence[NDArray]) -> list[NDArray]:
        rows = inputs[0].shape[-1]
        padding = -rows % ROW_BLOCK
        padded = [
            x if slot.shared else np.concatenate([x, np.repeat(x[..., -1:], padding, axis=-1)], axis=-1)
            for slot, x in zip(graph.inputs, inputs, strict=True)
        ]
        results = runner.boxed_run([torch.as_tensor(x).to(device, dtype).contiguous() for x in padded])
        return [
            _rows_of(y.cpu().numpy(), slot.size, rows + padding)[:, :rows]
            for slot, y in zip(graph.outputs, results, strict=True)
        ]

    return evaluate


_EVALUATORS: Final = {"native": native_evaluator, "inductor": inductor_evaluator}


def _taken(graph: Graph, inputs: Sequence[NDArray], rows: NDArray) -> list[NDArray]:
    """These rows of the inputs; weights have none."""
    return [
        x if slot.shared else np.ascontiguousarray(x[..., rows]) for slot, x in zip(graph.inputs, inputs, strict=True)
    ]


def check_row_counts(graph: Graph, expected: Reference) -> None:
    """Compare eager with itself: a law that looks at the number of rows cannot be compiled for any number of them.

    :raises CompileError: a row has another result among fewer rows
    """
    known = _finite_values(graph, expected)
    random = np.random.default_rng(5)
    for rows in (*_ALONE, *(n for n in BATCHES if n <= expected.states)):
        chosen = random.choice(expected.states, rows, replace=False)
        results = eager(graph, _taken(graph, expected.inputs, chosen))
        for k, slot in enumerate(graph.outputs):
            ref, allowed = expected.outputs[k][:, chosen], expected.allowed[k][chosen]
            off = _disagreement(graph, slot.name, results[k], ref, allowed, known[k][chosen], expected)
            if off is not None:
                raise CompileError(
                    f"{graph.stem}: the law itself gives '{slot.name}', component {off[0]}, of a row as "
                    f"{results[k][off]!r} among {rows} rows and as {ref[off]!r} among {expected.states}. "
                    "Every row must be treated alike, for any number of rows."
                )


def batches_of(graph: Graph) -> tuple[int, ...]:
    """Those of :data:`BATCHES` that fit the memory, ascending; the last is the largest that fits."""
    most = rows_at_once(graph)
    return (*(n for n in BATCHES if n < most), most)


def compare(
    graph: Graph,
    evaluator: Evaluator,
    expected: Reference,
    what: str,
    same_bits: bool,
    batches: Sequence[int] = BATCHES,
) -> dict[str, Worst]:
    """Compare a compiled graph with eager at some batch sizes.

    :param graph: what was compiled
    :param evaluator: runs it
    :param expected: what eager says
    :param what: the file, for messages
    :param same_bits: whether a row must give the same bits in every batch and order
    :param batches: ascending; the last one has at least as many rows as there are states
    :returns: by output, what differs most at well-conditioned rows
    :raises CompileError: they disagree; names output, row and values
    """
    order = np.arange(batches[-1]) % expected.states
    worst: dict[str, Worst] = {}
    whole: list[NDArray] = []
    values = _finite_values(graph, expected)
    for rows in reversed(batches):
        results = evaluator(_taken(graph, expected.inputs, order[:rows]))
        whole = whole or results
        for k, slot in enumerate(graph.outputs):
            y, ref, allowed = results[k], expected.outputs[k][:, order[:rows]], expected.allowed[k][order[:rows]]
            known = values[k][order[:rows]]
            off = _disagreement(graph, slot.name, y, ref, allowed, known, expected)
            if off is not None:
                raise CompileError(
                    f"{what}: disagrees with eager: '{slot.name}', component {off[0]}, row {off[1]} of {rows}: "
                    f"{y[off]!r}, eager {ref[off]!r} (allowed difference {allowed[off[1]]:.1e})"
                )
            here = Worst(_relative_difference(y, ref, allowed, expected), rows)
            worst[slot.name] = max(worst.get(slot.name, here), here)
            if same_bits and not np.array_equal(y, whole[k][:, :rows], equal_nan=True):
                raise CompileError(f"{what}: '{slot.name}': a row's result depends on the number of rows ({rows})")
    if same_bits:
        mixed = np.random.default_rng(3).permutation(len(order))
        shuffled = evaluator(_taken(graph, expected.inputs, order[mixed]))
        if not all(np.array_equal(y, w[:, mixed], equal_nan=True) for y, w in zip(shuffled, whole, strict=True)):
            raise CompileError(f"{what}: a row's result depends on its position")
    return worst


def compare_solution(
    graph: Graph, evaluator: Evaluator, parts: Iterable[Sequence[NDArray]], what: str, batches: Sequence[int] = BATCHES
) -> float:
    """Check a kernel that solves without a matrix: by the matrix that eager forms, in the rows that it calls sound.

    :param parts: the states, in slices
    :param batches: as in :func:`compare`, for the first slice
    :returns: the median of the backward errors
    :raises CompileError: it is too large, or a row depends on others
    """
    dense, sign = dense_system(graph)
    found: list[NDArray] = []
    for inputs in parts:
        states = _states(graph, inputs)
        A, x, b, sound = _solution(graph, dense, evaluator, inputs, what, (states,) if found else batches)
        errors = backward_errors(A, x, sign * b)
        known = [np.abs(y).max(axis=(0, 1)) < _HUGE[False] for y in (A, b)]  # not where the equations overflow
        found.append(errors[sound & known[0] & known[1]])
    compared = np.concatenate(found)
    if not len(compared):
        raise CompileError(f"{what}: it calls none of {STATES} sampled states sound")
    if wrong := too_large(compared, graph.kind):
        raise CompileError(f"{what}: {wrong}")
    return float(np.median(compared))


def _solution(
    graph: Graph, dense: Graph, evaluator: Evaluator, inputs: Sequence[NDArray], what: str, batches: Sequence[int]
) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Matrices ``(n, n, states)``, a kernel's solutions and the right-hand sides, and which rows it calls sound."""
    n, states = graph.outputs[0].shape[0], _states(graph, inputs)
    order = np.arange(batches[-1]) % states
    whole: list[NDArray] = []
    for rows in reversed(batches):
        results = evaluator(_taken(graph, inputs, order[:rows]))
        whole = whole or results
        if not all(np.array_equal(y, w[:, :rows], equal_nan=True) for y, w in zip(results, whole, strict=True)):
            raise CompileError(f"{what}: a row's result depends on the number of rows ({rows})")
    A, b = (y.reshape(n, -1, states) for y in eager(dense, inputs))
    return A, whole[0][:, :states].reshape(n, -1, states), b, whole[-1][0, :states] == 1.0


#: A row that a solver in a kernel calls done has a residual below this part of the first one; so says eager, but for
#: rounding.
_SOLVED: Final = 1e-6
_STEPS: Final = 25


@torch.no_grad()
def check_solver(graph: Graph, library: Path, inputs: Sequence[NDArray]) -> None:
    """Check the solver in a kernel of Newton steps: what it calls done solves the eager equations.

    Rounding may be all that is left of the residual of a sampled state, so that the median decides.

    :raises CompileError: they do not
    """
    assert graph.forward is not None
    kernel = Kernel(library, graph.inputs, graph.outputs, np.dtype(np.float64))
    solved = kernel.solve(*inputs, atol=0.0, rtol=_SOLVED, most=_STEPS, easy=_STEPS, settled=1.0)
    if solved is None:
        return
    unknowns, (first, last, iterations, done) = solved
    residual = residual_graph(graph.stem, graph.forward)
    found = list(inputs)
    at = 0
    for k in range(len(graph.columns)):
        size = graph.inputs[k].size
        found[k] = unknowns[at : at + size].reshape(inputs[k].shape)
        at += size
    with np.errstate(all="ignore"):
        start, end = (np.linalg.norm(eager(residual, x)[0], axis=0) for x in (inputs, found))
        known = (start > 0.0) & (start < _HUGE[False])
        off, left = np.abs(first - start)[known] / start[known], (end / start)[known & (done == 1.0)]
    if len(off) and not np.median(off) <= _SOLVED:
        raise CompileError(f"{library.name}: its solver starts from another residual than the eager model")
    if len(left) and not np.median(left) <= 2 * _SOLVED:
        raise CompileError(f"{library.name}: its solver ends where the eager equations do not hold")
    if not (last < _SOLVED * first)[done == 1.0].all() or not (iterations <= _STEPS).all():
        raise CompileError(f"{library.name}: its solver calls rows done that are not")


def check_in_place(graph: Graph, library: Path, float32: bool, inputs: Sequence[NDArray]) -> None:
    """Check that a kernel gives the same bits where rows stand in the memory of a caller, and sees what is not finite.

    :raises CompileError: it does not
    """
    kernel = Kernel(library, graph.inputs, graph.outputs, np.dtype(np.float32 if float32 else np.float64))
    if not kernel.has_in_place:
        return
    whole = inputs[0].shape[-1] // ROW_BLOCK * ROW_BLOCK
    taken = [np.array(x[..., :whole], kernel.dtype).reshape(-1, whole) for x in inputs]
    expected = [_rows_of(y, slot.size, whole) for slot, y in zip(graph.outputs, kernel(*taken), strict=True)]
    finite = all(np.isfinite(x).all() for x in (*taken, *expected))
    for order in ("C", "F"):
        results, sound = kernel.in_place(*(np.array(x, order=order) for x in taken))
        if not all(np.array_equal(y, e, equal_nan=True) for y, e in zip(results, expected, strict=True)):
            raise CompileError(f"{library.name}: it gives other values on the memory of a caller")
        if sound and not finite:
            raise CompileError(f"{library.name}: it takes values for finite that are not")


def _finite_values(graph: Graph, expected: Reference) -> list[NDArray]:
    """For each output the rows ``(states,)`` in which what it is a derivative of is finite, if the graph has that."""
    finite = [np.isfinite(y).all(axis=0) for y in expected.outputs]
    found = [np.ones(expected.states, dtype=bool) for _ in finite]
    if graph.kind == "jvp":
        place = {slot.name: k for k, slot in enumerate(graph.outputs)}
        for k, pair in enumerate(graph.pairs, len(graph.outputs) - len(graph.pairs)):
            found[k] = finite[place[pair.output]]
    elif graph.kind == "jacobian":
        found[0] = finite[1]
    return found


def _disagreement(
    graph: Graph, name: str, y: NDArray, ref: NDArray, allowed: NDArray, known: NDArray, expected: Reference
) -> tuple[int, int] | None:
    """Component and row of the first result that is off."""
    derivative = name.startswith("d ") or graph.kind in _DERIVATIVES
    with np.errstate(all="ignore"):
        finite = np.isfinite(ref)
        # Where eager is not finite a value must be the same; a derivative may be finite where reverse mode met 0 * inf.
        same = (y == ref) | (np.isnan(y) & np.isnan(ref)) | derivative
        good = np.where(finite, np.abs(y - ref) <= allowed, same)
        good |= ~known | (np.abs(ref).max(axis=0) > expected.huge)
        # Nothing is known of a row of which rounding leaves less than three digits.
        good |= allowed > _ALL_ROUNDING * np.abs(np.where(finite, ref, 0.0)).max(axis=0)
    if good.all():
        return None
    component, row = (int(k[0]) for k in np.where(~good))
    return component, row


def _relative_difference(y: NDArray, ref: NDArray, allowed: NDArray, expected: Reference) -> float:
    if not ref.size:
        return 0.0
    with np.errstate(all="ignore"):
        finite = np.isfinite(ref)
        scale = np.max(np.where(finite, np.abs(ref), 0.0), axis=0)
        quiet = (allowed <= 10.0 * ROUNDING * expected.unit * scale) & finite.all(axis=0)
        relative = np.where(quiet, np.abs(y - ref).max(axis=0) / np.maximum(scale, 1e-300), 0.0)
    return float(relative.max(initial=0.0))


#: Of an input with more components so many of them, chosen at random, are moved for finite differences. These check
#: what eager differentiates; all that was compiled is compared with that.
_COLUMNS: Final = 24


@torch.no_grad()
def check_finite_differences(graph: Graph, expected: Reference, what: str) -> float:
    """Compare the derivatives that eager gives with central differences of the forward function.

    A row where two step sizes disagree or rounding drowns the difference says nothing and is left out; so is one at a
    kink, where the slopes to both sides differ by as much at both step sizes.

    :returns: the largest relative difference
    :raises CompileError: they disagree
    """
    forward = graph.forward
    assert forward is not None
    worst = 0.0
    sizes = _sizes(forward, stacked(forward, [torch.as_tensor(x) for x in expected.inputs], expected.states).numpy())
    noise = _noise(forward, [torch.as_tensor(x) for x in expected.inputs], expected.states)
    random = np.random.default_rng(7)
    for by, first, block in _blocks(graph, forward, expected):
        position = forward.position(by)
        last = first + block.shape[0]
        columns = np.arange(block.shape[1])
        if len(columns) > _COLUMNS:
            columns = random.choice(columns, _COLUMNS, replace=False)
            block = block[:, columns]
        coarse, coarse_bend = (x[first:last] for x in _differences(forward, expected.inputs, position, 1e-4, columns))
        fine, fine_bend = (x[first:last] for x in _differences(forward, expected.inputs, position, 2.5e-5, columns))
        with np.errstate(all="ignore"):
            scale = np.maximum(np.abs(fine).max(axis=(0, 1)), np.abs(block).max(axis=(0, 1)))
            scale = np.maximum(scale, 1e-30)
            smooth = np.abs(coarse - fine).max(axis=(0, 1)) <= 1e-4 * scale
            step = _step(expected.inputs[position], 2.5e-5)
            resolved = noise / step <= 1e-5 * scale
            # The slopes to both sides of a smooth function approach each other as the step does zero.
            kinks = (fine_bend > 0.5 * coarse_bend) & (fine_bend > 1e-4 * scale)
            trusted = smooth & resolved & ~kinks.any(axis=(0, 1)) & np.isfinite(block).all(axis=(0, 1))
            # By a derivative far beyond it a value would leave its own range in one step: nothing is linear there.
            linear = step * np.abs(block) <= _LARGEST_CHANGE * sizes[first:last, None]
            error = np.where(linear, np.abs(block - fine), 0.0).max(axis=(0, 1)) / scale
        bad = trusted & ~(error <= FINITE_DIFFERENCE)
        if bad.any():
            row = int(np.where(bad)[0][0])
            raise CompileError(
                f"{what}: the derivative by '{by}' differs from finite differences by {error[row]:.1e} in row {row}"
            )
        worst = max(worst, float(error[trusted].max(initial=0.0)))
    return worst


def _sizes(forward: Forward, values: NDArray) -> NDArray:
    """For each of the stacked components the largest one of its variable, ``(n, states)``."""
    at = offsets(forward.outputs)
    parts = [np.abs(values[at[slot.name] : at[slot.name] + slot.size]) for slot in forward.outputs]
    return np.concatenate([np.broadcast_to(part.max(axis=0, initial=0.0), part.shape) for part in parts])


def _noise(forward: Forward, arguments: Sequence[torch.Tensor], states: int) -> NDArray:
    """By how much rounding moves the outputs of a row, ``(states,)``."""
    unit = float(np.finfo(np.float64).eps)
    exact = stacked(forward, arguments, states)
    noisy = [with_noise(lambda *x: [stacked(forward, x, states)], arguments, unit, seed)[0] for seed in range(2)]
    moved = torch.stack([(y - exact).abs() for y in noisy]).amax(dim=(0, 1))
    return np.nan_to_num((moved + unit * exact.abs().amax(dim=0)).numpy(), nan=np.inf)


def _blocks(graph: Graph, forward: Forward, expected: Reference) -> list[tuple[str, int, NDArray]]:
    """Derivative blocks: by which input, the first of the stacked output components, ``(rows, columns, states)``."""
    found: list[tuple[str, int, NDArray]] = []
    sizes = {slot.name: slot.size for slot in forward.inputs}
    if graph.kind in ("jvp", "param_jvp"):
        at = offsets(forward.outputs)
        blocks = expected.outputs[len(graph.outputs) - len(graph.pairs) :]
        for pair, block in zip(graph.pairs, blocks, strict=True):
            found.append((pair.input, at[pair.output], block.reshape(-1, sizes[pair.input], expected.states)))
    elif graph.columns:
        which = 1 if graph.kind == "dr_dparam" else 0
        dense = expected.outputs[which].reshape(*graph.outputs[which].shape, expected.states)
        column = 0
        for name in graph.columns:
            found.append((name, 0, dense[:, column : column + sizes[name]]))
            column += sizes[name]
    return found


def _differences(
    forward: Forward, inputs: Sequence[NDArray], position: int, step: float, columns: NDArray
) -> tuple[NDArray, NDArray]:
    """Central differences of all outputs by one input, and by how much the slopes to both sides differ.

    :param columns: which components of the input
    :returns: both ``(n, columns, states)``
    """
    slot = forward.inputs[position]
    x = inputs[position].reshape(slot.size, -1)
    states = x.shape[1]
    h = _step(x, step)
    middle = stacked(forward, [torch.as_tensor(a) for a in inputs], states).numpy()
    slopes, bends = [], []
    for k in columns:
        sides = []
        for sign in (1.0, -1.0):
            moved = x.copy()
            moved[k] += sign * h
            arguments = [torch.as_tensor(a) for a in inputs]
            arguments[position] = torch.as_tensor(moved.reshape(*slot.shape, states))
            sides.append((stacked(forward, arguments, states).numpy(), moved[k]))
        with np.errstate(all="ignore"):
            slopes.append((sides[0][0] - sides[1][0]) / (sides[0][1] - sides[1][1]))
            bends.append(np.abs(sides[0][0] + sides[1][0] - 2.0 * middle) / h)
    return np.stack(slopes, axis=1), np.stack(bends, axis=1)


def _step(x: NDArray, step: float) -> NDArray:
    """Step lengths per row, relative to the row's largest component."""
    return step * np.maximum(np.abs(x.reshape(-1, x.shape[-1])).max(axis=0), 1e-6)


def check_graph(
    graph: Graph,
    files: Sequence[tuple[str, Path]],
    parameters: Mapping[str, NDArray],
    float32: bool,
    seeds: Sequence[int] = (1,),
    device: str = "cpu",
    most_slices: int | None = None,
) -> dict[str, Any]:
    """Check everything that was compiled for a graph.

    :param graph: the graph
    :param files: backend (``native``, ``inductor``) and file
    :param parameters: values of promoted parameters by name
    :param float32: the precision of the files
    :param seeds: of the sampled states; every seed gives :data:`~matlaw.artifact.samples.STATES` more
    :param device: of the files
    :param most_slices: how often as many states are taken as fit the memory at once; None: until all are
    :returns: for metadata, the worst error by backend, and below ``outputs`` by output, with the batch size
    :raises CompileError: something disagrees
    """
    found: dict[str, Any] = {}
    worst: dict[str, Worst] = {}
    evaluators = [(backend, file, _EVALUATORS[backend](graph, file, float32, device)) for backend, file in files]
    batches = batches_of(graph)
    most = states_at_once(graph)
    for seed in seeds:
        if graph.native_only:
            inputs = sample(graph, parameters, float32, seed)
            for backend, file, evaluator in evaluators:
                parts = islice(slices(graph, inputs, most), most_slices)
                error = compare_solution(graph, evaluator, parts, file.name, batches)
                if graph.kind == "newton_step":
                    check_solver(graph, file, inputs)
                found[backend] = max(error, found.get(backend, 0.0))
            continue
        for k, inputs in enumerate(islice(in_slices(graph, parameters, float32, seed, most), most_slices)):
            expected = reference(graph, inputs, float32)
            if k == 0 and seed == seeds[0]:
                check_row_counts(graph, expected)
            errors = []
            if graph.kind in ("jvp", "jacobian", "jacobian_given", "param_jvp", "dr_dparam"):
                errors.append(("finite_differences", check_finite_differences(graph, expected, graph.stem)))
            for backend, file, evaluator in evaluators:
                # All numbers of rows with the first slice; every state once.
                sizes = batches if k == 0 else (expected.states,)
                outputs = compare(graph, evaluator, expected, file.name, backend == "native", sizes)
                if backend == "native" and k == 0:
                    check_in_place(graph, file, float32, inputs)
                errors.append((backend, max((x.error for x in outputs.values()), default=0.0)))
                worst |= {name: max(worst.get(name, x), x) for name, x in outputs.items()}
            for what, error in errors:
                found[what] = max(error, found.get(what, 0.0))
    if worst:
        found["outputs"] = {name: asdict(x) for name, x in worst.items()}
    return found
