"""``matlaw-run``: runs a driver of an input file."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matlaw.cli.arguments import add_extensions, add_overrides, extensions_of, parse
from matlaw.cli.command import command

if TYPE_CHECKING:
    from matlaw.drivers import Outcome, Progress

#: Failures that are printed before the rest is only counted.
_SHOWN = 20


def parser() -> argparse.ArgumentParser:
    """The options."""
    p = argparse.ArgumentParser(
        prog="matlaw-run",
        description="Run a driver of an input file: step a law through a history, or check it against references.",
        epilog="exit code: 0 ok, 1 the law did not converge or a check failed, 2 wrong input",
    )
    p.add_argument("input", help="the input file (.i); its model may be a compiled one")
    p.add_argument(
        "driver", nargs="?", default="", help="the block of [Drivers] to run; may be left out for the only one"
    )
    add_overrides(p)
    p.add_argument("-o", "--output", metavar="FILE", type=Path, help="result file: .pt, .npz or .csv")
    p.add_argument(
        "--plot", nargs="*", metavar="X:Y",
        help="draw components over one another into a PNG file, for instance strain_xx:stress_xx; "
        "without any, each output over the input that varies most",
    )  # fmt: skip
    add_extensions(p)
    p.add_argument("--device", default="cpu", metavar="DEVICE", help="of a law that is not compiled (default: cpu)")
    p.add_argument(
        "--dtype", default="float64", choices=("float64", "float32"), help="of such a law (default: float64)"
    )
    p.add_argument("-q", "--quiet", action="store_true", help="print errors only")
    return p


@command("matlaw-run", "no result file is written")
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    options = parse(parser(), arguments)
    from matlaw.errors import ConvergenceError

    try:
        return _run(options)
    except ConvergenceError as error:
        print(f"matlaw-run: error: {error}", file=sys.stderr)
        return 1


def _run(options: argparse.Namespace) -> int:
    from matlaw.drivers import load_driver
    from matlaw.drivers.result_file import check_format, save

    if options.output is not None:
        check_format(options.output)
    started = time.perf_counter()
    driver, law = load_driver(
        options.input,
        options.driver,
        options.overrides,
        extensions_of(options),
        device=options.device,
        dtype=options.dtype,
    )
    if options.plot:
        from matlaw.drivers.plot import check_pairs

        check_pairs(options.plot, law)
    with _progress(options.quiet, driver.name) as progress:
        outcome = driver.run(law, progress)
    seconds = time.perf_counter() - started
    for warning in outcome.warnings:
        print(f"matlaw-run: warning: {warning}", file=sys.stderr)
    written = []
    path = options.output or outcome.save_as
    if outcome.history is not None and path is not None:
        save(outcome.history, path)
        written.append(str(path))
    elif options.output is not None:
        print(f"matlaw-run: warning: {driver.type_name} records nothing; {path} is not written", file=sys.stderr)
    if options.plot is not None:
        written.append(_plot(options, driver.name, outcome, path))
    if not options.quiet:
        _summarise(driver.name, law, outcome, seconds)
        for file in written:
            print(f"wrote {file}")
    return _verdict(driver.name, outcome, options.quiet)


def _plot(options: argparse.Namespace, driver: str, outcome: Outcome, path: Path | None) -> str:
    from matlaw.drivers.plot import plot
    from matlaw.errors import FatalError

    if outcome.history is None:
        raise FatalError("--plot: this driver records no history")
    picture = (path or Path(f"{Path(options.input).stem}_{driver}")).with_suffix(".png")
    plot(outcome.history, options.plot, picture, f"{Path(options.input).name}: {driver}")
    return str(picture)


def _summarise(name: str, law: Any, outcome: Outcome, seconds: float) -> None:
    kind = "compiled" if hasattr(law, "handle") else "eager"
    parts = [f"{name}: model '{law.name}' ({kind})"]
    if outcome.history is not None:
        parts.append(f"{outcome.history.steps - 1} steps")
    if any(outcome.iterations):
        parts.append(f"at most {max(outcome.iterations)} Newton iterations a step")
    print(", ".join([*parts, f"{seconds:.1f} s"]))


def _verdict(name: str, outcome: Outcome, quiet: bool) -> int:
    if outcome.failures:
        print(f"matlaw-run: error: {name}: {len(outcome.failures)} of {outcome.checks} values differ:", file=sys.stderr)
        for failure in outcome.failures[:_SHOWN]:
            print(f"  {failure}", file=sys.stderr)
        if len(outcome.failures) > _SHOWN:
            print(f"  ... and {len(outcome.failures) - _SHOWN} more", file=sys.stderr)
        return 1
    if outcome.checks and not quiet:
        print(f"{name}: all {outcome.checks} values agree")
    return 0


def _progress(quiet: bool, name: str) -> Any:
    """A context that gives what to call before each step: a bar on a terminal, lines elsewhere."""
    if quiet:
        return nullcontext(None)
    if sys.stdout.isatty():
        return _Bar(name)
    return nullcontext(_lines(name))


def _lines(name: str) -> Progress:
    def report(step: int, total: int, at: float) -> None:
        if step == total or step % max(total // 10, 1) == 0:
            print(f"{name}: step {step}/{total}, time {at:g}", flush=True)

    return report


class _Bar:
    """A progress bar."""

    def __init__(self, name: str) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        self._bar = Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
            TextColumn("time {task.fields[at]}"),
        )  # fmt: skip
        self._task = self._bar.add_task(name, total=None, at="")

    def __enter__(self) -> Progress:
        self._bar.start()
        return self._report

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def _report(self, step: int, total: int, at: float) -> None:
        self._bar.update(self._task, completed=step, total=total, at=f"{at:g}")


if __name__ == "__main__":
    sys.exit(main())
