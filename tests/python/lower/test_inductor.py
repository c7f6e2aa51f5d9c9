"""Every kind of graph as a ``.pt2``: equal to eager for any number of rows, without traces of this machine."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch

from matlaw.lower.inductor import Lowerable, Template, compile_exported, export, marker
from matlaw.trace import graphs as g
from matlaw.trace.derivatives import graph_function
from matlaw.trace.forward import trace
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
    traced = trace(FORWARD.function, SLOTS, OUTPUTS, "test") if graph.forward else None
    lowerable = Lowerable(graph, traced, graph.stem)
    package.write_bytes(compile_exported(export(lowerable), graph.stem).filled(lowerable.constants))
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


def scaled(factor: float, shift: float, bound: float = 1.0) -> Lowerable:
    """A law with two constants, one of them in its derivative too, and a block that all rows share."""
    slots, outputs = [Slot("x", (2,)), Slot("y", ())], [Slot("f", (2,)), Slot("h", ())]
    numbers = torch.tensor([[factor], [shift]], dtype=torch.float64)

    def function(x: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
        return [(x * numbers[:1]).sin() + numbers[1:], factor * y.clamp(max=bound)]

    forward = g.Forward("test", function, tuple(slots), tuple(outputs))
    pairs = [g.Pair("f", "x"), g.Pair("h", "y", np.array(factor))]
    return Lowerable(g.jvp_graph("test_jvp", forward, pairs), trace(function, slots, outputs, "test"), "test")


def test_structure_is_what_is_left_without_names_and_numbers() -> None:
    assert [x.tolist() for x in scaled(2.0, 3.0).constants] == [[[2.0]], [[3.0]], 2.0]
    assert scaled(2.0, 3.0).structure == scaled(2.0, 4.0).structure
    assert scaled(2.0, 3.0).values != scaled(2.0, 4.0).values
    assert scaled(2.0, 3.0).structure != scaled(2.0, 3.0, bound=2.0).structure  # a number written into the operations
    other = g.jvp_graph("test_jvp", scaled(2.0, 3.0).graph.forward, [g.Pair("f", "x")])  # type: ignore[arg-type]
    assert scaled(2.0, 3.0).structure != Lowerable(other, scaled(2.0, 3.0).traced, "test").structure


@pytest.mark.parametrize("shape", [(), (1,), (6, 1)])
def test_markers_are_put_in_place_of_constants(shape: tuple[int, ...]) -> None:
    number = torch.full(shape, 7.0, dtype=torch.float64)
    slots = (Slot("x", (6,)),)
    traced = trace(lambda x: [x * number], slots, slots, "test")
    forward = g.Forward("test", traced.module, slots, slots)
    lowerable = Lowerable(g.value_graph("test", forward), traced, "test")
    [constant] = lowerable.constants
    stand_in = marker(0, constant)
    assert (stand_in.shape, stand_in.dtype) == (constant.shape, constant.dtype)
    x = torch.ones(6, 8, dtype=torch.float64)
    [y] = graph_function(lowerable.with_constants([stand_in]))(x)
    torch.testing.assert_close(y, x * torch.from_numpy(stand_in))


@pytest.mark.inductor
def test_a_package_serves_other_numbers(tmp_path: Path) -> None:
    """Compiled with markers, filled with two sets of numbers."""
    first = scaled(2.0, 3.0)
    numbers = first.constants
    exported = export(first, [marker(k, x) for k, x in enumerate(numbers)])
    template = compile_exported(exported, "test", constants=numbers)
    assert template.complete
    assert set(template.places) == {0, 1, 2}
    template = Template.from_bytes(template.to_bytes())
    x, y = torch.rand(2, 16, dtype=torch.float64), torch.rand(16, dtype=torch.float64)
    for k, (factor, shift) in enumerate([(2.0, 3.0), (5.0, -1.0)]):
        package = tmp_path / f"{k}.pt2"
        package.write_bytes(template.filled([np.array([[factor]]), np.array([[shift]]), np.array(factor)]))
        f, _, df, dh = torch._inductor.aoti_load_package(str(package))(x, y)
        torch.testing.assert_close(f, (factor * x).sin() + shift)
        torch.testing.assert_close(df[0, 0], factor * (factor * x[0]).cos())
        assert dh.item() == factor


@pytest.mark.inductor
def test_a_library_needs_torch_and_finds_it_when_it_is_loaded() -> None:
    package = compile_exported(export(scaled(2.0, 3.0)), "test").package
    with zipfile.ZipFile(io.BytesIO(package)) as archive:
        [library] = [archive.read(name) for name in archive.namelist() if name.endswith(".so")]
    assert b"\0libtorch_cpu.so\0" in library
    assert b"libtorch.so" not in library


def test_the_compiler_is_not_imported_before_it_is_needed() -> None:
    code = "import sys, matlaw.artifact.compile, matlaw.lower.inductor; print('torch._inductor' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "False\n"


def test_the_graph_that_takes_longest_is_the_largest() -> None:
    def extent(graph: g.Graph) -> int:
        forward = graph.forward
        traced = trace(forward.function, SLOTS, OUTPUTS, "test", torch.float64) if forward else None
        return Lowerable(graph, traced, "test").extent

    solve = extent(g.solve_ift_graph("test_solve_ift", FORWARD, [g.Pair("v", "given")], ["given"]))
    value, jacobian = (
        extent(g.residual_graph("test_residual", FORWARD)),
        extent(g.jacobian_graph("test_jacobian", FORWARD)),
    )
    assert solve < value < jacobian


@pytest.mark.inductor
def test_precompiled_headers_do_not_change_a_package(tmp_path: Path) -> None:
    exported = export(scaled(2.0, 3.0))
    alone = compile_exported(exported, "test")
    many = [compile_exported(exported, "test", headers=tmp_path) for _ in range(2)]
    assert len(list(tmp_path.rglob("*.gch"))) == 1
    assert many[0].package == alone.package
    assert many[1].package == alone.package


def test_a_compiler_that_fails_says_so(tmp_path: Path) -> None:
    from matlaw.errors import CompileError
    from matlaw.lower.inductor.library import build_library

    flags = {"compiler": "g++", "definitions": [], "include_dirs": [], "cflags": ["O3"], "passthrough_args": [""]}
    flags |= {"libraries_dirs": [], "libraries": []}
    place = "graph/data/aotinductor/model/x.wrapper"
    with zipfile.ZipFile(tmp_path / "raw.pt2", "w") as archive:
        archive.writestr(f"{place}.cpp", "int f() { return undeclared; }")
        for kind in ("compile", "linker"):
            archive.writestr(f"{place}_{kind}_flags.json", json.dumps(flags))
    with pytest.raises(CompileError, match=r"(?s)failed with exit code 1.*undeclared"):
        build_library(tmp_path / "raw.pt2")


def test_the_interface_of_a_library_comes_compiled() -> None:
    from matlaw.lower.inductor.library import _own_part

    source = Path(torch.__file__).parent / "_inductor/codegen/aoti_runtime/interface.cpp"
    head, graph = "#include <torch/csrc/inductor/aoti_include/cpu.h>\n", "\nvoid graph() {}\n"
    own = _own_part(head + source.read_text() + graph)
    assert own is not None
    text, interface = own
    assert text.split() == (head + graph).split()
    assert b"AOTInductorModelContainerRun" in interface.read_bytes()
    assert str(Path(torch.__file__).parent).encode() not in interface.read_bytes()
    assert _own_part(head + graph) is None
