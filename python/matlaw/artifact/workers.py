"""Processes that compile ``.pt2`` files."""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import forkserver


def worker_pool(workers: int, extensions: Sequence[str]) -> ProcessPoolExecutor:
    """Processes that compile ``.pt2`` files. They know a user's extensions, whose operations graphs may hold.

    All are forked from one process that imports the compiler once, and begins to do so now.

    :param workers: number of processes
    :param extensions: Python files or modules with further types
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["matlaw.lower.inductor.preload"])
    forkserver.ensure_running()
    return ProcessPoolExecutor(workers, context, _begin_worker, (tuple(extensions),))


def _begin_worker(extensions: tuple[str, ...]) -> None:
    from matlaw.input.extensions import load_extensions

    if extensions:
        load_extensions(extensions)
