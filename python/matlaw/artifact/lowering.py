"""Compile every graph of a plan, or take from the cache what was compiled before."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import torch

from matlaw.artifact.cache import Cache, key_of
from matlaw.artifact.cpu import cpu_features
from matlaw.artifact.listener import Counter
from matlaw.artifact.plan import Plan
from matlaw.output_file import naming
from matlaw.trace.graphs import Graph


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
    :param jobs: processes for ``.pt2`` files
    :param cache: where compiled files are kept
    :param counter: told as files land
    :raises CompileError: a compiler refused
    """
    (folder / plan.request.folder).mkdir(parents=True)
    return _Lowering(plan, folder, cache, counter).run(jobs)


def _build_native(source: str, library: str, cpu_target: str, statements: int) -> None:
    from matlaw.lower.native.compiler import build

    build(source, Path(library), cpu_target, statements)


def _build_inductor(exported: str, package: str, title: str, cpu_target: str) -> None:
    from matlaw.lower.inductor import compile_exported

    compile_exported(Path(exported).read_bytes(), Path(package), title, cpu_target)


class _Lowering:
    def __init__(self, plan: Plan, folder: Path, cache: Cache, counter: Counter) -> None:
        self.plan = plan
        self.request = plan.request
        self.folder = folder
        self.cache = cache
        self.counter = counter
        self.pending: list[tuple[FileReport, Future[None]]] = []

    def run(self, jobs: int) -> list[FileReport]:
        plan = self.plan
        with tempfile.TemporaryDirectory(prefix="matlaw-export-") as exports, ThreadPoolExecutor(2) as threads:
            processes = _pool(jobs) if jobs > 1 and any(plan.is_inductor(graph) for graph in plan.graphs) else None
            try:
                for graph in plan.graphs:
                    if plan.is_native(graph):
                        self._native(graph, threads)
                for graph in plan.graphs:
                    if plan.is_inductor(graph):
                        self._inductor(graph, Path(exports), processes)
                for report, future in self.pending:
                    future.result()
                    report.bytes = (self.folder / self._inside(report)).stat().st_size
            finally:
                if processes is not None:
                    processes.shutdown(cancel_futures=True)
        order = {f"{self.request.name}/{file}": k for k, file in enumerate(plan.files())}
        return sorted((report for report, _ in self.pending), key=lambda report: order[report.path])

    def _inside(self, report: FileReport) -> str:
        return report.path.removeprefix(f"{self.request.name}/")

    def _native(self, graph: Graph, threads: Executor) -> None:
        from matlaw.lower.native import emit, find_compiler, native_program
        from matlaw.lower.native.compiler import recipe
        from matlaw.lower.native.source import without_comments

        find_compiler()
        assert graph.forward is not None
        program = native_program(graph, self.plan.programs[graph.forward])
        source = emit(program, f"{self.request.name}: {graph.stem}", self.request.dtype == "float32")
        count = program.statement_count
        if self.request.keep_source:
            self._keep(f"{self.request.source_file(graph.stem)}", source)
        code = without_comments(source)
        for target in self.request.cpu_targets:
            file = self.request.native_file(graph.stem, target)
            key = key_of("native", recipe(target, count), _machine(target), code)

            def build(file: str = file, target: str = target) -> None:
                _build_native(source, str(self.folder / file), target, count)

            self._file(file, key, threads, build, count)

    def _keep(self, file: str, source: str) -> None:
        path = self.folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        with naming(path):
            path.write_text(source, encoding="utf-8")
        self.counter.landed(f"{self.request.name}/{file}")

    def _inductor(self, graph: Graph, exports: Path, processes: Executor | None) -> None:
        from matlaw.lower.inductor import export, options_for, record

        dtype = getattr(torch, self.request.dtype)
        recorded = record(graph, self.request.name, dtype)
        exported = exports / f"{graph.stem}.exported"
        title = f"model '{self.request.name}', graph {graph.stem}"
        for target in self.request.cpu_targets:
            file = self.request.inductor_file(graph.stem, target)
            key = key_of(
                "inductor",
                torch.__version__,
                options_for(target),
                _machine(target),
                recorded.digest,
                _code_of_inductor(),
            )
            if self._from_cache(file, key):
                continue
            if not exported.exists():
                payload = export(recorded, dtype)
                with naming(exported):
                    exported.write_bytes(payload)
            task = (str(exported), str(self.folder / file), title, target)
            if processes is None:
                self._file(file, key, None, lambda task=task: _build_inductor(*task))  # type: ignore[misc]
                continue
            self.counter.started(f"{self.request.name}/{file}")
            future = processes.submit(_build_inductor, *task)
            self._watch(future, FileReport(f"{self.request.name}/{file}", 0), key)

    def _from_cache(self, file: str, key: str, statements: int = 0) -> bool:
        """Take a file from the cache, if it is there."""
        payload = self.cache.get(key)
        if payload is None:
            return False
        path = self.folder / file
        with naming(path):
            path.write_bytes(payload)
        report = FileReport(f"{self.request.name}/{file}", 0, statements, cached=True)
        done: Future[None] = Future()
        done.set_result(None)
        self.pending.append((report, done))
        self.counter.landed(report.path, cached=True)
        return True

    def _file(
        self, file: str, key: str, threads: Executor | None, build: Callable[[], None], statements: int = 0
    ) -> None:
        """Compile a file here or in a thread, unless it is in the cache."""
        if self._from_cache(file, key, statements):
            return
        report = FileReport(f"{self.request.name}/{file}", 0, statements)

        def task() -> None:
            self.counter.started(report.path)
            build()

        if threads is not None:
            self._watch(threads.submit(task), report, key)
            return
        task()
        done: Future[None] = Future()
        done.set_result(None)
        self._watch(done, report, key)

    def _watch(self, future: Future[None], report: FileReport, key: str) -> None:
        """Count and keep the file when its task ends well."""

        def ended(f: Future[None]) -> None:
            if f.cancelled() or f.exception():
                return
            self.cache.put(key, (self.folder / self._inside(report)).read_bytes())
            report.seconds = self.counter.landed(report.path)

        self.pending.append((report, future))
        future.add_done_callback(ended)


def _machine(target: str) -> Sequence[str]:
    """What code for a target depends on besides its name."""
    return cpu_features() if target == "native" else ()


def _code_of_inductor() -> str:
    from matlaw.artifact.fingerprint import code_digest

    return code_digest(("lower/inductor",))


def _pool(workers: int) -> ProcessPoolExecutor:
    import multiprocessing

    return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))
