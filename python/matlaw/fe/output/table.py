"""The postprocessors' history as CSV."""

from __future__ import annotations

from pathlib import Path

from matlaw.output_file import naming


class CsvWriter:
    """Writes ``time`` and the postprocessors in alphabetical order, one row per step, as MOOSE does.

    :param path: the file
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._names: list[str] = []

    def write(self, time: float, values: dict[str, float]) -> None:
        """Append a row; the first one starts the file anew."""
        if not self._names:
            self._names = sorted(values)
            with naming(self.path):
                self.path.write_text(",".join(["time", *self._names]) + "\n")
        row = [time, *(values[name] for name in self._names)]
        with naming(self.path), self.path.open("a") as stream:
            stream.write(",".join(f"{value:.14g}" for value in row) + "\n")
