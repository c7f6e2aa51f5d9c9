"""The plan: names, derivative requests, which blocks are lowered."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from matlaw.artifact import Request, memory, plan_export_artifacts
from matlaw.artifact import plan as plan_module
from matlaw.artifact.plan import Planner, _parameter_paths, _paths
from matlaw.artifact.request import Leaf, requested_pairs
from matlaw.errors import CompileError, InputFileError
from matlaw.ir.evaluate import evaluate
from matlaw.ir.program import Program


def test_files_of_a_forward_model(models: Path) -> None:
    path = models / "linear_elastic.i"
    assert plan_export_artifacts(path, "model") == [
        "model/cpu/float64/model.pt2",
        "model/cpu/float64/model.x86-64-v3.so",
        "model/metadata.json",
        "model_aoti.i",
    ]
    files = plan_export_artifacts(
        path, "model", stub=False, derivatives=("stress:",), backend="inductor", dtype="float32"
    )
    assert files == ["model/cpu/float32/model.pt2", "model/cpu/float32/model_jvp.pt2", "model/metadata.json"]


def test_files_of_an_implicit_model(models: Path) -> None:
    files = plan_export_artifacts(
        models / "j2_viscoplastic.i", "model", derivatives=("stress:strain",), backend="inductor"
    )
    stems = [Path(file).stem for file in files if file.endswith(".pt2")]
    assert stems == [
        "model_seg0_residual",
        "model_seg0_jacobian",
        "model_seg0_solve",
        "model_seg0_predictor",
        "model_seg0_jacobian_given",
        "model_seg0_solve_ift",
        "model_seg0_substep_jacobian_given",
        "model_seg1",
        "model_seg1_jvp",
    ]


def test_only_blocks_on_the_path_are_lowered(models: Path) -> None:
    def plan(*derivatives: str):
        request = Request(models / "j2_viscoplastic.i", "model", derivatives=derivatives, backend="native")
        return Planner(request).plan()

    by_strain = plan("stress:strain")
    assert by_strain.segments[0].graphs["jacobian_given"].columns == ("strain",)
    pairs = {(p.output, p.input) for p in by_strain.segments[1].graphs["jvp"].pairs}
    assert pairs == {("stress", "strain"), ("stress", "plastic_strain")}
    assert {p.output for p in by_strain.segments[0].graphs["solve_ift"].pairs} == {"plastic_strain"}
    by_time = plan("stress:t")
    assert by_time.segments[0].graphs["jacobian_given"].columns == ("t",)
    assert {(p.output, p.input) for p in by_time.segments[1].graphs["jvp"].pairs} == {("stress", "plastic_strain")}
    none = plan()
    assert "jvp" not in none.segments[1].graphs
    assert "solve_ift" not in none.segments[0].graphs


E, SY = "update.system.elasticity.E", "update.system.normality.flow.yield.sy"


def test_parameter_derivatives_lower_only_what_is_on_the_way(models: Path) -> None:
    def graphs(*derivatives: str):
        request = Request(
            models / "j2_viscoplastic.i", "model", derivatives=derivatives, parameters=(E, SY), backend="native"
        )
        plan = Planner(request).plan()
        usual = {"residual", "jacobian", "solve", "newton_step", "predictor", "value"}
        return plan, [{k for k in part.graphs if "substep" not in k} - usual for part in plan.segments]

    plan, kinds = graphs(f"stress:{SY}")
    assert kinds == [{"dr_dparam", "solve_param"}, {"jvp"}]  # the yield stress acts through the unknowns only
    assert plan.segments[0].graphs["dr_dparam"].columns == (SY,)
    assert {(p.output, p.input) for p in plan.segments[1].graphs["jvp"].pairs} == {("stress", "plastic_strain")}
    assert plan.parameter_pairs == [("stress", SY, False)]
    plan, kinds = graphs(f"stress:{E}")
    assert kinds == [{"dr_dparam", "solve_param"}, {"jvp", "param_jvp"}]
    assert [(p.output, p.input) for p in plan.segments[1].graphs["param_jvp"].pairs] == [("stress", E)]
    plan, kinds = graphs(f"plastic_strain:{E}")
    assert kinds == [{"dr_dparam", "solve_param"}, set()]
    plan, kinds = graphs(":strain", f":{SY}", f":{E}")
    assert plan.segments[0].graphs["dr_dparam"].columns == (E, SY)
    assert {pair[1] for pair in plan.pairs} == {"strain"}
    stems = [graph.stem for graph in plan.graphs]
    assert stems[-1] == "model_seg1_param_jvp"
    assert {"model_seg0_dr_dparam", "model_seg0_solve_param"} <= set(stems)


def test_graphs_of_substeps_have_the_blocks_by_old_states(models: Path) -> None:
    def plan(*derivatives: str, level: int = 0, backend: str = "both"):
        overrides = (f"Models/update/max_substepping_level:={level}",)
        options = {"parameters": (SY,), "backend": backend, "overrides": overrides}
        return Planner(Request(models / "j2_viscoplastic.i", "model", derivatives=derivatives, **options)).plan()

    old_states = {"plastic_strain~1", "equivalent_plastic_strain~1"}
    for derivatives, columns in (
        (["stress:strain"], {"strain"}),
        (["stress:t"], {"t", "t~1"}),  # a force between its two values depends on both
        (["stress:t~1"], {"t", "t~1"}),
        ([f"stress:{SY}"], set()),
    ):
        update = plan(*derivatives).segments[0]
        assert set(update.graphs["substep_jacobian_given"].columns) == columns | old_states
    assert not any("substep" in kind for part in plan().segments for kind in part.graphs)
    assert not any("substep" in kind for part in plan(":").segments for kind in part.graphs)
    # Native where there are kernels; .pt2 where there are none, and where the input file allows substeps.
    made = [file for file in plan("stress:strain").files() if "substep" in file]
    assert [file.split(".", 1)[1] for file in made] == ["x86-64-v3.so"]
    made = [file for file in plan("stress:strain", level=2).files() if "substep" in file]
    assert [file.split(".", 1)[1] for file in made] == ["pt2", "x86-64-v3.so"]
    made = [file for file in plan("stress:strain", backend="inductor").files() if "substep" in file]
    assert [file.split(".", 1)[1] for file in made] == ["pt2"]


def test_a_parameter_reaches_outputs_through_several_segments() -> None:
    edges: list[set[tuple[str, str]]] = [{("a", "x")}, {("b", "a")}, {("y", "b"), ("y", "x")}]
    direct: list[set[tuple[str, str]]] = [{("a", "p")}, {("b", "q")}, {("y", "p")}]
    written = [["a"], ["b"], ["y"]]
    through, first = _parameter_paths(edges, direct, written, "y", "p")
    assert through == [(1, ("b", "a")), (2, ("y", "b"))]
    assert first == [(0, ("a", "p")), (2, ("y", "p"))]
    assert _parameter_paths(edges, direct, written, "y", "q") == ([(2, ("y", "b"))], [(1, ("b", "q"))])
    hidden = [["a"], ["b"], ["y", "a"]]
    assert _parameter_paths(edges, direct, hidden, "a", "p") == ([], [])


REFUSED = """
import torch
from matlaw.models import Input, Leaf, Output, register
from matlaw.tensors import Scalar


@register("RefusedForTest{k}")
class Refused(Leaf):
    a = Input(Scalar, doc="the argument")
    b = Output(Scalar, doc="what is refused")

    def forward(self, a):
        return Scalar({expression})
"""


@pytest.mark.parametrize(
    ("k", "expression", "backend", "message"),
    [
        (0, "torch.erf(a.data)", "native", r"aten\.erf\.default: .*--backend both"),
        (1, "torch.nn.functional.softplus(a.data).cumsum(0)", "native", r"aten\.\w+\.default: .*--backend both"),
        (2, "a.data if (a.data > 0).any() else -a.data", "both", "cannot be recorded .* looks at values"),
        (3, "a.data if a.data.shape[-1] > 50 else -a.data", "inductor", "depends on the number of rows"),
        (4, "a.data + torch.tensor(a.data.numpy())", "both", "depends on the number of rows .other constants"),
        (5, "a.data if a.data.shape[-1] < 99 else -a.data.exp()", "both", "depends on the number of rows"),
        (6, "a.data if a.data.shape[-1] < 99 else a.data[None]", "both", "cannot be recorded .*Scalar: expected shape"),
        (7, "a.data if a.data.shape[-1] != 11 else a.data.no_such()", "both", "cannot be recorded .*AttributeError"),
    ],
)
def test_what_cannot_be_lowered_is_named_with_its_model(
    models: Path, tmp_path: Path, k: int, expression: str, backend: str, message: str
) -> None:
    extension, law = tmp_path / f"refused{k}.py", tmp_path / "law.i"
    extension.write_text(REFUSED.format(k=k, expression=expression))
    text = (models / "radial_return.i").read_text()
    assert "elastic_strain elasticity'" in text
    text = text.replace("elastic_strain elasticity'", "elastic_strain elasticity damage'")
    line = len(text.splitlines()) + 2
    block = (
        f"[Models]\n  [damage]\n    type = RefusedForTest{k}\n    a = 'equivalent_plastic_strain'\n    b = 'damage'\n"
    )
    law.write_text(f"{text}{block}  []\n[]\n")
    request = Request(law, "model", derivatives=("stress:strain",), backend=backend, extensions=(str(extension),))
    place = rf"law\.i:{line}: \[Models\]/\[damage\] \(model 'model', segment 2\): "
    with pytest.raises(CompileError, match=f"{place}.*{message}"):
        Planner(request).plan()


def test_an_operation_of_a_derivative_is_named_with_the_model_that_takes_it(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from matlaw.ir import aten

    monkeypatch.delitem(aten.HANDLERS, "where")
    request = Request(models / "j2_viscoplastic.i", "model", derivatives=("stress:strain",), backend="native")
    with pytest.raises(CompileError, match=r"j2_viscoplastic\.i:\d+: \[Models\]/\[\w+\] \(.*aten\.where"):
        Planner(request).plan()


def test_a_segment_without_scalars_leaves_the_others_native(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from matlaw.artifact import plan as planning
    from matlaw.ir import UnsupportedOperation

    made = planning.ForwardProgram

    def refuse(forward):
        if "segment 1" in forward.name:
            raise UnsupportedOperation("aten.cumsum.default")
        return made(forward)

    monkeypatch.setattr(planning, "ForwardProgram", refuse)
    request = Request(models / "j2_viscoplastic.i", "model", derivatives=("stress:strain",))
    plan = Planner(request).plan()
    [leaf] = request.leaves
    native = {graph.stem for graph in plan.graphs if plan.is_native(graph, leaf)}
    kinds = ("residual", "jacobian", "predictor", "jacobian_given", "substep_jacobian_given", "newton_step")
    kinds += ("sensitivity",)
    assert native == {f"model_seg0_{kind}" for kind in kinds}
    packages = {graph.stem for graph in plan.graphs if plan.is_inductor(graph, leaf)}
    assert packages >= {graph.stem for graph in plan.graphs if not graph.of_substeps and not graph.native_only}
    assert packages.isdisjoint(graph.stem for graph in plan.graphs if graph.of_substeps and graph.stem in native)
    on_cuda = Leaf("cuda", "float64")
    assert {graph.stem for graph in plan.graphs if not graph.native_only} == {
        graph.stem for graph in plan.graphs if plan.is_inductor(graph, on_cuda)
    }
    with pytest.raises(CompileError, match=r"segment 1: aten\.cumsum\.default.*--backend both"):
        Planner(Request(models / "j2_viscoplastic.i", "model", backend="native")).plan()


def test_constant_blocks_are_found(models: Path) -> None:
    plan = Planner(Request(models / "linear_elastic.i", "model", derivatives=(":",))).plan()
    assert plan.pairs == [("stress", "strain", True)]
    promoted = Request(models / "linear_elastic.i", "model", derivatives=(":",), parameters=("model.E",))
    assert Planner(promoted).plan().pairs == [("stress", "strain", False)]


@pytest.mark.parametrize("name", ["linear_elastic", "mixed_control", "radial_return", "static_recovery"])
def test_a_law_without_scalars_has_the_same_structure(models: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Which derivatives are zero or the same for all rows does not depend on there being native kernels."""
    from matlaw.artifact import plan as planning
    from matlaw.ir import UnsupportedOperation

    def refuse(forward: object) -> None:
        raise UnsupportedOperation("aten.cumsum.default")

    request = Request(models / f"{name}.i", "model", derivatives=(":",))
    scalars = Planner(request).plan()
    monkeypatch.setattr(planning, "ForwardProgram", refuse)
    recorded = Planner(request).plan()
    assert recorded.unsupported
    assert recorded.pairs == scalars.pairs
    assert any(pair.batch_independent for graph in recorded.graphs for pair in graph.pairs)
    for one, other in zip(recorded.segments, scalars.segments, strict=True):
        kinds = [kind for kind in one.graphs if not one.graphs[kind].native_only]
        assert kinds == [kind for kind in other.graphs if not other.graphs[kind].native_only]
        for kind in kinds:
            assert one.graphs[kind].columns == other.graphs[kind].columns
            assert one.graphs[kind].pairs == other.graphs[kind].pairs
            for a, b in zip(one.graphs[kind].pairs, other.graphs[kind].pairs, strict=True):
                assert a.batch_independent == b.batch_independent
                if a.batch_independent:
                    np.testing.assert_allclose(a.constant, b.constant, rtol=1e-13)


def test_a_later_writer_hides_an_earlier_one() -> None:
    edges = [{("x", "a")}, {("x", "b")}, {("y", "x")}]
    written = [["x"], ["x"], ["y"]]
    assert _paths(edges, written, "y", "a") == []
    assert _paths(edges, written, "y", "b") == [(1, ("x", "b")), (2, ("y", "x"))]


def test_sub_batched_variables_compile(models: Path, tmp_path: Path) -> None:
    from matlaw.artifact import compile_model

    law = tmp_path / "law.i"
    law.write_text(
        "[Settings]\n  [example_batch_shape]\n    strain = '(2; 3)'\n  []\n[]\n"
        + (models / "linear_elastic.i").read_text()
    )
    report = compile_model(law, "model", tmp_path / "out", ["stress:strain"], backend="native")
    assert report.verification["cpu/float64/model"]["native"] < 1e-12
    assert Planner(Request(law, "model", derivatives=("stress:strain",))).plan().pairs == [("stress", "strain", True)]
    text = (tmp_path / "out/model/metadata.json").read_text()
    assert '"sub_batch_shape": [\n    3\n   ]' in text


def test_a_parameter_per_row_in_the_input_file_is_refused(models: Path, tmp_path: Path) -> None:
    law = tmp_path / "law.i"
    text = (models / "linear_elastic.i").read_text()
    assert "'200000 0.3'" in text
    law.write_text(
        "[Tensors]\n  [E]\n    type = Python\n    expr = 'Scalar([100.0, 200.0])'\n  []\n[]\n"
        + text.replace("'200000 0.3'", "'E 0.3'")
    )
    with pytest.raises(CompileError, match=r"parameter 'model\.E' has the batch shape \(2,\).*-p model\.E"):
        Planner(Request(law, "model"))


def test_derivative_requests() -> None:
    outputs, inputs = ["s", "e"], ["x", "t"]
    assert requested_pairs([":"], outputs, inputs) == [("s", "x"), ("s", "t"), ("e", "x"), ("e", "t")]
    assert requested_pairs([":t", "s:x"], outputs, inputs) == [("s", "x"), ("s", "t"), ("e", "t")]
    assert requested_pairs([], outputs, inputs) == []
    assert requested_pairs([":"], outputs, inputs, ["p"]) == requested_pairs([":"], outputs, inputs)
    assert requested_pairs([":p", "s:x"], outputs, inputs, ["p"]) == [("s", "x"), ("s", "p"), ("e", "p")]


def test_names_with_colons_can_be_asked_for():
    assert requested_pairs(["a:b:x"], ["a:b", "c"], ["x", "t:0"]) == [("a:b", "x")]
    assert requested_pairs([":t:0"], ["a:b", "c"], ["x", "t:0"]) == [("a:b", "t:0"), ("c", "t:0")]
    with pytest.raises(CompileError, match="'a' by 'b:x' or 'a:b' by 'x'"):
        requested_pairs(["a:b:x"], ["a", "a:b"], ["x", "b:x"])
    with pytest.raises(CompileError, match="unknown output 'a'"):
        requested_pairs(["a:b:y"], ["a:b"], ["x"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"derivatives": ("stres:strain",)}, r"unknown output 'stres'; did you mean 'stress'\?"),
        ({"derivatives": ("stress:strian",)}, r"unknown input 'strian'; did you mean 'strain'\?"),
        ({"derivatives": ("stress",)}, "expected OUT:IN"),
        ({"derivatives": ("stress:model.E",)}, "'model.E' is a fixed parameter; promote it with -p model.E"),
        (
            {"derivatives": ("stress:model.EE",), "parameters": ("model.E",)},
            "unknown input or promoted parameter 'model.EE'",
        ),
        ({"parameters": ("model.F",)}, r"unknown parameter 'model.F'.*model\.E, model\.nu"),
        ({"backend": "fast"}, r"unknown backend 'fast'.*both, inductor, native"),
        ({"device": "cud"}, r"unknown device 'cud'; did you mean 'cuda'\?"),
        ({"device": "cuda", "backend": "native"}, "--device cuda: native kernels are for CPUs"),
    ],
)
def test_wrong_requests_name_the_choices(models: Path, options: dict, message: str) -> None:
    with pytest.raises(CompileError, match=message):
        Planner(Request(models / "linear_elastic.i", "model", **options)).plan()


def test_unknown_model(models: Path) -> None:
    with pytest.raises(InputFileError, match=r"'modle'; did you mean 'model'"):
        Planner(Request(models / "linear_elastic.i", "modle"))


@pytest.mark.parametrize("name", ["..", ".", "", "a/b"])
def test_a_model_name_that_names_no_file_is_refused(models: Path, name: str) -> None:
    with pytest.raises(CompileError, match="names no file"):
        Request(models / "linear_elastic.i", name).check()


def test_accuracy_of_solves_is_looked_at_in_slices_of_states(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    def watched(program: Program, inputs: list[NDArray]) -> list[NDArray]:
        sizes.append(inputs[0].shape[-1])
        return evaluate(program, inputs)

    monkeypatch.setattr(memory, "LIMIT", 2**20)
    monkeypatch.setattr(plan_module, "evaluate", watched)
    plan = Planner(
        Request(models / "j2_viscoplastic.i", "model", derivatives=("stress:strain",), backend="native")
    ).plan()
    assert {"newton_step", "sensitivity"} <= set(plan.segments[0].graphs)
    assert 3 <= max(sizes) < 200
    assert len(sizes) == 2 * 2 * memory.QUICK_SLICES  # two programs for each of the two kernels


def test_what_reduces_the_rows_of_a_call_is_refused(tmp_path: Path) -> None:
    law = tmp_path / "law.i"
    law.write_text("[Models]\n[model]\ntype = SR2DynamicMean\nfrom = 'a'\nto = 'b'\ndim = 0\n[]\n[]\n")
    with pytest.raises(
        CompileError, match=r"law\.i:2: \[Models\]/\[model\]: SR2DynamicMean reduces the rows of a call"
    ):
        Planner(Request(law, "model"))
