"""Compile a model to an artifact: plan, lower, check, write."""

from __future__ import annotations

import json
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from matlaw.artifact.cpu import runs_here
from matlaw.artifact.fingerprint import fingerprint
from matlaw.artifact.folder import building, write_file
from matlaw.artifact.metadata import is_sealed, metadata, sealed, solver_entry
from matlaw.artifact.plan import Plan, Planner, output_files
from matlaw.artifact.request import Request
from matlaw.artifact.stub import render_stub
from matlaw.errors import CompileError
from matlaw.trace.graphs import Graph

#: Called as each file lands: its number, the number of files, its path relative to the output directory.
Progress = Callable[[int, int, str], None]


@dataclass
class FileReport:
    """One compiled file.

    :ivar path: relative to the output directory
    :ivar bytes: its size
    :ivar statements: per row, of a native kernel; 0 else
    """

    path: str
    bytes: int
    statements: int = 0


@dataclass
class CompileReport:
    """What a compile did.

    :ivar artifact: the artifact folder
    :ivar stub: the stub, or ``None``
    :ivar up_to_date: True when the artifact on disk was this build already and nothing was compiled
    :ivar files: what was compiled, in order
    :ivar left_to_inductor: graphs without a native kernel, and the operation that has none
    :ivar verification: worst errors of the self-check by graph
    :ivar unchecked_targets: CPU targets whose code this machine does not run, so that nothing compared it with eager
    """

    artifact: Path
    stub: Path | None
    up_to_date: bool = False
    files: list[FileReport] = field(default_factory=list)
    left_to_inductor: dict[str, str] = field(default_factory=dict)
    verification: dict[str, Any] = field(default_factory=dict)
    unchecked_targets: list[str] = field(default_factory=list)


def compile_model(
    path: str | Path,
    name: str,
    output_dir: str | Path = "aoti",
    derivatives: Sequence[str] = (),
    parameters: Sequence[str] = (),
    backend: str = "both",
    *,
    device: str = "cpu",
    dtype: str = "float64",
    cpu_target: str | Sequence[str] = "x86-64-v3",
    overrides: Sequence[str] = (),
    extensions: Sequence[str] = (),
    rename_inputs: Sequence[str] = (),
    rename_outputs: Sequence[str] = (),
    rename_parameters: Sequence[str] = (),
    stub: bool = True,
    jobs: int = 1,
    force: bool = False,
    progress: Progress | None = None,
) -> CompileReport:
    """Compile a model of an input file.

    Nothing appears in ``output_dir`` before all graphs agree with eager; then the artifact takes its place in one step.

    :param path: the input file
    :param name: the model in it
    :param output_dir: where ``<name>/`` and ``<name>_aoti.i`` are written
    :param derivatives: ``OUT:IN`` or ``OUT:PARAM`` requests; an omitted side stands for all outputs or all inputs
    :param parameters: qualified names of parameters that stay changeable
    :param backend: ``both``, ``inductor`` or ``native``
    :param device: ``cpu``
    :param dtype: ``float64`` or ``float32``
    :param cpu_target: one or more of ``x86-64-v2``, ``x86-64-v3``, ``x86-64-v4`` and ``native``; whoever loads the
        artifact takes the best that the machine runs
    :param overrides: assignments such as ``Models/elasticity/E:=1``
    :param extensions: Python files or modules with further types
    :param rename_inputs: ``OLD=NEW``: callers of the artifact see the new name; every other argument uses the old one
    :param rename_outputs: likewise
    :param rename_parameters: likewise, of promoted parameters
    :param stub: also write the stub
    :param jobs: processes that compile ``.pt2`` graphs
    :param force: compile although the artifact on disk is this build already
    :param progress: called as each file lands
    :raises FatalError: the input file, a name, or the model is wrong; or a compiled graph disagrees with eager
    """
    request = Request(
        Path(path), name, tuple(derivatives), tuple(parameters), backend, device, dtype,
        cpu_target if isinstance(cpu_target, str) else tuple(cpu_target), tuple(overrides),
        tuple(str(e) for e in extensions), tuple(rename_inputs), tuple(rename_outputs), tuple(rename_parameters),
    )  # fmt: skip
    output = Path(output_dir)
    planner = Planner(request)
    digest = fingerprint(request, planner.source.render(), torch.__version__)
    place = output / name
    stub_path = output / f"{name}_aoti.i" if stub else None
    if not force and _is_current(place, digest):
        if stub_path is not None and not stub_path.is_file():
            write_file(stub_path, render_stub(planner.source.render(), name, request.path.name))
        return CompileReport(place, stub_path, up_to_date=True)
    _require_target_of_this_machine(request.cpu_targets)
    plan = planner.plan()
    solver_entry(plan)
    stub_text = render_stub(planner.source.render(), name, request.path.name)
    report = CompileReport(place, stub_path)
    report.left_to_inductor = {
        graph.stem: plan.unsupported[graph.forward].operation
        for graph in plan.graphs
        if graph.forward is not None and graph.forward in plan.unsupported
    }
    report.unchecked_targets = [target for target in request.cpu_targets if not runs_here(target)]
    counter = _Counter(name, len(output_files(plan, stub)), progress)
    with building(place) as folder:
        _lower(plan, folder, report, jobs, counter)
        _verify(plan, folder, report)
        entries = metadata(plan, folder, digest, report.verification)
        (folder / "metadata.json").write_text(sealed(entries), encoding="utf-8")
    counter.landed(f"{name}/metadata.json")
    if stub_path is not None:
        write_file(stub_path, stub_text)
        counter.landed(stub_path.name)
    return report


def _is_current(place: Path, digest: str) -> bool:
    """True when the artifact on disk is complete and has this fingerprint."""
    try:
        text = (place / "metadata.json").read_text(encoding="utf-8")
        entries = json.loads(text)
        files = entries["files"]
        if entries.get("fingerprint") != digest or not is_sealed(text):
            return False
        return all((place / file).stat().st_size == record["bytes"] for file, record in files.items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _build_native(source: str, library: str, cpu_target: str, statements: int) -> None:
    from matlaw.lower.native.compiler import build

    build(source, Path(library), cpu_target, statements)


def _build_inductor(exported: str, package: str, title: str, cpu_target: str) -> None:
    from matlaw.lower.inductor import compile_exported

    compile_exported(Path(exported).read_bytes(), Path(package), title, cpu_target)


class _Counter:
    """Numbers files as they land, from any thread."""

    def __init__(self, name: str, total: int, progress: Progress | None) -> None:
        self.name = name
        self.total = total
        self.progress = progress
        self.count = 0
        self.lock = threading.Lock()

    def landed(self, file: str) -> None:
        """One more file is there."""
        with self.lock:
            self.count += 1
            if self.progress:
                self.progress(self.count, self.total, file)

    def watch(self, future: Future[None], file: str) -> Future[None]:
        """Count the file when a task ends well."""
        future.add_done_callback(lambda f: None if f.cancelled() or f.exception() else self.landed(file))
        return future


def _lower(plan: Plan, folder: Path, report: CompileReport, jobs: int, counter: _Counter) -> None:
    """Compile every graph; kernels in threads (the compiler is a process of its own), ``.pt2`` files in processes."""
    request = plan.request
    (folder / request.folder).mkdir(parents=True)
    pending: list[tuple[str, int, Future[None]]] = []
    with tempfile.TemporaryDirectory(prefix="matlaw-export-") as exports, ThreadPoolExecutor(2) as threads:
        processes = _pool(jobs) if jobs > 1 and any(plan.is_inductor(graph) for graph in plan.graphs) else None
        try:
            for graph in plan.graphs:
                if plan.is_native(graph):
                    pending += _start_native(plan, graph, folder, threads, counter)
            for graph in plan.graphs:
                if plan.is_inductor(graph):
                    pending += _start_inductor(plan, graph, folder, Path(exports), processes, counter)
            for file, statements, future in pending:
                future.result()
                size = (folder / file).stat().st_size
                report.files.append(FileReport(f"{request.name}/{file}", size, statements))
        finally:
            if processes is not None:
                processes.shutdown(cancel_futures=True)
    order = {f"{request.name}/{file}": k for k, file in enumerate(plan.files())}
    report.files.sort(key=lambda f: order[f.path])


def _start_native(
    plan: Plan, graph: Graph, folder: Path, threads: Executor, counter: _Counter
) -> list[tuple[str, int, Future[None]]]:
    from matlaw.lower.native import emit, find_compiler, native_program

    find_compiler()
    request = plan.request
    assert graph.forward is not None
    program = native_program(graph, plan.programs[graph.forward])
    source = emit(program, f"{request.name}: {graph.stem}", request.dtype == "float32")
    count = program.statement_count
    started = []
    for target in request.cpu_targets:
        file = request.native_file(graph.stem, target)
        future = threads.submit(_build_native, source, str(folder / file), target, count)
        started.append((file, count, counter.watch(future, f"{request.name}/{file}")))
    return started


def _start_inductor(
    plan: Plan, graph: Graph, folder: Path, exports: Path, processes: Executor | None, counter: _Counter
) -> list[tuple[str, int, Future[None]]]:
    from matlaw.lower.inductor import export_graph

    request = plan.request
    exported = exports / f"{graph.stem}.exported"
    exported.write_bytes(export_graph(graph, request.name, getattr(torch, request.dtype)))
    started: list[tuple[str, int, Future[None]]] = []
    for target in request.cpu_targets:
        file = request.inductor_file(graph.stem, target)
        task = (str(exported), str(folder / file), f"model '{request.name}', graph {graph.stem}", target)
        if processes is not None:
            future = counter.watch(processes.submit(_build_inductor, *task), f"{request.name}/{file}")
        else:
            future = counter.watch(Future(), f"{request.name}/{file}")
            _build_inductor(*task)
            future.set_result(None)
        started.append((file, 0, future))
    return started


def _pool(workers: int) -> ProcessPoolExecutor:
    import multiprocessing

    return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))


def _verify(plan: Plan, folder: Path, report: CompileReport) -> None:
    """Compare every compiled graph with eager, on every CPU target that this machine runs."""
    from matlaw.artifact.selfcheck import check_graph

    request = plan.request
    parameters = {name: value.data[..., 0].numpy().astype(np.float64) for name, value in plan.parameters.items()}
    for graph in plan.graphs:
        files = [(backend, folder / file) for file, backend, target in plan.files_of(graph) if runs_here(target)]
        if files:
            report.verification[graph.stem] = check_graph(graph, files, parameters, request.dtype == "float32")
    if not report.files:
        raise CompileError(f"model '{request.name}': there is nothing to compile")


def _require_target_of_this_machine(targets: Sequence[str]) -> None:
    if not any(runs_here(target) for target in targets):
        raise CompileError(
            f"--cpu-target {' '.join(targets)}: this machine's CPU runs none of these, so the artifact cannot be "
            "checked against eager. Add a target that it runs, for instance native."
        )
