"""``matlaw-replay``: steps through a failing call that was written to a file."""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matlaw.cli.arguments import add_extensions, extensions_of
from matlaw.cli.command import command

if TYPE_CHECKING:
    from matlaw.replay import ReplayFile, SegmentTrace


def parser() -> argparse.ArgumentParser:
    """The options."""
    p = argparse.ArgumentParser(
        prog="matlaw-replay",
        description="Run a failing call again, eagerly, and show what every Newton iteration did. matlaw writes the "
        "file into the folder that the environment variable MATLAW_FAILURE_DIR names.",
        epilog="exit code: 0 the rows converge now, 1 a row does not converge, 2 wrong input",
    )
    p.add_argument("file", type=Path, help="the replay file")
    p.add_argument("--row", type=int, metavar="N", help="the row to step through (default: the one with the worst end)")
    p.add_argument("--all", action="store_true", help="step through every row of the file")
    p.add_argument("--json", metavar="FILE", help="write the traces as data instead; - for the standard output")
    p.add_argument("--runtime", action="store_true", help="evaluate the compiled law too, where its artifact still is")
    add_extensions(p)
    return p


@command("matlaw-replay", "nothing is written")
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    options = parser().parse_args(arguments)
    os.environ.pop("MATLAW_FAILURE_DIR", None)  # a replay that fails, as it should, is not another failure
    return _run(options)


def _run(options: argparse.Namespace) -> int:
    from matlaw.evaluation import Status
    from matlaw.replay import read_replay_file, replayed_law, row_inputs, trace_row

    file = read_replay_file(options.file)
    if options.all:
        chosen = file.rows
    else:
        chosen = [file.row(options.row) if options.row is not None else file.worst]
    law = replayed_law(file, extensions_of(options))
    found = []
    for row in chosen:
        inputs = row_inputs(file, row, law)
        entry: dict[str, Any] = {"row": row, "trace": trace_row(law, inputs)}
        if options.runtime:
            from matlaw.replay.compiled import compiled_verdict

            entry["compiled"] = compiled_verdict(file, row)
        found.append(entry)
    if options.json is None:
        _show(file, found)
    else:
        _write(file, found, options.json)
    return 0 if all(entry["trace"].status == Status.CONVERGED for entry in found) else 1


def _write(file: ReplayFile, found: list[dict[str, Any]], place: str) -> None:
    from matlaw.errors import FatalError

    text = json.dumps(
        {
            "model": file.model,
            "message": file.message,
            "n_rows": file.n_rows,
            "n_failed": file.n_failed,
            "rows": [_record(entry) for entry in found],
        },
        indent=1,
    )
    if place == "-":
        print(text)
        return
    try:
        Path(place).write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise FatalError(f"{place}: cannot be written: {error.strerror or error}") from error


def _record(entry: dict[str, Any]) -> dict[str, Any]:
    row, trace = entry["row"], entry["trace"]
    record = {
        "row": row.row,
        "recorded": {"reason": row.reason, "text": row.text, "iterations": row.iterations},
        "inputs": {name: [_plain(v) for v in values] for name, values in row.inputs.items()},
        "status": trace.status.name,
        "reason": trace.reason,
        "text": trace.text,
        "segments": [
            [
                {
                    "norm": _plain(iteration.norm),
                    "residuals": {name: _plain(v) for name, v in iteration.residuals.items()},
                    "worst": iteration.worst,
                    "unknowns": {name: [_plain(v) for v in values] for name, values in iteration.unknowns.items()},
                    "condition": _plain(iteration.condition),
                    "step": iteration.step,
                }
                for iteration in segment.iterations
            ]
            for segment in trace.segments
        ],
    }
    if "compiled" in entry:
        record["compiled"] = entry["compiled"]
    return record


def _plain(value: float) -> float | str:
    """JSON has no NaN and no infinity: they are texts."""
    return value if math.isfinite(value) else str(value)


def _show(file: ReplayFile, found: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    where = f"compiled law in {file.artifact}" if file.artifact else "evaluated eagerly"
    console.print(Text(f"{file.model}  ({where}, {file.dtype}), {file.n_failed} of {file.n_rows} rows failed"))
    console.print(Text(file.message))
    overview = Table("row", "reason", "iterations", "last |r|", title="rows in the file", title_justify="left")
    for row in file.rows:
        last = f"{row.residuals[-1]:.3e}" if row.residuals else ""
        overview.add_row(str(row.row), Text(row.text), str(row.iterations), last)
    console.print(overview)
    for entry in found:
        row, trace = entry["row"], entry["trace"]
        inputs = Table("input", "value", title=f"row {row.row}", title_justify="left")
        for name, values in row.inputs.items():
            inputs.add_row(Text(name), _values(values))
        console.print(inputs)
        for i, segment in enumerate(trace.segments):
            if segment.iterations:
                _show_segment(console, i, segment, file)
        console.print(Text(f"eager: {trace.text}"))
        if "compiled" in entry:
            console.print(Text(f"compiled: {entry['compiled']['text']}"))


def _show_segment(console: Any, number: int, segment: SegmentTrace, file: ReplayFile) -> None:
    from rich.markup import escape
    from rich.table import Table
    from rich.text import Text

    names = list(segment.iterations[0].residuals)
    title = f"solve {number}: norm of each residual (the largest is marked)"
    table = Table("k", "|r|", *(escape(name) for name in names), "step", "cond(A)", title=title, title_justify="left")
    for k, iteration in enumerate(segment.iterations):
        cells = [Text(f"{'*' if name == iteration.worst else ''}{iteration.residuals[name]:.2e}") for name in names]
        step = "" if iteration.step is None else f"{iteration.step:.4g}"
        table.add_row(str(k), f"{iteration.norm:.3e}", *cells, step, f"{iteration.condition:.1e}")
    console.print(table)
    unknowns = list(segment.iterations[0].unknowns)
    values = Table("k", *(escape(name) for name in unknowns), title="unknowns", title_justify="left")
    for k, iteration in enumerate(segment.iterations):
        values.add_row(str(k), *(_values(iteration.unknowns[name]) for name in unknowns))
    console.print(values)


def _values(values: Sequence[float]) -> str:
    shown = " ".join(f"{v:.4g}" for v in values[:9])
    return shown if len(values) <= 9 else f"{shown} ... ({len(values)})"


if __name__ == "__main__":
    sys.exit(main())
