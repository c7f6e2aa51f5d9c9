"""Every kind of graph as a ``.pt2``: equal to eager for any number of rows, without traces of this machine."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest
import torch

from matlaw.lower.inductor import compile_exported, export_graph
from matlaw.trace import graphs as g
from matlaw.trace.derivatives import graph_function
from matlaw.trace.slots import Slot

SLOTS = (Slot("u", ()), Slot("v", (2,)), Slot("given", (2,)))
OUTPUTS = SLOTS[:2]
FORWARD = g.Forward(
    "test",
    lambda u, v, given: [u * u + (v * given).sum(0), (v * given.abs().sqrt() * u).exp() - 2 * v],
    SLOTS,
    OUTPUTS,
)


@pytest.mark.inductor
@pytest.mark.parametrize("kind", ["jacobian", "solve_ift"])
def test_graph_equals_eager(tmp_path: Path, kind: str) -> None:
    graphs = {
        "jacobian": g.jacobian_graph("test_jacobian", FORWARD),
        "solve_ift": g.solve_ift_graph("test_solve_ift", FORWARD, [g.Pair("v", "given")], ["given"]),
    }
    graph = graphs[kind]
    package = tmp_path / f"{graph.stem}.pt2"
    compile_exported(export_graph(graph, "test"), package, graph.stem)
    runner = torch._inductor.aoti_load_package(str(package))
    for rows in (8, 16, 1000):
        inputs = [torch.rand(*slot.shape, rows, dtype=torch.float64) + 0.1 for slot in graph.inputs]
        if kind == "solve_ift":
            inputs[0] = inputs[0] + 3 * torch.eye(3, dtype=torch.float64).unsqueeze(-1)
        for y, e in zip(runner(*inputs), graph_function(graph)(*inputs), strict=True):
            torch.testing.assert_close(y, e, rtol=1e-13, atol=1e-14)
            assert y.is_contiguous()
    with zipfile.ZipFile(package) as archive:
        content = b"".join(archive.read(name) for name in archive.namelist())
    for folder in (sys.prefix, str(Path(torch.__file__).parent), str(tmp_path)):
        assert folder.encode() not in content


def test_sanitized_packages_differ_in_nothing_random(tmp_path: Path) -> None:
    from matlaw.lower.inductor.sanitize import sanitize, without_names

    for k in range(2):
        with zipfile.ZipFile(tmp_path / f"raw{k}.pt2", "w") as archive:
            archive.writestr("graph/.data/serialization_id", f"{k:040d}")
            archive.writestr("graph/data/model.wrapper.cpp", f"// {tmp_path}")
            archive.writestr("graph/data/model.wrapper_metadata.json", "{}")
        sanitize(tmp_path / f"raw{k}.pt2", tmp_path / f"clean{k}.pt2")
    assert (tmp_path / "clean0.pt2").read_bytes() == (tmp_path / "clean1.pt2").read_bytes()
    assert str(tmp_path).encode() not in (tmp_path / "clean0.pt2").read_bytes()
    data = b"\0/home/someone/lib/torch/x.h\0rest"
    assert without_names(data, {"/home/someone"}) == b"\0" + b"_" * 24 + b"x.h\0rest"
