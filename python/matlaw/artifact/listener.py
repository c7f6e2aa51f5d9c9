"""Who wants to know how far a compile is."""

from __future__ import annotations

import threading
import time

from matlaw import logs


class Listener:
    """Told as files are compiled; calls come from several threads, one at a time. This one ignores everything."""

    def planned(self, files: list[str]) -> None:
        """All files that will be written, relative to the output directory."""

    def started(self, file: str) -> None:
        """Work on a file starts."""

    def landed(self, number: int, total: int, file: str, seconds: float, cached: bool) -> None:
        """A file is there.

        :param number: of files that are there
        :param total: number of files
        :param file: relative to the output directory
        :param seconds: since work on it started
        :param cached: True when it was compiled at another time
        """


class Counter:
    """Numbers files as they land, from any thread.

    :param files: all that will be written
    :param listener: who is told
    """

    def __init__(self, files: list[str], listener: Listener) -> None:
        self._total = len(files)
        self._listener = listener
        self._count = 0
        self._since: dict[str, float] = {}
        self._lock = threading.Lock()
        listener.planned(files)

    def started(self, file: str) -> None:
        """Work on a file starts."""
        with self._lock:
            self._since[file] = time.perf_counter()
            self._listener.started(file)

    def landed(self, file: str, cached: bool = False) -> float:
        """One more file is there; the seconds since work on it started."""
        with self._lock:
            since = self._since.pop(file, None)
            seconds = 0.0 if since is None else time.perf_counter() - since
            self._count += 1
            self._listener.landed(self._count, self._total, file, seconds, cached)
            how = "from the cache" if cached else f"{seconds:.2f} s"
            logs.log("compile", "info", f"{self._count}/{self._total} {file}: {how}")
            return seconds
