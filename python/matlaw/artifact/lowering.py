"""Compile every graph of a plan, or take from the cache what was compiled before."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from numpy.typing import NDArray

from matlaw.artifact.cache import Cache, key_of
from matlaw.artifact.cpu import cpu_features
from matlaw.artifact.listener import Counter
from matlaw.artifact.plan import Plan
from matlaw.artifact.request import Leaf, cuda_capability
from matlaw.artifact.workers import worker_pool
from matlaw.output_file import naming
from matlaw.trace.forward import Traced, trace
from matlaw.trace.graphs import Forward, Graph

if TYPE_CHECKING:
    from matlaw.lower.inductor import Lowerable, Template

T = TypeVar("T")


@dataclass
class FileReport:
    """One compiled file.

    :ivar path: relative to the output directory
    :ivar bytes: its size
    :ivar statements: per row, of a native kernel; 0 else
    :ivar seconds: that it took
    :ivar cached: True when it was compiled at another time
    """

    path: str
    bytes: int
    statements: int = 0
    seconds: float = 0.0
    cached: bool = False


def lower(plan: Plan, folder: Path, jobs: int, cache: Cache, counter: Counter) -> list[FileReport]:
    """Compile all files of a plan; kernels in threads (the compiler is a process of its own), ``.pt2`` in processes.

    :param plan: what to compile
    :param folder: the artifact folder
    :param jobs: how many files are compiled at once, over all devices, dtypes, targets and graphs
    :param cache: where compiled files are kept
    :param counter: told as files land
    :raises CompileError: a compiler refused
    """
    for leaf in plan.request.leaves:
        (folder / leaf.folder).mkdir(parents=True)
    return _Lowering(plan, folder, cache, counter).run(jobs)


def _build_native(source: str, library: str, cpu_target: str, statements: int) -> None:
    from matlaw.lower.native.compiler import build

    build(source, Path(library), cpu_target, statements)


def _build_inductor(
    exported: str, title: str, cpu_target: str, constants: Sequence[NDArray], device: str, headers: Path | None
) -> Template:
    from matlaw.lower.inductor import compile_exported

    return compile_exported(Path(exported).read_bytes(), title, cpu_target, constants, device, headers)


@dataclass(frozen=True)
class _Missing:
    """A ``.pt2`` file that the cache does not have.

    :ivar keys: for a package that serves all values of the constants, and for one that serves these
    """

    lowerable: Lowerable
    target: str
    path: str
    keys: tuple[str, str]


class _Lowering:
    def __init__(self, plan: Plan, folder: Path, cache: Cache, counter: Counter) -> None:
        self.plan = plan
        self.request = plan.request
        self.folder = folder
        self.cache = cache
        self.counter = counter
        self.pending: list[tuple[FileReport, Future[Any]]] = []
        self.traced: dict[tuple[str, Forward], Traced] = {}

    def run(self, jobs: int) -> list[FileReport]:
        plan = self.plan
        cells = [(leaf, graph) for leaf in self.request.leaves for graph in plan.graphs]
        with tempfile.TemporaryDirectory(prefix="matlaw-export-") as exports, ThreadPoolExecutor(jobs) as threads:
            packaged = [cell for cell in cells if plan.is_inductor(cell[1], cell[0])]
            missing = [file for cell in packaged for file in self._missing(*cell)]
            processes = worker_pool(jobs, self.request.extensions) if jobs > 1 and missing else None
            try:
                for leaf, graph in cells:
                    if plan.is_native(graph, leaf):
                        self._native(leaf, graph, threads)
                if processes is None:  # one at a time
                    self._finish()
                self._inductor(missing, Path(exports), processes)
                self._finish()
            finally:
                if processes is not None:
                    processes.shutdown(cancel_futures=True)
        order = {f"{self.request.name}/{file}": k for k, file in enumerate(plan.files())}
        return sorted((report for report, _ in self.pending), key=lambda report: order[report.path])

    def _finish(self) -> None:
        """Wait for all files."""
        for report, future in self.pending:
            future.result()
            report.bytes = (self.folder / self._inside(report)).stat().st_size

    def _inside(self, report: FileReport) -> str:
        return report.path.removeprefix(f"{self.request.name}/")

    def _native(self, leaf: Leaf, graph: Graph, threads: Executor) -> None:
        from matlaw.lower.native import emit, emit_solver, find_compiler, native_program
        from matlaw.lower.native.compiler import recipe
        from matlaw.lower.native.source import without_comments

        find_compiler()
        assert graph.forward is not None
        program = native_program(graph, self.plan.programs[graph.forward])
        title = f"{self.request.name}: {graph.stem}"
        source = emit(program, title, leaf.float32, in_place=self.plan.runs_in_place(graph))
        count = program.statement_count
        if graph.kind == "newton_step":
            source += emit_solver(program, len(graph.columns))
        if self.request.keep_source:
            self._keep(self.request.source_file(leaf, graph.stem), source)
        code = without_comments(source)
        for target in self.request.targets_of(leaf):
            file = self.request.native_file(leaf, graph.stem, target)
            key = key_of("native", recipe(target, count), _machine(target), code)
            payload = self.cache.get(key)
            if payload is not None:
                self._cached(file, payload, count)
                continue
            report = FileReport(f"{self.request.name}/{file}", 0, count)

            def compiled(report: FileReport = report, file: str = file, target: str = target) -> None:
                self.counter.started(report.path)
                _build_native(source, str(self.folder / file), target, count)

            def arrived(_: None, key: str = key, file: str = file) -> None:
                self.cache.put(key, (self.folder / file).read_bytes())

            self._watch(threads.submit(compiled), report, arrived)

    def _keep(self, file: str, source: str) -> None:
        path = self.folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        with naming(path):
            path.write_text(source, encoding="utf-8")
        self.counter.landed(f"{self.request.name}/{file}")

    def _missing(self, leaf: Leaf, graph: Graph) -> list[_Missing]:
        """The ``.pt2`` files of a graph that are to be compiled; the others are taken from the cache."""
        from matlaw.lower.inductor import Lowerable, Template, options_for

        title = f"model '{self.request.name}', graph {graph.stem}"
        lowerable = Lowerable(graph, self._traced(leaf, graph.forward), title, leaf.device, leaf.dtype)
        missing = []
        for target in self.request.targets_of(leaf):
            file = self.request.inductor_file(leaf, graph.stem, target)
            recipe = [
                torch.__version__,
                options_for(target),
                _machine(target),
                _code_of_inductor(),
                lowerable.structure,
            ]
            if leaf.device == "cuda":
                recipe.append(cuda_capability())
            # Most packages serve all values of the constants; one that does not is kept under its values, too.
            keys = key_of("inductor", *recipe), key_of("inductor", *recipe, lowerable.values)
            payload = self.cache.get(keys[0]) or self.cache.get(keys[1])
            if payload is not None:
                self._cached(file, Template.from_bytes(payload).filled(lowerable.constants))
            else:
                missing.append(_Missing(lowerable, target, file, keys))
        return missing

    def _inductor(self, missing: Sequence[_Missing], exports: Path, processes: Executor | None) -> None:
        """Compile ``.pt2`` files, the largest first; one export serves all targets of a graph."""
        from matlaw.lower.inductor import WORTHWHILE, export, marker

        for file in sorted(missing, key=lambda file: -file.lowerable.extent):
            lowerable = file.lowerable
            constants = lowerable.constants
            exported = exports / f"{lowerable.device}.{lowerable.dtype}.{lowerable.graph.stem}"
            if not exported.exists():
                data = export(lowerable, [marker(k, x) for k, x in enumerate(constants)])
                with naming(exported):
                    exported.write_bytes(data)
            report = self._started(file.path)
            alike = [f for f in missing if (f.lowerable.device, f.target) == (lowerable.device, file.target)]
            headers = exports / "headers" if len(alike) >= WORTHWHILE else None
            about = str(exported), lowerable.title, file.target, constants, lowerable.device, headers
            task = partial(_build_inductor, *about)
            future: Future[Template] = _now(task) if processes is None else processes.submit(task)

            def arrived(template: Template, report: FileReport = report, file: _Missing = file) -> None:
                self.cache.put(file.keys[0 if template.complete else 1], template.to_bytes())
                self._write(report, template.filled(file.lowerable.constants))

            self._watch(future, report, arrived)

    def _traced(self, leaf: Leaf, forward: Forward | None) -> Traced | None:
        """The recorded function that a graph derives from."""
        if forward is None:
            return None
        if forward in self.plan.programs and not leaf.float32:
            return self.plan.programs[forward].traced
        key = (leaf.dtype, forward)
        if key not in self.traced:
            dtype = getattr(torch, leaf.dtype)
            self.traced[key] = trace(forward.function, forward.inputs, forward.outputs, forward.name, dtype)
        return self.traced[key]

    def _started(self, file: str, statements: int = 0) -> FileReport:
        report = FileReport(f"{self.request.name}/{file}", 0, statements)
        self.counter.started(report.path)
        return report

    def _cached(self, file: str, payload: bytes, statements: int = 0) -> None:
        """Write a file that was compiled at another time."""
        report = FileReport(f"{self.request.name}/{file}", 0, statements, cached=True)
        self._write(report, payload)
        self.pending.append((report, _now(lambda: None)))
        self.counter.landed(report.path, cached=True)

    def _write(self, report: FileReport, payload: bytes) -> None:
        path = self.folder / self._inside(report)
        with naming(path):
            path.write_bytes(payload)

    def _watch(self, future: Future[T], report: FileReport, arrived: Callable[[T], None]) -> None:
        """Keep and count a file when its task has ended well."""

        def ended(f: Future[T]) -> T:
            result = f.result()
            arrived(result)
            report.seconds = self.counter.landed(report.path)
            return result

        self.pending.append((report, _chained(future, ended)))


def _now(task: Callable[[], T]) -> Future[T]:
    """The outcome of a task that runs here and now."""
    future: Future[T] = Future()
    try:
        future.set_result(task())
    except Exception as e:
        future.set_exception(e)
    return future


def _chained(future: Future[T], then: Callable[[Future[T]], T]) -> Future[T]:
    """The outcome of what is done when another future is there."""
    chained: Future[T] = Future()

    def go_on(f: Future[T]) -> None:
        if f.cancelled():
            chained.cancel()
            return
        try:
            chained.set_result(then(f))
        except BaseException as e:
            chained.set_exception(e)

    future.add_done_callback(go_on)
    return chained


def _machine(target: str) -> Sequence[str]:
    """What code for a target depends on besides its name."""
    return cpu_features() if target == "native" else ()


def _code_of_inductor() -> str:
    from matlaw.artifact.fingerprint import code_digest

    return code_digest(("tensors", "trace", "lower/inductor"))
