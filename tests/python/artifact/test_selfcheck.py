"""The self-check finds wrong kernels, wrong derivatives and rows that depend on each other."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from matlaw import load_model
from matlaw.artifact import compile_model, memory, selfcheck
from matlaw.artifact.rounding import with_noise
from matlaw.artifact.samples import sample
from matlaw.cli.compile import main
from matlaw.errors import CompileError
from matlaw.trace import graphs as g
from matlaw.trace.derivatives import stacked
from matlaw.trace.slots import Slot

X = Slot("x", (2,))
SQUARE = g.Forward("square", lambda x: [x * x], (X,), (X,))


def right(inputs: Sequence[NDArray]) -> list[NDArray]:
    return [inputs[0] ** 2]


def reference(graph: g.Graph, float32: bool = False) -> selfcheck.Reference:
    return selfcheck.reference(graph, sample(graph, {}, float32), float32)


def check(evaluator: selfcheck.Evaluator, forward: g.Forward = SQUARE, float32: bool = False) -> float:
    graph = g.value_graph("test", forward)
    return largest(selfcheck.compare(graph, evaluator, reference(graph, float32), "test.so", True))


def largest(worst: dict[str, selfcheck.Worst]) -> float:
    return max(x.error for x in worst.values())


def test_right_results_pass() -> None:
    assert check(right) == 0.0


def test_wrong_results_name_output_row_and_values() -> None:
    def wrong(inputs: Sequence[NDArray]) -> list[NDArray]:
        y = inputs[0] ** 2
        y[1, 3:4] *= 1 + 1e-9
        return [y]

    with pytest.raises(CompileError, match=r"test\.so: disagrees with eager: 'x', component 1, row 3 "):
        check(wrong)


def test_rows_that_depend_on_the_batch_are_found() -> None:
    def by_size(inputs: Sequence[NDArray]) -> list[NDArray]:
        return [inputs[0] ** 2 * (1 + 1e-15 * (inputs[0].shape[1] > 100))]

    with pytest.raises(CompileError, match="depends on the number of rows"):
        check(by_size)

    def by_position(inputs: Sequence[NDArray]) -> list[NDArray]:
        return [inputs[0] ** 2 * (1 + 1e-15 * (np.arange(inputs[0].shape[1]) % 4 == 3))]

    with pytest.raises(CompileError, match="position"):
        check(by_position)


def test_nan_must_stay_nan() -> None:
    forward = g.Forward("root", lambda x: [x.sqrt()], (X,), (X,))
    with np.errstate(all="ignore"):
        assert check(lambda inputs: [np.sqrt(inputs[0])], forward) < 1e-15
        with pytest.raises(CompileError, match="disagrees"):
            check(lambda inputs: [np.nan_to_num(np.sqrt(inputs[0]))], forward)


def test_derivatives_of_what_is_not_finite_say_nothing() -> None:
    forward = g.Forward("root", lambda x: [x + x.sqrt()], (X,), (X,))
    graph = g.jvp_graph("test", forward, [g.Pair("x", "x")])
    expected = reference(graph)
    row = int(np.flatnonzero(np.isnan(expected.outputs[0]).any(axis=0))[0])
    sound = int(np.flatnonzero(np.isfinite(expected.outputs[0]).all(axis=0))[-1])
    expected.outputs[1][:, row] = 1.0  # as if the branch with the root were left out

    def spoilt(at: int) -> selfcheck.Evaluator:
        def evaluate(inputs: Sequence[NDArray]) -> list[NDArray]:
            x = inputs[0]
            value, block = [y.copy() for y in selfcheck.eager(graph, inputs)]
            block[:, (x == expected.inputs[0][..., [at]]).all(axis=0)] = np.nan
            return [value, block]

        return evaluate

    selfcheck.compare(graph, spoilt(row), expected, "test.so", True)
    with pytest.raises(CompileError, match="disagrees with eager"):
        selfcheck.compare(graph, spoilt(sound), expected, "test.so", True)


def test_cancellation_is_allowed_for_but_not_more() -> None:
    """a + b - sqrt(a^2 + b^2) loses what is small; another order of operations loses something else."""
    forward = g.Forward(
        "fb", lambda x: [(x[0] + x[1] - (x[0] ** 2 + x[1] ** 2).sqrt()).unsqueeze(0)], (X,), (Slot("y", (1,)),)
    )

    def other_order(inputs: Sequence[NDArray]) -> list[NDArray]:
        a, b = inputs[0]
        return [(b - np.hypot(a, b) + a)[None]]

    graph = g.value_graph("test", forward)
    expected = reference(graph)
    assert largest(selfcheck.compare(graph, other_order, expected, "test.so", False)) < 1e-10
    with pytest.raises(CompileError):
        selfcheck.compare(graph, lambda x: [other_order(x)[0] * (1 + 1e-6)], expected, "test.so", False)


def test_wrong_derivatives_of_eager_are_found() -> None:
    class Wrong(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x: torch.Tensor) -> torch.Tensor:
            return x * x

        @staticmethod
        def setup_context(ctx: object, inputs: tuple, output: torch.Tensor) -> None:
            ctx.save_for_backward(*inputs)  # type: ignore[attr-defined]

        @staticmethod
        def backward(ctx: object, gradient: torch.Tensor) -> torch.Tensor:
            [x] = ctx.saved_tensors  # type: ignore[attr-defined]
            return 2.1 * x * gradient

    forward = g.Forward("wrong", lambda x: [Wrong.apply(x)], (X,), (X,))
    graph = g.jvp_graph("test", forward, [g.Pair("x", "x")])
    with pytest.raises(CompileError, match="finite differences"):
        selfcheck.check_finite_differences(graph, reference(graph), "test")
    right_graph = g.jvp_graph("test", SQUARE, [g.Pair("x", "x")])
    expected = reference(right_graph)
    assert 0 < selfcheck.check_finite_differences(right_graph, expected, "test") < 1e-6


def test_differences_say_nothing_at_a_kink_and_much_beside_it() -> None:
    """Row 0 is zero, where central differences of the positive part are a half and its derivative is zero or one."""
    for factor in (1.0, 1.1):

        def function(x: torch.Tensor, f: float = factor) -> list[torch.Tensor]:
            return [1.0 + PositivePart.apply(x, f)]  # type: ignore[no-untyped-call]

        graph = g.jvp_graph("test", g.Forward("positive", function, (X,), (X,)), [g.Pair("x", "x")])
        expected = reference(graph)
        if factor == 1.0:
            assert selfcheck.check_finite_differences(graph, expected, "test") < 1e-6
        else:
            with pytest.raises(CompileError, match="finite differences"):
                selfcheck.check_finite_differences(graph, expected, "test")


class PositivePart(torch.autograd.Function):
    """The positive part, with a factor on its derivative."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: torch.Tensor, factor: float) -> torch.Tensor:
        return x.clamp(min=0.0)

    @staticmethod
    def setup_context(ctx: object, inputs: tuple, output: torch.Tensor) -> None:
        ctx.save_for_backward(inputs[0])  # type: ignore[attr-defined]
        ctx.factor = inputs[1]  # type: ignore[attr-defined]

    @staticmethod
    def backward(ctx: object, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        [x] = ctx.saved_tensors  # type: ignore[attr-defined]
        return torch.where(x >= 0.0, ctx.factor * gradient, 0.0 * gradient), None  # type: ignore[attr-defined]


def test_noise_moves_every_operation_a_little() -> None:
    x = torch.rand(6, 50, dtype=torch.float64) + 1
    [noisy] = with_noise(lambda y: [y * y + y], [x], 1e-6, 0)
    relative = (noisy / (x * x + x) - 1).abs()
    assert 1e-8 < relative.max() < 1e-5


GIVEN = Slot("g", (2,))
#: u - g u / 4 - g = 0, u[1] likewise: A = 1 - g / 4, Bg = -(1 + u / 4), both diagonal.
IMPLICIT = g.Forward("implicit", lambda u, given: [u - 0.25 * given * u - given], (X, GIVEN), (X,))


def solved(kind: str, spoil: float = 0.0, sound: float = 1.0) -> selfcheck.Evaluator:
    """A kernel of the implicit function, off by a part of the solution."""

    def evaluate(inputs: Sequence[NDArray]) -> list[NDArray]:
        u, given = inputs
        A, b = 1 - 0.25 * given, given + 0.25 * given * u - u
        flag = np.full((1, u.shape[1]), sound)
        if kind == "newton_step":
            return [b / A * (1 + spoil), b, flag]
        X = np.zeros((4, u.shape[1]))
        X[0], X[3] = (1 + 0.25 * u) / A * (1 + spoil)
        return [X, flag]

    return evaluate


@pytest.mark.parametrize("kind", ["newton_step", "sensitivity"])
def test_solutions_without_a_matrix_are_checked_by_the_matrix(kind: str) -> None:
    make = {"newton_step": g.newton_step_graph, "sensitivity": lambda s, f: g.sensitivity_graph(s, f, ["g"])}
    graph = make[kind]("test", IMPLICIT)
    inputs = [sample(graph, {}, False)]
    assert selfcheck.compare_solution(graph, solved(kind), inputs, "test.so") < 1e-14
    with pytest.raises(CompileError, match=r"test\.so: .* rows have backward errors above"):
        selfcheck.compare_solution(graph, solved(kind, spoil=1e-3), inputs, "test.so")
    with pytest.raises(CompileError, match="calls none of 200 sampled states sound"):
        selfcheck.compare_solution(graph, solved(kind, sound=0.0), inputs, "test.so")

    def by_size(values: Sequence[NDArray]) -> list[NDArray]:
        x, *others = solved(kind)(values)
        return [x * (1 + 1e-15 * (x.shape[1] > 100)), *others]

    with pytest.raises(CompileError, match="depends on the number of rows"):
        selfcheck.compare_solution(graph, by_size, inputs, "test.so")


@pytest.mark.parametrize("limit", [1, 5, 17])
def test_a_law_that_looks_at_the_number_of_rows_is_refused(limit: int) -> None:
    forward = g.Forward("test", lambda x: [2 * x if x.shape[-1] <= limit else x], (X,), (Slot("y", (2,)),))
    graph = g.value_graph("test", forward)
    selfcheck.compare(graph, lambda x: [x[0]], reference(graph), "test.so", True)
    with pytest.raises(
        CompileError, match=r"test: the law itself gives 'y', component \d, .* among \d+ rows .* among 200"
    ):
        selfcheck.check_graph(graph, [], {}, False)


def test_the_worst_difference_is_reported_by_output_with_its_number_of_rows() -> None:
    forward = g.Forward("test", lambda x: [x, 3 * x], (X,), (Slot("y", (2,)), Slot("z", (2,))))
    graph = g.value_graph("test", forward)
    expected = reference(graph)

    def off_among_17(inputs: Sequence[NDArray]) -> list[NDArray]:
        factor = 1 + 1e-14 * (inputs[0].shape[-1] == 17)
        return [inputs[0], 3 * inputs[0] * factor]

    worst = selfcheck.compare(graph, off_among_17, expected, "test.so", False)
    assert worst["y"].error == 0.0
    assert worst["z"].error == pytest.approx(1e-14, rel=0.1)
    assert worst["z"].rows == 17


LARGE = Slot("x", (100,))
#: d/dx_j of x_i^2 + sum x: every entry of the matrix is there.
COUPLED = g.Forward("coupled", lambda x: [x * x + x.sum(0)], (LARGE,), (LARGE,))


def coupled(inputs: Sequence[NDArray]) -> list[NDArray]:
    [x] = inputs
    A = np.ones((100, 100, x.shape[1]))
    A[np.arange(100), np.arange(100)] += 2 * x
    return [A.reshape(10000, -1), -(x * x + x.sum(0))]


def solve(inputs: Sequence[NDArray]) -> list[NDArray]:
    A, b = inputs
    return [np.linalg.solve(A.transpose(2, 0, 1), b.T[..., None])[..., 0].T]


@pytest.mark.parametrize(
    ("graph", "right"), [(g.jacobian_graph("test", COUPLED), coupled), (g.solve_graph("test", COUPLED), solve)]
)
def test_large_graphs_are_checked_in_slices(
    monkeypatch: pytest.MonkeyPatch, graph: g.Graph, right: selfcheck.Evaluator
) -> None:
    """In bounded memory; every state is compared, and every number of rows that fits."""
    limit = 32 * 2**20
    sizes: list[int] = []
    spoilt = 0

    def evaluate(inputs: Sequence[NDArray]) -> list[NDArray]:
        y, *others = right(inputs)
        sizes.append(y.shape[1])
        if sum(sizes) == spoilt:
            y[7, -1] += 1e-3
        return [y, *others]

    monkeypatch.setattr(memory, "LIMIT", limit)
    monkeypatch.setitem(selfcheck._EVALUATORS, "inductor", lambda *_: evaluate)
    tracemalloc.start()
    try:
        found = selfcheck.check_graph(graph, [("inductor", Path("test.pt2"))], {}, False)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.5 * limit
    assert found["inductor"] < 1e-12
    most = sizes[0]
    assert 17 < most < 200
    assert sizes[:5] == [most, 17, 3, 2, 1]
    spoilt = sum(sizes)  # the very last state
    sizes.clear()
    with pytest.raises(CompileError, match=r"test\.pt2: disagrees with eager: '\w+', component 7"):
        selfcheck.check_graph(graph, [("inductor", Path("test.pt2"))], {}, False)
    assert sum(sizes) == spoilt
    sizes.clear()
    spoilt = 0
    quick = selfcheck.check_graph(graph, [("inductor", Path("test.pt2"))], {}, False, most_slices=3)
    assert sizes[:5] == [most, 17, 3, 2, 1]
    assert len(sizes) == 7
    assert quick["inductor"] < 1e-12


def test_some_columns_of_many_are_differentiated_numerically(monkeypatch: pytest.MonkeyPatch) -> None:
    """The function is evaluated for the chosen columns, both sides and step sizes; wrong columns are found."""
    graph = g.jacobian_graph("test", COUPLED)
    expected = selfcheck.reference(graph, sample(graph, {}, False), False)
    evaluations = 0

    def counted(*arguments: Any) -> torch.Tensor:
        nonlocal evaluations
        evaluations += 1
        return stacked(*arguments)

    monkeypatch.setattr(selfcheck, "stacked", counted)
    assert selfcheck.check_finite_differences(graph, expected, "test") < 1e-5
    assert evaluations < 2 * 2 * 24 + 10
    expected.outputs[0].reshape(100, 100, -1)[:, ::3] *= 1.01
    with pytest.raises(CompileError, match="differs from finite differences"):
        selfcheck.check_finite_differences(graph, expected, "test")


def test_running_out_of_memory_is_told(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def greedy(*_: object) -> None:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 1296000000 bytes.")

    monkeypatch.setattr(selfcheck, "check_graph", greedy)
    arguments = [str(models / "linear_elastic.i"), "--model", "model", "-o", str(tmp_path / "out")]
    assert main([*arguments, "--backend", "native", "--no-cache"]) == 2
    message = "the self-check, which evaluates the law eagerly for 200 rows at a time, ran out of memory"
    assert message in capsys.readouterr().err
    monkeypatch.setattr(memory, "LIMIT", 1)
    assert main([*arguments, "--backend", "native", "--no-cache"]) == 2
    assert "for 3 rows at a time and cannot do with fewer, ran out of memory" in capsys.readouterr().err


def test_a_changed_law_is_compiled_again_in_the_same_process_and_place(tmp_path: Path) -> None:
    """The new kernels are compared, not those of the same path that are in memory already."""
    law = tmp_path / "law.i"
    found = []
    for kind in ("CopyScalar", "CopySR2", "CopyR2"):
        law.write_text(f"[Models]\n[model]\ntype = {kind}\nfrom = 'a'\nto = 'b'\n[]\n[]\n")
        report = compile_model(law, "model", tmp_path, [":"], backend="native", cache=False)
        assert report.verification["cpu/float64/model"]["native"] == 0.0
        compiled = load_model(tmp_path / "model_aoti.i", "model")
        found.append(compiled.input_base_shapes)
    assert found == [[()], [(6,)], [(3, 3)]]


REACTION = """
[Models]
  [coefficient]
    type = ArrheniusParameter
    reference_value = 0.04
    activation_energy = 2e4
    ideal_gas_constant = 8.314
    temperature = 'T'
  []
  [rate]
    type = ContractingGeometry
    coef = 'coefficient'
    order = 1.0
    conversion_degree = 'a'
    reaction_rate = 'a_rate'
  []
  [integrate]
    type = ScalarBackwardEulerTimeIntegration
    variable = 'a'
  []
  [reaction]
    type = ComposedModel
    models = 'coefficient rate integrate'
  []
  [model]
    type = ImplicitUpdate
    equation_system = 'equations'
    solver = 'newton'
  []
[]
[EquationSystems]
  [equations]
    type = NonlinearSystem
    model = 'reaction'
    unknowns = 'a'
  []
[]
[Solvers]
  [newton]
    type = Newton
    linear_solver = 'lu'
  []
  [lu]
    type = DenseLU
  []
[]
"""


def test_states_whose_equations_overflow_say_nothing(tmp_path: Path) -> None:
    """A rate that grows without bounds as a sampled temperature comes near zero from below."""
    law = tmp_path / "law.i"
    law.write_text(REACTION)
    report = compile_model(law, "model", tmp_path, [":"], backend="native", cache=False)
    assert report.verification["cpu/float64/model_newton_step"]["native"] < 1e-12
