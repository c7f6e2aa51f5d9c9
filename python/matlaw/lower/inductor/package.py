"""Export a graph and compile it with AOTInductor."""

from __future__ import annotations

import io
import logging
import shutil
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from matlaw.errors import CompileError
from matlaw.trace.derivatives import graph_function
from matlaw.trace.forward import Traced, trace
from matlaw.trace.graphs import Graph

#: Rows of the example batch: a multiple of 8, which all batches are.
_EXAMPLE_ROWS = 24


@dataclass(frozen=True)
class Recorded:
    """A graph as torch operations.

    :ivar traced: its operations; batch-independent blocks have a batch axis of extent 1
    :ivar constant: per output, whether that axis is to be removed
    :ivar title: for messages
    """

    traced: Traced
    constant: tuple[bool, ...]
    title: str

    @property
    def digest(self) -> str:
        """The same for graphs whose packages are the same."""
        return f"{self.traced.digest} {self.constant}"


def record(graph: Graph, name: str, dtype: torch.dtype = torch.float64) -> Recorded:
    """Record a graph.

    :param graph: any kind
    :param name: of the model, for messages
    :param dtype: of all tensors
    :raises CompileError: the graph cannot be recorded
    """
    title = f"{name}: graph {graph.stem}"
    batched = len(graph.outputs) - len(graph.pairs)
    constant = (*(False for _ in range(batched)), *(p.batch_independent for p in graph.pairs))
    function = graph_function(graph)

    def with_batch(*flat: torch.Tensor) -> list[torch.Tensor]:
        # Recording checks that results have a batch axis; a constant block gets one of extent 1, removed below.
        return [x.unsqueeze(-1) if c else x for x, c in zip(function(*flat), constant, strict=True)]

    return Recorded(trace(with_batch, graph.inputs, graph.outputs, title, dtype), constant, title)


def export(recorded: Recorded, dtype: torch.dtype = torch.float64) -> bytes:
    """Export a recorded graph with a dynamic batch.

    :param recorded: from :func:`record`
    :param dtype: of all tensors
    :returns: a serialized ``torch.export.ExportedProgram``
    :raises CompileError: torch.export refused
    """

    class Module(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.graph_module = recorded.traced.module

        def forward(self, *flat: torch.Tensor) -> tuple[torch.Tensor, ...]:
            results = zip(self.graph_module(*flat), recorded.constant, strict=True)
            return tuple(x.squeeze(-1) if c else x for x, c in results)

    inputs = recorded.traced.inputs
    rows = torch.export.Dim("rows", min=2)
    arguments = tuple(torch.zeros(*slot.shape, _EXAMPLE_ROWS, dtype=dtype) for slot in inputs)
    dynamic: Any = {"flat": tuple({len(slot.shape): rows} for slot in inputs)}
    buffer = io.BytesIO()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            exported = torch.export.export(Module(), arguments, dynamic_shapes=dynamic, strict=False)
            torch.export.save(exported, buffer)
    except Exception as e:
        first = str(e).strip().splitlines()[:3]
        raise CompileError(f"{recorded.title}: torch.export refused it: {' '.join(first)}") from e
    return buffer.getvalue()


def export_graph(graph: Graph, name: str, dtype: torch.dtype = torch.float64) -> bytes:
    """Record a graph and export it with a dynamic batch.

    :param graph: any kind
    :param name: of the model, for messages
    :param dtype: of all tensors
    :returns: a serialized ``torch.export.ExportedProgram``
    :raises CompileError: the graph cannot be recorded or exported
    """
    return export(record(graph, name, dtype), dtype)


def options_for(cpu_target: str) -> dict[str, Any]:
    """Inductor's options for a CPU target.

    :param cpu_target: ``-march`` of the C++ compiler
    """
    lanes: dict[str, int | None] = {"x86-64-v2": 0, "x86-64-v3": 256, "x86-64-v4": 512, "native": None}
    return {
        "cpp.march": cpu_target,
        "cpp.simdlen": lanes[cpu_target],
        "cpp.threads": 1,
        "cpp.enable_kernel_profile": False,
        "aot_inductor.use_consts_asm_build": False,
        "aot_inductor.package": True,
    }


def compile_exported(exported: bytes, package: Path, title: str, cpu_target: str = "x86-64-v3") -> None:
    """Compile an exported graph to a ``.pt2``.

    :param exported: from :func:`export_graph`
    :param package: the file to write
    :param title: for messages
    :param cpu_target: what its CPU code is for: ``-march`` of the C++ compiler
    :raises CompileError: Inductor refused
    """
    import torch._inductor
    from torch._inductor.runtime.cache_dir_utils import cache_dir

    from matlaw.lower.inductor.sanitize import sanitize

    logging.getLogger("torch._inductor").setLevel(logging.ERROR)
    logging.getLogger("torch.export").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        program = torch.export.load(io.BytesIO(exported))
    folder = Path(tempfile.mkdtemp(prefix="matlaw-inductor-"))
    try:
        raw = folder / "graph.pt2"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch._inductor.aoti_compile_and_package(
                program, package_path=str(raw), inductor_configs=options_for(cpu_target)
            )
        sanitize(raw, package, (folder, Path(cache_dir())))
    except Exception as e:
        first = str(e).strip().splitlines()[:3]
        raise CompileError(f"{title}: Inductor refused it: {' '.join(first)}") from e
    finally:
        shutil.rmtree(folder, ignore_errors=True)
