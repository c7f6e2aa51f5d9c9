"""The plan: names, derivative requests, which blocks are lowered."""

from __future__ import annotations

from pathlib import Path

import pytest

from matlaw.artifact import Request, plan_export_artifacts
from matlaw.artifact.plan import Planner, _paths
from matlaw.artifact.request import requested_pairs
from matlaw.errors import CompileError, InputFileError


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


def test_constant_blocks_are_found(models: Path) -> None:
    plan = Planner(Request(models / "linear_elastic.i", "model", derivatives=(":",))).plan()
    assert plan.pairs == [("stress", "strain", True)]
    promoted = Request(models / "linear_elastic.i", "model", derivatives=(":",), parameters=("model.E",))
    assert Planner(promoted).plan().pairs == [("stress", "strain", False)]


def test_a_later_writer_hides_an_earlier_one() -> None:
    edges = [{("x", "a")}, {("x", "b")}, {("y", "x")}]
    written = [["x"], ["x"], ["y"]]
    assert _paths(edges, written, "y", "a") == []
    assert _paths(edges, written, "y", "b") == [(1, ("x", "b")), (2, ("y", "x"))]


def test_derivative_requests() -> None:
    outputs, inputs = ["s", "e"], ["x", "t"]
    assert requested_pairs([":"], outputs, inputs) == [("s", "x"), ("s", "t"), ("e", "x"), ("e", "t")]
    assert requested_pairs([":t", "s:x"], outputs, inputs) == [("s", "x"), ("s", "t"), ("e", "t")]
    assert requested_pairs([], outputs, inputs) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"derivatives": ("stres:strain",)}, r"unknown output 'stres'; did you mean 'stress'\?"),
        ({"derivatives": ("stress:strian",)}, r"unknown input 'strian'; did you mean 'strain'\?"),
        ({"derivatives": ("stress",)}, "expected OUT:IN"),
        ({"parameters": ("model.F",)}, r"unknown parameter 'model.F'.*model\.E, model\.nu"),
        ({"backend": "fast"}, r"unknown backend 'fast'.*both, inductor, native"),
        ({"device": "cuda"}, "--device cuda"),
    ],
)
def test_wrong_requests_name_the_choices(models: Path, options: dict, message: str) -> None:
    with pytest.raises(CompileError, match=message):
        Planner(Request(models / "linear_elastic.i", "model", **options)).plan()


def test_unknown_model(models: Path) -> None:
    with pytest.raises(InputFileError, match=r"'modle'; did you mean 'model'"):
        Planner(Request(models / "linear_elastic.i", "modle"))
