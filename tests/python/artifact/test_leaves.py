"""Several devices and dtypes in one artifact, compiled one after the other or at once."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
import torch

from matlaw import load_model
from matlaw.artifact import Request, compile_model, plan_export_artifacts
from matlaw.artifact.plan import Planner
from matlaw.artifact.workers import worker_pool
from matlaw.cli.compile import main
from matlaw.errors import CompileError, FatalError


def digests(folder: Path) -> dict[str, str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_leaves_in_order_each_once() -> None:
    request = Request(Path("a.i"), "m", device=("cuda", "cpu", "cuda"), dtype=("float32", "float64"))
    assert [leaf.folder for leaf in request.leaves] == [
        "cpu/float64", "cpu/float32", "cuda/float64", "cuda/float32",
    ]  # fmt: skip
    with pytest.raises(CompileError, match="no dtype was given; choose from float64, float32"):
        Request(Path("a.i"), "m", dtype=()).check()
    with pytest.raises(CompileError, match="unknown device 'tpu'"):
        Request(Path("a.i"), "m", device=("cpu", "tpu")).check()


def test_both_dtypes_load(models: Path, tmp_path: Path) -> None:
    options = ["--model", "model", "--output-dir", str(tmp_path), "--backend", "native", "-q", "-d", ":", "-j", "2"]
    assert main([str(models / "linear_elastic.i"), *options, "--dtype", "float32", "float64"]) == 0
    m = json.loads((tmp_path / "model/metadata.json").read_text())
    assert list(m["builds"]) == ["cpu/float64", "cpu/float32"]
    assert list(m["files"]) == [
        f"cpu/{dtype}/{stem}.x86-64-v3.so" for dtype in ("float64", "float32") for stem in ("model", "model_jvp")
    ]
    assert set(m["verification"]) == {
        f"cpu/{dtype}/{stem}" for dtype in ("float64", "float32") for stem in ("model", "model_jvp")
    }
    stress = {}
    for dtype in (torch.float64, torch.float32):
        law = load_model(str(tmp_path / "model_aoti.i"), "model", dtype=dtype)
        strain = torch.linspace(1e-3, 2e-3, 12, dtype=dtype).reshape(2, 6)
        stress[dtype] = law.forward({"strain": strain})["stress"]
        assert stress[dtype].dtype == dtype
    torch.testing.assert_close(stress[torch.float32].double(), stress[torch.float64], rtol=1e-5, atol=1e-5)
    assert load_model(str(tmp_path / "model_aoti.i"), "model").dtype == torch.float64


def test_a_leaf_that_is_not_there(models: Path, tmp_path: Path) -> None:
    compile_model(models / "linear_elastic.i", "model", tmp_path, backend="native", dtype="float32")
    with pytest.raises(FatalError, match=r"no build for cpu/float64; it has 'cpu/float32'"):
        load_model(str(tmp_path / "model"), "model", dtype=torch.float64)


def test_a_cuda_leaf_is_planned(models: Path, tmp_path: Path) -> None:
    """Whether there is a device or not: ``.pt2`` graphs for both devices, kernels for CPUs."""
    options: dict[str, Any] = {"device": ("cpu", "cuda"), "cpu_target": ("x86-64-v3", "x86-64-v4")}
    options["derivatives"] = ("stress:strain",)
    files = plan_export_artifacts(models / "linear_elastic.i", "model", **options)
    assert [f for f in files if "/cuda/" in f] == ["model/cuda/float64/model.pt2", "model/cuda/float64/model_jvp.pt2"]
    assert len([f for f in files if "/cpu/" in f]) == 8
    with pytest.raises(CompileError, match="--device cuda: native kernels are for CPUs"):
        plan_export_artifacts(models / "linear_elastic.i", "model", device="cuda", backend="native")
    if not torch.cuda.is_available():
        with pytest.raises(CompileError, match=r"^--device cuda: this torch sees no CUDA device;.*--device cpu$"):
            compile_model(models / "linear_elastic.i", "model", tmp_path / "out", **options)
        assert not (tmp_path / "out").exists()


def test_a_cuda_graph_is_recorded_without_a_device(models: Path) -> None:
    """Everything on the device, from constants on; no number is moved there by every call."""
    from matlaw.lower.inductor.lowerable import Lowerable
    from matlaw.trace.forward import trace

    plan = Planner(Request(models / "linear_elastic.i", "model")).plan()
    [graph] = plan.graphs
    assert graph.forward is not None
    forward = graph.forward
    traced = trace(forward.function, forward.inputs, forward.outputs, "law")
    on_cpu, on_cuda = (Lowerable(graph, traced, "law", device) for device in ("cpu", "cuda"))
    assert on_cpu.structure != on_cuda.structure
    assert all("_to_copy" not in str(node.target) for node in traced.module.graph.nodes)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="this machine has no CUDA device")
@pytest.mark.inductor
def test_a_cuda_leaf_agrees_with_eager(models: Path, tmp_path: Path) -> None:
    report = compile_model(models / "j2_viscoplastic.i", "model", tmp_path, ("stress:strain",), device=("cpu", "cuda"))
    assert all(found["inductor"] < 1e-11 for stem, found in report.verification.items() if stem.startswith("cuda/"))
    m = json.loads((tmp_path / "model/metadata.json").read_text())
    assert m["builds"]["cuda/float64"]["cuda_capability"]


def test_native_files_are_the_same_whatever_jobs(models: Path, tmp_path: Path) -> None:
    for jobs in (1, 3):
        compile_model(
            models / "j2_viscoplastic.i", "model", tmp_path / str(jobs), ("stress:strain",), backend="native",
            dtype=("float64", "float32"), jobs=jobs, cache=False, keep_source=True, verify="none",
        )  # fmt: skip
    one, three = digests(tmp_path / "1"), digests(tmp_path / "3")
    assert len(one) > 20
    assert one == three


@pytest.mark.inductor
def test_packages_are_the_same_whatever_jobs(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where Inductor has an empty cache of its own."""
    for jobs in (1, 2):
        monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / f"inductor{jobs}"))
        compile_model(
            models / "linear_elastic.i", "model", tmp_path / str(jobs), ("stress:strain",), backend="inductor",
            jobs=jobs, cache=False, verify="none",
        )  # fmt: skip
    assert digests(tmp_path / "1") == digests(tmp_path / "2")


def _known(name: str) -> bool:
    from matlaw.models.registry import registered

    return name in registered("Models")


def test_workers_know_extensions(tmp_path: Path) -> None:
    """A worker is a process of its own: the type of the extension is there, without it not."""
    extension = tmp_path / "twice.py"
    extension.write_text(
        "from matlaw.models import Input, Model, Output, register\n"
        "from matlaw.tensors import Scalar\n\n\n"
        '@register("TwiceForWorkers")\n'
        "class Twice(Model):\n"
        '    """Twice."""\n\n'
        '    x = Input(Scalar, doc="x")\n'
        '    y = Output(Scalar, doc="y")\n\n'
        "    def forward(self, x):\n"
        "        return 2.0 * x\n"
    )
    for extensions, expected in (((), False), ((str(extension),), True)):
        with worker_pool(1, extensions) as pool:
            assert pool.submit(_known, "TwiceForWorkers").result() is expected
