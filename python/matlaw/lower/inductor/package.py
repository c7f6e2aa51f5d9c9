"""Export a graph and compile it with AOTInductor."""

from __future__ import annotations

import io
import logging
import shutil
import tempfile
import warnings
from pathlib import Path
from typing import Any

import torch

from matlaw.errors import CompileError
from matlaw.trace.derivatives import graph_function
from matlaw.trace.forward import trace
from matlaw.trace.graphs import Graph

#: Rows of the example batch: a multiple of 8, which all batches are.
_EXAMPLE_ROWS = 24


def export_graph(graph: Graph, name: str, dtype: torch.dtype = torch.float64) -> bytes:
    """Record a graph and export it with a dynamic batch.

    The batch is always a multiple of 8: the runtime pads it.

    :param graph: any kind
    :param name: of the model, for messages
    :param dtype: of all tensors
    :returns: a serialized ``torch.export.ExportedProgram``
    :raises CompileError: the graph cannot be recorded or exported
    """
    title = f"{name}: graph {graph.stem}"
    constant = [p.batch_independent for p in graph.pairs]
    batched = len(graph.outputs) - len(constant)
    function = graph_function(graph)

    def with_batch(*flat: torch.Tensor) -> list[torch.Tensor]:
        # Recording checks that results have a batch axis; a constant block gets one of extent 1, removed below.
        results = function(*flat)
        return [x.unsqueeze(-1) if k >= batched and constant[k - batched] else x for k, x in enumerate(results)]

    traced = trace(with_batch, graph.inputs, graph.outputs, title, dtype)

    class Recorded(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.graph_module = traced.module

        def forward(self, *flat: torch.Tensor) -> tuple[torch.Tensor, ...]:
            results = self.graph_module(*flat)
            return tuple(x.squeeze(-1) if k >= batched and constant[k - batched] else x for k, x in enumerate(results))

    rows = torch.export.Dim("rows", min=2)
    arguments = tuple(torch.zeros(*slot.shape, _EXAMPLE_ROWS, dtype=dtype) for slot in graph.inputs)
    dynamic: Any = {"flat": tuple({len(slot.shape): rows} for slot in graph.inputs)}
    buffer = io.BytesIO()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            exported = torch.export.export(Recorded(), arguments, dynamic_shapes=dynamic, strict=False)
            torch.export.save(exported, buffer)
    except Exception as e:
        first = str(e).strip().splitlines()[:3]
        raise CompileError(f"{title}: torch.export refused it: {' '.join(first)}") from e
    return buffer.getvalue()


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
    lanes: dict[str, int | None] = {"x86-64-v2": 0, "x86-64-v3": 256, "x86-64-v4": 512, "native": None}
    options = {
        "cpp.march": cpu_target,
        "cpp.simdlen": lanes[cpu_target],
        "cpp.threads": 1,
        "cpp.enable_kernel_profile": False,
        "aot_inductor.use_consts_asm_build": False,
        "aot_inductor.package": True,
    }
    folder = Path(tempfile.mkdtemp(prefix="matlaw-inductor-"))
    try:
        raw = folder / "graph.pt2"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch._inductor.aoti_compile_and_package(program, package_path=str(raw), inductor_configs=options)
        sanitize(raw, package, (folder, Path(cache_dir())))
    except Exception as e:
        first = str(e).strip().splitlines()[:3]
        raise CompileError(f"{title}: Inductor refused it: {' '.join(first)}") from e
    finally:
        shutil.rmtree(folder, ignore_errors=True)
