"""Export a graph and compile it with AOTInductor."""

from __future__ import annotations

import io
import logging
import shutil
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray

from matlaw.errors import CompileError
from matlaw.lower.inductor.constants import Template, marker, places_of
from matlaw.lower.inductor.instruction_sets import instruction_sets
from matlaw.lower.inductor.library import build_library
from matlaw.lower.inductor.lowerable import Lowerable
from matlaw.lower.inductor.sanitize import package_of, sanitize
from matlaw.trace.derivatives import graph_function
from matlaw.trace.forward import located

#: Rows of the example batch: a multiple of 8, which all batches are.
_EXAMPLE_ROWS = 24


def export(lowerable: Lowerable, constants: Sequence[NDArray] | None = None) -> bytes:
    """Export a graph with a dynamic batch.

    :param lowerable: the graph
    :param constants: other numbers than its own
    :returns: a serialized ``torch.export.ExportedProgram``
    :raises CompileError: the graph cannot be recorded or exported
    """
    from matlaw.lower.inductor.symbolic import record_symbolically

    graph = lowerable.graph
    device, dtype = lowerable.device, getattr(torch, lowerable.dtype)
    try:
        recorded = record_symbolically(
            lambda numbers: graph_function(lowerable.with_constants(numbers)),
            graph.inputs,
            lowerable.constants if constants is None else constants,
            lowerable.title,
            dtype,
            device,
        )
    except CompileError as e:
        if not lowerable.foreign or graph.kind in ("value", "predictor", "residual"):
            raise
        operation, location = lowerable.foreign
        raise CompileError(
            f"{located(lowerable.title, location)}: the forward function calls {operation}, and what an extension "
            "registers with torch.library has no derivatives that a graph can hold, whatever formula it has. Write it "
            "with operations of torch, or keep it out of implicit updates and of the derivatives that -d asks for. "
            f"{e}"
        ) from e

    class Module(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.graph_module = recorded

        def forward(self, *flat: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return tuple(self.graph_module(*flat))

    rows = torch.export.Dim("rows", min=2)
    arguments = tuple(
        torch.zeros(*slot.batched_shape(_EXAMPLE_ROWS), dtype=dtype, device=device) for slot in graph.inputs
    )
    dynamic: Any = {"flat": tuple({} if slot.shared else {len(slot.shape): rows} for slot in graph.inputs)}
    buffer = io.BytesIO()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            exported = torch.export.export(Module(), arguments, dynamic_shapes=dynamic, strict=False)
            torch.export.save(exported, buffer)
    except Exception as e:
        first = str(e).strip().splitlines()[:3]
        raise CompileError(f"{lowerable.title}: torch.export refused it: {' '.join(first)}") from e
    return buffer.getvalue()


def options_for(cpu_target: str) -> dict[str, Any]:
    """Inductor's options for a CPU target.

    :param cpu_target: ``-march`` of the C++ compiler
    """
    lanes: dict[str, int | None] = {"x86-64-v2": 0, "x86-64-v3": 256, "x86-64-v4": 512, "native": None}
    return {
        "cpp.march": cpu_target,
        "cpp.simdlen": lanes[cpu_target],
        "cpp.threads": 1,
        # Asked of /proc/cpuinfo alone: otherwise a trial compile for each instruction set.
        "cpp.vec_isa_ok": True,
        "cpp.enable_kernel_profile": False,
        "aot_inductor.use_consts_asm_build": False,
        "aot_inductor.package": True,
        # Precompiled headers cost more than they save in a compile of a few graphs.
        "aot_inductor.precompile_headers": False,
        "aot_inductor.enable_line_tables": False,
        # Also short ones, whose values are put in afterwards.
        "always_keep_tensor_constants": True,
        # Nor may numbers that follow from them (the exponent of a power's derivative) be worked out ahead.
        "joint_graph_constant_folding": False,
    }


def compile_exported(
    exported: bytes,
    title: str,
    cpu_target: str = "x86-64-v3",
    constants: Sequence[NDArray] = (),
    device: str = "cpu",
    headers: Path | None = None,
) -> Template:
    """Compile an exported graph to a ``.pt2``.

    :param exported: from :func:`export`; with constants, exported with their markers
    :param title: for messages
    :param cpu_target: what its CPU code is for: ``-march`` of the C++ compiler
    :param constants: the numbers that markers stand for; they are compiled in where markers cannot be replaced later
    :param device: of the graph
    :param headers: folder for precompiled headers, where many graphs are compiled for a CPU
    :raises CompileError: Inductor refused
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        program = torch.export.load(io.BytesIO(exported))
    used = _markers_in(program, constants)
    if used is not None:
        package = _compiled(program, title, cpu_target, device == "cpu", headers)
        places = places_of(package, used, constants)
        if places is not None:
            return Template(package, places)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            program = torch.export.load(io.BytesIO(exported))
    by_bytes = {marker(k, x).tobytes(): x for k, x in enumerate(constants)}
    for tensors in (program.constants, program.state_dict):
        for name, tensor in tensors.items():
            number = by_bytes.get(_bytes(tensor)) if isinstance(tensor, torch.Tensor) else None
            if number is not None:
                tensors[name] = torch.from_numpy(number.copy()).to(tensor.device)
    return Template(_compiled(program, title, cpu_target, device == "cpu", headers), complete=False)


def _bytes(tensor: torch.Tensor) -> bytes:
    return tensor.detach().cpu().contiguous().numpy().tobytes()


def _markers_in(program: Any, constants: Sequence[NDArray]) -> list[int] | None:
    """Numbers of the constants whose markers a program uses; ``None`` when it holds other floating-point ones."""
    by_bytes = {marker(k, x).tobytes(): k for k, x in enumerate(constants)}
    signature = program.graph_signature
    names = {**signature.inputs_to_buffers, **signature.inputs_to_lifted_tensor_constants}
    unused = {names[n.name] for n in program.graph.find_nodes(op="placeholder") if n.name in names and not n.users}
    found = []
    for name, tensor in (*program.constants.items(), *program.state_dict.items()):
        if isinstance(tensor, torch.Tensor) and tensor.is_floating_point():
            number = by_bytes.get(_bytes(tensor))
            if number is None:
                return None
            if name not in unused:
                found.append(number)
    return sorted(set(found))


def _compiled(program: Any, title: str, cpu_target: str, on_cpu: bool, headers: Path | None) -> bytes:
    import torch._inductor
    from torch._inductor.runtime.cache_dir_utils import cache_dir

    logging.getLogger("torch._inductor").setLevel(logging.ERROR)
    logging.getLogger("torch.export").setLevel(logging.ERROR)
    folder = Path(tempfile.mkdtemp(prefix="matlaw-inductor-"))
    try:
        raw, package = folder / "graph.pt2", folder / "clean.pt2"
        with warnings.catch_warnings(), instruction_sets(cpu_target):
            warnings.simplefilter("ignore")
            options = options_for(cpu_target) | {"aot_inductor.package_cpp_only": on_cpu}
            torch._inductor.aoti_compile_and_package(program, package_path=str(raw), inductor_configs=options)
        secret = (folder, Path(cache_dir()))
        if on_cpu:
            package_of(*build_library(raw, headers), package, secret)
        else:
            sanitize(raw, package, secret)
        return package.read_bytes()
    except Exception as e:
        first = str(e).strip().splitlines()[:3]
        raise CompileError(f"{title}: Inductor refused it: {' '.join(first)}") from e
    finally:
        shutil.rmtree(folder, ignore_errors=True)
