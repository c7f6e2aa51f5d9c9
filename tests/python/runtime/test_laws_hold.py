"""What must hold of every compiled law: derivatives, independence of rows, any batch, calls after failing ones.

The laws stand for the others: no solve, one solve (smooth and rate-independent), many unknowns, powers, slip of a
crystal with a rotation, grains with a sub-batch axis.
"""

from __future__ import annotations

import ctypes
import gc
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from same_rows import assert_same, blocks_by_row, rows_of

import matlaw
from matlaw import ConvergenceError
from matlaw.artifact import compile_model

#: Of the rows of `states`: no strain, elastic, just beyond yield, plastic, and taken back from there.
STATES = ("zero", "elastic", "at yield", "plastic", "unloading")


@dataclass(frozen=True)
class Case:
    """A law, and how far its load goes.

    :ivar law: input file in examples/models
    :ivar load: the input that loads it
    :ivar yields_at: size of the load at which it begins to flow, about
    :ivar smooth: derivatives are continuous where it begins to flow
    :ivar substeps: the shared artifact with `.pt2` graphs may take substeps
    """

    law: str
    load: str
    yields_at: float
    smooth: bool = True
    substeps: bool = False

    @property
    def artifact(self) -> str:
        """The shared artifact with `.pt2` graphs."""
        return f"{self.law}-substepping-both" if self.substeps else f"{self.law}-both"


CASES = [
    Case("linear_elastic", "strain", 1e-3),
    Case("j2_viscoplastic", "strain", 1.2e-3, substeps=True),
    Case("j2_plastic", "strain", 1.2e-3, smooth=False),
    Case("chaboche2", "strain", 1.2e-3, substeps=True),
    Case("kocks_mecking", "strain", 2.8e-3, smooth=False),
    Case("radial_return", "strain", 1.2e-3),
    Case("gurson", "strain", 1.2e-3, smooth=False),
    Case("zener", "strain", 1e-3),
    Case("single_crystal", "deformation_rate", 1e-3, substeps=True),
    Case("taylor_polycrystal", "deformation_rate", 1e-3, substeps=True),
    Case("bilinear_traction", "jump", 1e-3, smooth=False),
]
BACKENDS = ["native", "inductor"]
Inputs = dict[str, np.ndarray]


@pytest.fixture(scope="module")
def load(models, artifact, tmp_path_factory) -> Callable[..., matlaw.runtime.CompiledModel]:
    """Loads a case on a backend; native kernels are compiled once for each law, with all derivatives by all inputs."""
    folder = tmp_path_factory.mktemp("laws")

    def load(case: Case, backend: str, **options: int) -> matlaw.runtime.CompiledModel:
        if backend == "inductor":
            return matlaw.load_model(artifact(case.artifact) / "model_aoti.i", "model", backend=backend, **options)
        place = folder / case.law
        if not place.exists():
            compile_model(models / f"{case.law}.i", "model", place, derivatives=(":",), backend="native", jobs=2)
        return matlaw.load_model(place / "model_aoti.i", "model", **options)

    return load


def step(law, case: Case, sizes: np.ndarray, old: Inputs | None = None, dt: float = 1.0) -> Inputs:
    """One step to loads of these sizes, from where a step before ended."""
    rows = len(sizes)
    rng = np.random.default_rng(2)
    inputs = {}
    initial = {pair.old: np.array(pair.initial) for pair in law.state_pairs}
    for name, base, sub in zip(law.input_names, law.input_base_shapes, law.input_sub_batch_shapes, strict=True):
        shape = (*sub, *base)
        start = initial.get(name, np.zeros(int(np.prod(shape))))
        start = np.resize(start, int(np.prod(shape))).reshape(shape)
        inputs[name] = np.broadcast_to(start, (rows, *shape)).copy()
    direction = rng.normal(size=inputs[case.load].shape[1:])
    if direction.shape == (6,):
        direction[:3] -= direction[:3].mean() * 0.8
    direction /= np.linalg.norm(direction)
    inputs[case.load] = sizes.reshape(-1, *[1] * direction.ndim) * direction
    if "t" in inputs:
        inputs["t"] = np.full(rows, dt)
    if "temperature" in inputs:
        inputs["temperature"] = np.linspace(300.0, 900.0, rows)
    if "void_fraction~1" in inputs:
        inputs["void_fraction~1"] = np.full(rows, 0.01)
    if "orientation~1" in inputs:
        shape = inputs["orientation~1"].shape
        inputs["orientation~1"] = 0.2 * np.random.default_rng(5).normal(size=shape[1:]) + np.zeros(shape)
    if old is not None:
        inputs |= old
    return inputs


def carried(law, inputs: Inputs, outputs: Inputs) -> Inputs:
    """The old values of the step after."""
    old = {}
    for pair in law.state_pairs:
        old[pair.old] = (outputs if pair.role == "state" else inputs)[pair.current]
    if "t" in inputs:
        old["t"] = inputs["t"] + 1.0
    return old


def states(law, case: Case) -> Inputs:
    """A row in each of STATES, the last one after a step of its own."""
    sizes = case.yields_at * np.array([0.0, 0.3, 1.001, 2.0, 1.2])
    inputs = step(law, case, sizes)
    before = step(law, case, case.yields_at * np.array([0.0, 0.0, 0.0, 0.0, 2.0]))
    old = carried(law, before, law.forward(before))
    for name, values in old.items():
        inputs[name][4] = values[4]
    if case.load == "deformation_rate":
        inputs[case.load][4] *= -1.0
    return inputs


def many(law, case: Case, rows: int) -> Inputs:
    """Loads of all sizes, in no order."""
    sizes = case.yields_at * np.random.default_rng(8).uniform(0.0, 2.0, rows)
    return step(law, case, sizes)


laws = pytest.mark.parametrize("case", CASES, ids=lambda case: case.law)


def run(*values: Any) -> Any:
    """Values of a test on a backend, named after it."""
    case, backend, *rest = values
    marks = [pytest.mark.inductor] if backend == "inductor" else []
    return pytest.param(*values, id="-".join([backend, case.law, *map(str, rest)]), marks=marks)


laws_on_backends = pytest.mark.parametrize(
    ("case", "backend"), [run(case, backend) for backend in BACKENDS for case in CASES]
)


@pytest.fixture(scope="module")
def evaluated_eagerly(load, models) -> Callable[[Case], tuple[Inputs, matlaw.Evaluation]]:
    """The states of a law and what eager evaluation, which takes its time, makes of them."""
    known = {}

    def evaluated(case: Case) -> tuple[Inputs, matlaw.Evaluation]:
        if case.law not in known:
            eager = matlaw.load_model(models / f"{case.law}.i", "model")
            inputs = states(eager, case)
            pairs = list(load(case, "native").derivative_pairs)
            known[case.law] = inputs, eager.evaluate(inputs, jacobian=True, pairs=pairs)
        return known[case.law]

    return evaluated


@laws_on_backends
def test_values_and_derivatives_are_those_of_eager(load, evaluated_eagerly, case, backend):
    """To what rounding leaves of a solve: tolerances are the same, and so is every step of the solver."""
    law = load(case, backend)
    inputs, expected = evaluated_eagerly(case)
    beginnings = {}
    if case.substeps and backend == "inductor":
        law.set_solver_config(max_substepping_level=0)
        # Where a ramp begins: of no use to a law that takes no substeps.
        beginnings = {name: np.zeros_like(inputs[case.load]) for name in set(law.input_names) - set(inputs)}
    found = law.evaluate(inputs | beginnings, jacobian=True)
    np.testing.assert_array_equal(found.status, expected.status)
    for name, value in expected.outputs.items():
        np.testing.assert_allclose(found.outputs[name], value, rtol=1e-8, atol=1e-9 * np.abs(value).max(), err_msg=name)
    for output, given in law.derivative_pairs:
        if given in beginnings:
            assert not np.any(found.jacobian[output][given])
            continue
        block = expected.jacobian[output][given]
        mine = np.broadcast_to(found.jacobian[output][given], block.shape)
        # Of the size of the block, or where that is rounding, of the output by one of the input.
        scale = max(np.abs(block).max(), np.abs(expected.outputs[output]).max() / (np.abs(inputs[given]).max() or 1.0))
        np.testing.assert_allclose(mine, block, rtol=1e-6, atol=1e-8 * scale, err_msg=f"{output}:{given}")


@laws_on_backends
def test_derivatives_are_slopes(load, case, backend):
    law = load(case, backend)
    inputs = states(law, case)
    rows = len(STATES)
    outputs, jacobian = law.jacobian(inputs)
    changes = [
        np.abs(outputs[p.current] - inputs[p.old])[STATES.index("plastic")]
        for p in law.state_pairs
        if p.role == "state"
    ]
    assert not changes or max(change.max() for change in changes) > 1e-6  # it does flow
    for given in {given for _, given in law.derivative_pairs}:
        where = law.input_names.index(given)
        shape = (*law.input_sub_batch_shapes[where], *law.input_base_shapes[where])
        size = int(np.prod(shape))
        scale = max(float(np.abs(inputs[given]).max()), case.yields_at if given == case.load else 1e-3)
        h = 3e-6 * scale
        # All changes in one batch: row `state` of block k has component k changed.
        changes = h * np.eye(size).repeat(rows, axis=0).reshape(size * rows, *shape)
        repeated = {name: np.tile(value, (size, *[1] * (value.ndim - 1))) for name, value in inputs.items()}
        up = law.evaluate(repeated | {given: repeated[given] + changes})
        down = law.evaluate(repeated | {given: repeated[given] - changes})
        for output, of in law.derivative_pairs:
            if of != given:
                continue
            value = outputs[output]
            block = jacobian[output][given].reshape(
                *([rows] if has_rows(law, jacobian, output, given) else []), *value.shape[1:], size
            )
            # Rounding of values in the differences, and of what cancels in the block itself.
            noise = 1e-9 * np.abs(value).max() / h + 1e-12 * np.abs(block).max()
            above = (up.outputs[output].reshape(size, *value.shape) - value) / h
            below = (value - down.outputs[output].reshape(size, *value.shape)) / h
            for k in range(size):
                column = np.broadcast_to(block[..., k], value.shape)
                for row, state in enumerate(STATES):
                    bound = 2e-4 * np.abs(block if block.ndim == value.ndim else block[row]).max() + noise
                    both = 0.5 * (above[k, row] + below[k, row])
                    slopes = [both] if case.smooth else [both, above[k, row], below[k, row]]
                    error = min(np.abs(column[row] - slope).max() for slope in slopes)
                    assert error <= bound, f"{output}:{given}, component {k}, {state}: {error:.3g} > {bound:.3g}"


def has_rows(law, jacobian, output: str, given: str) -> bool:
    """Whether a block has a batch."""
    out, into = law.output_names.index(output), law.input_names.index(given)
    axes = sum(
        len(shape)
        for shape in (
            law.output_sub_batch_shapes[out],
            law.output_base_shapes[out],
            law.input_sub_batch_shapes[into],
            law.input_base_shapes[into],
        )
    )
    return jacobian[output][given].ndim > axes


@laws_on_backends
def test_rows_are_independent(load, case, backend):
    rows = 150
    law = load(case, backend, threads=1)
    inputs = many(law, case, rows)
    expected = law.evaluate(inputs, jacobian=True)
    assert expected.ok
    order = np.random.default_rng(1).permutation(rows)
    shuffled = rows_of(inputs, order)
    for threads in (1, 2, 4):
        for chunk in (1, 7, 64):
            other = load(case, backend, threads=threads, max_chunk_rows=chunk)
            found = other.evaluate(shuffled, jacobian=True)
            assert_same(found.outputs, rows_of(expected.outputs, order), backend)
            np.testing.assert_array_equal(found.iterations, expected.iterations[order])
            whole = blocks_by_row(expected.jacobian, rows)
            assert_same(blocks_by_row(found.jacobian, rows), rows_of(whole, order), backend)


@pytest.mark.parametrize(
    ("case", "backend", "rows"),
    [
        run(case, backend, rows)
        for rows in (0, 1, 65535, 65536, 65537)
        for backend in BACKENDS
        for case in CASES
        # `.pt2` graphs of the larger laws, which are among these, take up to a minute for so many rows.
        if not (backend == "inductor" and case.substeps and rows > 1)
    ],
)
def test_any_number_of_rows(load, case, backend, rows):
    law = load(case, backend)
    few = many(law, case, 64)
    repeated = {name: np.resize(value, (rows, *value.shape[1:])) for name, value in few.items()}
    found = law.evaluate(repeated)
    assert found.ok
    expected = law.evaluate(few).outputs
    for name, value in expected.items():
        assert found.outputs[name].shape == (rows, *value.shape[1:])
    ends = np.unique(np.r_[0 : min(rows, 9), max(rows - 9, 0) : rows]).astype(int)
    assert_same(
        {name: found.outputs[name][ends] for name in expected},
        {name: value[ends % 64] for name, value in expected.items()},
        backend,
    )


class MallInfo(ctypes.Structure):
    """``struct mallinfo2`` of the C library."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
    ]


def allocated() -> int:
    """Bytes that this process has allocated and not freed."""
    library = ctypes.CDLL(None)
    if not hasattr(library, "mallinfo2"):
        pytest.skip("the C library does not tell what is allocated")
    library.mallinfo2.restype = MallInfo
    info = library.mallinfo2()
    return info.uordblks + info.hblkhd


@laws
def test_a_call_works_in_the_memory_that_it_tells(load, case):
    rows = 512
    inputs = many(load(case, "native"), case, rows)
    load(case, "native", threads=1).evaluate({name: value[:8] for name, value in inputs.items()}, jacobian=True)
    # Rows without a solution and with singular matrices take every way that there is.
    inputs[case.load] *= np.geomspace(1.0, 1e8, rows).reshape(-1, *[1] * (inputs[case.load].ndim - 1))
    law = load(case, "native", threads=1, max_chunk_rows=rows)
    gc.collect()
    before = allocated()
    law.evaluate(inputs, jacobian=True)
    gc.collect()
    kept = 20_000  # what is remembered of failed rows
    assert allocated() - before <= law.memory_per_call() + kept


@laws_on_backends
def test_the_call_after_failing_calls_gives_the_same_bits(load, case, backend):
    law = load(case, backend)
    inputs = states(law, case)
    expected = law.evaluate(inputs, jacobian=True)
    bad = inputs | {case.load: inputs[case.load].copy()}
    bad[case.load][2] = np.nan
    huge = inputs | {case.load: inputs[case.load] * 1e200}
    for _ in range(50):
        assert law.evaluate(bad).failed_rows == [2]
        law.evaluate(huge, jacobian=True)
        with pytest.raises(matlaw.FatalError):
            law.forward({})
    if law.implicit_updates:
        with pytest.raises((ConvergenceError, matlaw.InputError)):
            law.forward(huge)
    found = law.evaluate(inputs, jacobian=True)
    for name, value in expected.outputs.items():
        np.testing.assert_array_equal(found.outputs[name], value)
    for output, row in expected.jacobian.items():
        for given, block in row.items():
            np.testing.assert_array_equal(found.jacobian[output][given], block)


@laws_on_backends
def test_threads_load_while_others_call(load, case, backend):
    law = load(case, backend)
    inputs = many(law, case, 40)
    expected = law.forward(inputs)
    wrong: list[BaseException] = []

    def guarded(action: Callable[[], None]) -> None:
        try:
            action()
        except BaseException as error:
            wrong.append(error)

    def call() -> None:
        for _ in range(10):
            assert_same(law.forward(inputs), expected, backend)

    actions = [lambda: assert_same(load(case, backend).forward(inputs), expected, backend)] * 8 + [call] * 4
    threads = [threading.Thread(target=guarded, args=(action,)) for action in actions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
