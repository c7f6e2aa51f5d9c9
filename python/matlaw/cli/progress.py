"""How ``matlaw-compile`` shows how far it is: bars on a terminal, one line per file elsewhere."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any

from matlaw.artifact.listener import Listener


class Lines(Listener):
    """One line per file as it lands."""

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, t: TracebackType | None) -> None:
        pass

    def landed(self, number: int, total: int, file: str, seconds: float, cached: bool) -> None:
        """Print the line."""
        print(f"[{number}/{total}] {file}{_note(seconds, cached)}", flush=True)


class Bars(Lines):
    """A bar for every file that is being compiled, one for the whole; files that have landed stand above them."""

    def __init__(self, console: Any = None) -> None:
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        self._bars = Progress(
            SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=24), TimeElapsedColumn(),
            console=console, transient=True,
        )  # fmt: skip
        self._whole = self._bars.add_task("compile", total=None)
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> Bars:
        self._bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, t: TracebackType | None) -> None:
        self._bars.stop()

    def planned(self, files: list[str]) -> None:
        """The bar of the whole gets its length."""
        self._bars.update(self._whole, total=len(files), description=f"0/{len(files)} files")

    def started(self, file: str) -> None:
        """The file gets a bar."""
        self._tasks[file] = self._bars.add_task(file, total=None)

    def landed(self, number: int, total: int, file: str, seconds: float, cached: bool) -> None:
        """The file's bar becomes a line."""
        task = self._tasks.pop(file, None)
        if task is not None:
            self._bars.remove_task(task)
        self._bars.update(self._whole, completed=number, description=f"{number}/{total} files")
        self._bars.console.print(
            f"[{number}/{total}] {file}{_note(seconds, cached)}", markup=False, highlight=False, soft_wrap=True
        )


def listener() -> Lines:
    """What fits standard output."""
    return Bars() if sys.stdout.isatty() else Lines()


def _note(seconds: float, cached: bool) -> str:
    return "  (cached)" if cached else f"  {seconds:.1f} s" if seconds else ""
