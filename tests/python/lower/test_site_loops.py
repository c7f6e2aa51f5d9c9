"""A sub-batch axis kept whole: loops over sites in kernels, against torch and against scalars for every site."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from matlaw.artifact.plan import Planner
from matlaw.artifact.request import Request
from matlaw.ir import evaluate, necks
from matlaw.ir.program import reachable
from matlaw.lower.native import ForwardProgram, Kernel, build, emit, emit_solver, native_program, pieces, programs
from matlaw.lower.native.programs import sparse_program
from matlaw.lower.native.source import without_comments
from matlaw.trace import graphs as g
from matlaw.trace.derivatives import graph_function
from matlaw.trace.graphs import Forward, Graph, Pair
from matlaw.trace.slots import Slot

SITES, ROWS = 5, 11


def check(graph: Graph, program: ForwardProgram, folder: Path, float32: bool = False) -> str:
    """The kernel, the reference evaluator and torch agree; returns the source."""
    scalars = native_program(graph, program)
    rng = np.random.default_rng(5)
    inputs = [rng.uniform(0.2, 1.2, size=(*slot.shape, ROWS)) for slot in graph.inputs]
    expected = graph_function(graph)(*(torch.tensor(x) for x in inputs))
    source = emit(scalars, graph.stem, float32)
    library = folder / f"{graph.stem}.so"
    build(source, library, "x86-64-v3")
    dtype = np.dtype(np.float32 if float32 else np.float64)
    kernel = Kernel(library, graph.inputs, graph.outputs, dtype)
    tolerance = 1e-5 if float32 else 1e-13
    for found in (kernel(*inputs), evaluate(scalars, inputs)):
        for slot, x, y in zip(graph.outputs, found, expected, strict=True):
            reference = np.broadcast_to(y.numpy().reshape(*slot.shape, -1), x.shape)
            np.testing.assert_allclose(x, reference, rtol=tolerance, atol=tolerance * np.abs(reference).max())
    return source


def law(*flat: torch.Tensor) -> list[torch.Tensor]:
    """Residuals of the unknowns of every site (2, SITES, B) and of a shared one (3, B), with a given of each kind."""
    own, shared, given, rate = flat
    mean = own.mean(-2)
    own_residual = torch.exp(own) * rate.unsqueeze(0) + torch.where(own > 0.5, own**3, given) - shared[:2].unsqueeze(-2)
    norm = torch.linalg.vector_norm(own * given, dim=(0, 1))
    shared_residual = torch.stack([mean[0] * shared[0], torch.sin(mean[1]) + shared[1] ** 2, norm * shared[2]])
    return [own_residual, shared_residual]


OWN, SHARED = Slot("own", (2, SITES), 1), Slot("shared", (3,))
FORWARD = Forward("law", law, (OWN, SHARED, Slot("given", (2, SITES), 1), Slot("rate", (SITES,), 1)), (OWN, SHARED))


@pytest.mark.parametrize("float32", [False, True])
def test_every_kind_of_graph(tmp_path: Path, float32: bool) -> None:
    program = ForwardProgram(FORWARD)
    assert program.value.sites == SITES
    jacobian = g.jacobian_graph("jacobian", FORWARD)
    source = check(jacobian, program, tmp_path, float32)
    assert f"for (int64_t s = 0; s < {SITES}; ++s)" in source
    for graph in (
        g.residual_graph("residual", FORWARD),
        g.value_graph("value", FORWARD),
        g.jacobian_given_graph("given", FORWARD, ["given", "rate"]),
        g.dr_dparam_graph("parameter", FORWARD, ["rate"]),
        g.jvp_graph("jvp", FORWARD, [Pair("own", "rate"), Pair("shared", "own"), Pair("own", "shared")]),
    ):
        check(graph, program, tmp_path, float32)


def test_sums_of_sums(tmp_path: Path) -> None:
    """A loop may need what an earlier one summed up."""

    def spread(x: torch.Tensor, weight: torch.Tensor) -> list[torch.Tensor]:
        mean = (x * weight).sum(0) / weight.sum(0)
        largest = torch.exp(mean) * x.sum(0)
        return [mean * largest, torch.stack([largest, (weight.square()).mean(0)])]

    slots = (Slot("x", (SITES,), 1), Slot("weight", (SITES,), 1))
    forward = Forward("sums", spread, slots, (Slot("a", ()), Slot("b", (2,))))
    program = ForwardProgram(forward)
    assert program.value.sites == SITES
    pairs = [Pair(o, i) for o in ("a", "b") for i in ("x", "weight")]
    check(g.jvp_graph("jvp", forward, pairs), program, tmp_path)


def test_sums_of_what_depends_on_sums(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sites act on each other even if nothing that varies over them is asked for."""
    monkeypatch.setattr(programs, "UNROLLED", 0)

    def skewness(x: torch.Tensor) -> list[torch.Tensor]:
        return [((x - x.mean(0)) ** 3).mean(0)]

    forward = Forward("skewness", skewness, (Slot("x", (SITES,), 1),), (Slot("y", ()),))
    program = ForwardProgram(forward)
    assert program.value.sites == SITES
    check(g.jvp_graph("jvp", forward, [Pair("y", "x")]), program, tmp_path)


def coupled(*flat: torch.Tensor) -> list[torch.Tensor]:
    """Residuals of unknowns at every site, which act on each other through sums of sums, and of a shared unknown."""
    own, shared, given, rate = flat
    mean = (own * given).mean(-2)
    spread = ((own - mean.unsqueeze(-2)) ** 2).sum(-2)
    own_residual = own * torch.exp(spread).unsqueeze(-2) + torch.where(own > mean.unsqueeze(-2), rate * own, given)
    shared_residual = torch.stack([mean[0] * shared[0], spread[1] + shared[1] ** 2, (own * rate).sum((0, 1))])
    return [own_residual - shared[:2].unsqueeze(-2), shared_residual]


def test_a_sum_that_every_site_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every site has the same value, which moves with every site's."""
    monkeypatch.setattr(programs, "UNROLLED", 0)
    slots = (Slot("x", (SITES,), 1), Slot("y", (SITES,), 1))

    def spread(x: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
        return [(x.exp() * y).mean(0, keepdim=True).expand_as(x), x * y]

    forward = Forward("sums", spread, slots, (Slot("mean", (SITES,), 1), Slot("own", (SITES,), 1)))
    program = ForwardProgram(forward)
    assert program.value.sites == SITES
    pairs = [Pair(o, i) for o in ("mean", "own") for i in ("x", "y")]
    check(g.jvp_graph("jvp", forward, pairs), program, tmp_path)
    as_system = Forward("system", lambda x, y: [x + spread(x, y)[0]], slots, slots[:1])
    assert sparse_program(g.newton_step_graph("step", as_system), ForwardProgram(as_system)) is not None
    singular = Forward("system", lambda x, y: spread(x, y)[:1], slots, slots[:1])
    assert sparse_program(g.newton_step_graph("step", singular), ForwardProgram(singular)) is None


def graphs_of(forward: Forward) -> list[Graph]:
    """Graphs of every kind that has derivatives of the two residuals."""
    blocks = [(0, 2 * SITES), *((2 * SITES + k, 1) for k in range(3))]
    pairs = [Pair(o, i) for o in ("own", "shared") for i in ("own", "shared", "given", "rate")]
    return [
        g.residual_graph("residual", forward),
        g.jacobian_graph("jacobian", forward),
        g.jacobian_given_graph("given", forward, ["given", "rate"]),
        g.dr_dparam_graph("parameter", forward, ["rate"]),
        g.jvp_graph("jvp", forward, pairs),
        g.matvec_graph("matvec", forward),
        g.precond_setup_graph("block_jacobi", forward, blocks),
        g.precond_setup_graph("jacobi", forward, [(k, 1) for k in range(2 * SITES + 3)]),
        g.precond_setup_graph("full", forward, [(0, 2 * SITES + 3)]),
    ]


@pytest.mark.parametrize("float32", [False, True])
def test_sites_that_act_on_each_other_through_sums(
    tmp_path: Path, float32: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "UNROLLED", 0)
    forward = Forward("coupled", coupled, FORWARD.inputs, FORWARD.outputs)
    program = ForwardProgram(forward)
    assert program.value.sites == SITES
    for graph in graphs_of(forward):
        source = check(graph, program, tmp_path, float32)
        assert f"for (int64_t s = 0; s < {SITES}; ++s)" in source
        assert native_program(graph, program).statement_count < 200


def alone(*flat: torch.Tensor) -> list[torch.Tensor]:
    """Residuals of two unknowns of every site, which depend on nothing of others."""
    own, given, rate = flat
    first = own[0] * torch.exp(0.3 * own[1]) - given[0] * rate
    second = 2.0 * own[1] + torch.where(own[0] > 0.5, (own[0] - 0.5) ** 2, 0.0) + 0.1 * own[1] * own[0] - given[1]
    return [torch.stack([first, second])]


def solve(forward: Forward, graph: Graph, inputs: list[np.ndarray]) -> np.ndarray:
    """The solution of a graph's linear systems with their matrix, ``(n, columns, B)``."""
    dense, sign = g.dense_system(graph)
    A, b = (x.numpy() for x in graph_function(dense)(*(torch.tensor(x) for x in inputs)))
    n, rows = len(A), inputs[0].shape[-1]
    A, b = (np.broadcast_to(x.reshape(n, -1, x.shape[-1]), (n, x[..., 0].size // n, rows)) for x in (A, b))
    return np.moveaxis(np.linalg.solve(np.moveaxis(A, -1, 0), np.moveaxis(sign * b, -1, 0)), 0, -1)


@pytest.mark.parametrize("kind", ["newton_step", "sensitivity", "sensitivity to what sites share"])
@pytest.mark.parametrize("sites_act", [False, True])
def test_linear_systems_are_solved_without_a_matrix(
    tmp_path: Path, kind: str, sites_act: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "UNROLLED", 0)
    load = Slot("load", ())

    def with_load(*x: torch.Tensor) -> list[torch.Tensor]:
        if not sites_act:
            return [alone(*x[:3])[0] - x[3]]
        own, shared = coupled(*x[:4])
        return [3.0 * x[0] + own + x[4], 3.0 * x[1] + shared + x[4]]

    if sites_act:
        forward = Forward("coupled", with_load, (*FORWARD.inputs, load), FORWARD.outputs)
    else:
        forward = Forward("alone", with_load, (OWN, *FORWARD.inputs[2:], load), (OWN,))
    program = ForwardProgram(forward)
    assert program.value.sites == SITES
    if kind == "newton_step":
        graph = g.newton_step_graph("step", forward)
    else:
        graph = g.sensitivity_graph("sensitivity", forward, ["load"] if "share" in kind else ["given", "load"])
    scalars = sparse_program(graph, program)
    if sites_act and kind == "sensitivity":
        assert scalars is None  # every site moves all others: there is a block for each pair
        return
    assert scalars is not None
    rng = np.random.default_rng(5)
    inputs = [rng.uniform(0.2, 1.2, size=(*slot.shape, ROWS)) for slot in graph.inputs]
    library = tmp_path / "kernel.so"
    build(emit(scalars, graph.stem), library, "x86-64-v3")
    expected = solve(forward, graph, inputs)
    for found in (
        Kernel(library, graph.inputs, graph.outputs, np.dtype(np.float64))(*inputs),
        evaluate(scalars, inputs),
    ):
        sound = found[-1] == 1.0
        assert sound.mean() > 0.8
        x = found[0].reshape(expected.shape)
        np.testing.assert_allclose(x[..., sound], expected[..., sound], rtol=1e-10, atol=1e-11)


def test_sites_that_do_not_act_on_each_other_are_solved_one_by_one(tmp_path: Path) -> None:
    """A row is done when all its sites are, with as many iterations as the slowest; else it keeps its guess."""
    inputs = (OWN, Slot("given", (2, SITES), 1), Slot("rate", (SITES,), 1))
    forward = Forward("alone", alone, inputs, (OWN,))
    program = ForwardProgram(forward)
    graph = g.newton_step_graph("step", forward)
    scalars = sparse_program(graph, program)
    assert scalars is not None
    source = emit(scalars, "law") + emit_solver(scalars, 1)
    library = tmp_path / "kernel.so"
    build(source, library, "x86-64-v3")
    kernel = Kernel(library, graph.inputs, graph.outputs, np.dtype(np.float64))
    rng = np.random.default_rng(5)
    rows = 37
    x = [rng.uniform(0.2, 1.2, size=(*slot.shape, rows)) for slot in inputs]
    x[1][0, 2, 5] = np.nan
    options = {"rtol": 0.0, "most": 25, "easy": 25, "settled": 1e-6}
    unknowns, report = kernel.solve(*x, atol=1e-12, **options)
    bad = np.arange(rows) == 5
    assert (report[3] == ~bad).all()
    np.testing.assert_array_equal(unknowns[:, 5], x[0].reshape(-1, rows)[:, 5])
    solved = torch.tensor(unknowns.reshape(2, SITES, rows))
    [residual] = forward.function(solved, *(torch.tensor(v) for v in x[1:]))
    norms = residual.square().sum((0, 1)).sqrt().numpy()
    assert (norms[~bad] <= 1e-12).all()
    np.testing.assert_allclose(report[1][~bad], norms[~bad], atol=1e-14)
    [start] = forward.function(*(torch.tensor(v) for v in x))
    np.testing.assert_allclose(report[0][~bad], start.square().sum((0, 1)).sqrt().numpy()[~bad], rtol=1e-13)
    slowest = np.zeros(rows)
    for site in range(SITES):  # a polycrystal whose grains are all alike takes as long as each of them
        alike = [np.repeat(v[..., site : site + 1, :], SITES, axis=-2) for v in x]
        slowest = np.maximum(slowest, kernel.solve(*alike, atol=1e-12, **options)[1][2])
    np.testing.assert_array_equal(report[2][~bad], slowest[~bad])


def test_a_choice_guards_a_sum_without_a_slope(monkeypatch: pytest.MonkeyPatch) -> None:
    """The norm of zero has no derivative; where it is not chosen, the product with a vector is that of what is."""
    monkeypatch.setattr(programs, "UNROLLED", 0)

    def guarded(x: torch.Tensor) -> list[torch.Tensor]:
        norm = torch.linalg.vector_norm(x, dim=0, keepdim=True)
        return [2.0 * x + torch.where(norm > 0.1, norm * x, 0.0)]

    slot = Slot("x", (SITES,), 1)
    forward = Forward("guarded", guarded, (slot,), (slot,))
    program = native_program(g.matvec_graph("matvec", forward), ForwardProgram(forward))
    v = np.arange(1.0, SITES + 1)[:, None]
    np.testing.assert_array_equal(evaluate(program, [np.zeros((SITES, 1)), v])[0], 2.0 * v)


def test_what_many_depend_on_is_differentiated_in_two_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same law with scalars for every site: statements grow with the number of sites, not with its square."""
    monkeypatch.setattr(necks, "PAIRS", 20)
    monkeypatch.setattr(necks, "FEWEST", 2)
    forward = Forward("coupled", coupled, FORWARD.inputs, FORWARD.outputs)
    program = ForwardProgram(forward)
    assert program.value.sites == 1
    for graph in graphs_of(forward):
        source = check(graph, program, tmp_path)
        if graph.kind in ("jacobian", "jvp", "dr_dparam"):
            assert "outer products" in source


def test_what_many_depend_on_at_a_site_has_derivatives_at_that_site_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(necks, "PAIRS", 20)
    monkeypatch.setattr(necks, "FEWEST", 2)

    def mean_of_systems(x: torch.Tensor, rate: torch.Tensor) -> list[torch.Tensor]:
        mean = x.mean(-2).unsqueeze(-2)
        return [x * torch.exp(mean) + rate * mean]

    x, rate = Slot("x", (SITES, 6), 2), Slot("rate", (SITES, 6), 2)
    forward = Forward("systems", mean_of_systems, (x, rate), (x,))
    program = ForwardProgram(forward)
    assert program.value.sites == SITES
    check(g.jacobian_graph("jacobian", forward), program, tmp_path)
    check(g.matvec_graph("matvec", forward), program, tmp_path)
    check(g.jvp_graph("jvp", forward, [Pair("x", "x"), Pair("x", "rate")]), program, tmp_path)


def test_large_kernels_are_cut_into_functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(necks, "PAIRS", 20)
    monkeypatch.setattr(necks, "FEWEST", 2)
    monkeypatch.setattr(pieces, "LARGEST_FUNCTION", 20)
    monkeypatch.setattr(pieces, "PIECE", 7)
    forward = Forward("coupled", coupled, FORWARD.inputs, FORWARD.outputs)
    program = ForwardProgram(forward)
    for graph in graphs_of(forward):
        source = check(graph, program, tmp_path)
        assert "piece_3(inputs, outputs, " in source
        assert re.search(r"masks\[\d+\] = ", source) or graph.kind != "jacobian"


def test_large_arrays_are_not_on_the_stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Factors of outer products, and what functions of a kernel share, outgrow the stack of a thread."""
    monkeypatch.setattr("matlaw.lower.native.storage.MOST_ON_STACK", 5)
    forward = Forward("coupled", coupled, FORWARD.inputs, FORWARD.outputs)
    graph = g.jacobian_graph("jacobian", forward)
    monkeypatch.setattr(programs, "UNROLLED", 0)
    assert "static thread_local rows fp" in check(graph, ForwardProgram(forward), tmp_path)
    monkeypatch.setattr(programs, "UNROLLED", 3000)
    monkeypatch.setattr(pieces, "LARGEST_FUNCTION", 20)
    monkeypatch.setattr(pieces, "PIECE", 7)
    text = check(graph, ForwardProgram(forward), tmp_path)
    assert "static thread_local rows shared" in text
    assert "static thread_local mask masks" in text


def test_statements_of_many_size_classes_grow_with_their_number(models: Path, tmp_path: Path) -> None:
    counts = []
    text = (models / "precipitate_growth.i").read_text()
    for n in (80, 160):
        path = tmp_path / f"classes{n}.i"
        path.write_text(
            text.replace("(2; 8)", f"(2; {n})")
            .replace("torch.linspace(1.5, 8.5, 8)", f"torch.linspace(1.5, {n} + 0.5, {n})")
            .replace("torch.linspace(1.0, 9.0, 9)", f"torch.linspace(1.0, {n} + 1.0, {n} + 1)")
        )
        plan = Planner(Request(path, "model", backend="native")).plan()
        graph = next(graph for graph in plan.graphs if graph.kind == "jacobian")
        assert graph.forward is not None
        counts.append(native_program(graph, plan.programs[graph.forward]).statement_count)
    assert counts[1] < 2.1 * counts[0] < 8000


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x - x.mean(0, keepdim=True),
        lambda x: torch.cat([x[1:], x[:1]]) * x,
        lambda x: x * torch.arange(SITES, dtype=x.dtype).unsqueeze(-1),
        lambda x: x / x.shape[0],
        lambda x: torch.amax(x, 0, keepdim=True) + x,
        lambda x: (x.unsqueeze(0) * x.unsqueeze(1)).sum(0),
    ],
)
def test_sites_that_are_told_apart_have_scalars_of_their_own(
    function: Callable[[torch.Tensor], torch.Tensor], tmp_path: Path
) -> None:
    slots = (Slot("x", (SITES,), 1),)
    forward = Forward("coupled", lambda x: [function(x)], slots, (Slot("y", (SITES,), 1),))
    program = ForwardProgram(forward)
    assert program.value.sites == 1
    source = check(g.jvp_graph("jvp", forward, [Pair("y", "x")]), program, tmp_path)
    assert "int64_t s" not in source


def test_a_polycrystal_has_as_many_statements_as_a_crystal(models: Path, tmp_path: Path) -> None:
    counts = []
    for grains in (2, 7):
        path = tmp_path / f"grains{grains}.i"
        path.write_text((models / "taylor_polycrystal.i").read_text().replace("(2; 4)", f"(2; {grains})"))
        plan = Planner(Request(path, "model", derivatives=("mean_stress:deformation_rate",), backend="native")).plan()
        programs = [native_program(graph, plan.programs[graph.forward]) for graph in plan.graphs if graph.forward]
        assert {program.sites for program in programs} == {grains}
        counts.append([program.statement_count for program in programs])
    assert counts[0] == counts[1]
    assert max(counts[0]) < 8000


def test_statements_say_which_model_they_come_from(models: Path) -> None:
    plan = Planner(Request(models / "j2_viscoplastic.i", "model", backend="native")).plan()
    graph = next(graph for graph in plan.graphs if graph.kind == "jacobian")
    assert graph.forward is not None
    lines = [line.strip() for line in emit(native_program(graph, plan.programs[graph.forward]), "law").splitlines()]
    assert "// elasticity: stress" in lines
    assert "// flow_rate: flow_rate" in lines
    assert "// derivative of flow_rate: flow_rate" in lines
    assert "// of no model" not in lines


@pytest.mark.parametrize("kind", ["newton_step", "sensitivity"])
def test_statements_of_the_elimination_do_not_pass_for_those_of_a_model(models: Path, kind: str) -> None:
    request = Request(models / "j2_viscoplastic.i", "model", derivatives=("stress:strain",), backend="native")
    plan = Planner(request).plan()
    graph = next(graph for graph in plan.graphs if graph.kind == kind)
    assert graph.forward is not None
    program = native_program(graph, plan.programs[graph.forward])

    def text() -> str:
        return emit(program, "law") + (emit_solver(program, len(graph.columns)) if kind == "newton_step" else "")

    source, comment, found = text(), "", set()
    every = reachable(v for values in program.values for v in values)
    origins = {f"t{v.id}": v.origin for v in every if v.op != "input"}
    for line in source.splitlines():
        if line.strip().startswith("//"):
            comment = line.strip().removeprefix("// ")
        elif (match := re.match(r"\s+const (?:rows|mask) (t\d+)(?:_\d)? =", line)) and match[1] in origins:
            found.add(match[1])
            assert comment == (origins[match[1]] or "of no model"), line
        elif re.match(r"\s+(const (rows|mask) |mask |(active|done|start|u)_\d)", line) and "load(" not in line:
            assert comment.startswith("Newton's method"), line
    assert len(found) > 300
    comments = {line.strip() for line in source.splitlines() if line.strip().startswith("//")}
    assert "// flow_rate: flow_rate" in comments
    residual = "integrate_equivalent_plastic_strain: equivalent_plastic_strain_residual"
    assert f"// elimination: row of '{residual}', pivot equivalent_plastic_strain" in comments
    assert "// elimination: row of 'flow_rate: flow_rate', pivot 'flow_rate: flow_rate'" in comments
    assert {f"// elimination: back substitution for plastic_strain[{k}]" for k in (3, 4, 5)} <= comments
    assert "// elimination: whether all pivots are sound" in comments
    for v in every:
        v.origin = ""
    assert text() != source
    assert without_comments(text()) == without_comments(source)
