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
from matlaw.ir import evaluate
from matlaw.ir.program import reachable
from matlaw.lower.native import ForwardProgram, Kernel, build, emit, emit_solver, native_program
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
