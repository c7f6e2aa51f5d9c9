"""The command ``matlaw-fe``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from matlaw.cli.command import command
from matlaw.version import __version__


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="matlaw-fe",
        description="Run a finite-element input file in MOOSE syntax, with material laws from its [Matlaw] block.",
        epilog="exit code: 0 ok, 1 a step failed at the smallest size, 2 wrong input",
    )
    parser.add_argument("input", type=Path, help="input file")
    parser.add_argument(
        "overrides",
        nargs="*",
        metavar="Block/name:=value",
        help="replaces what the file says, as Executioner/dt:=0.1; or a further input file that adds to the first",
    )
    parser.add_argument("-o", "--output-dir", type=Path, help="folder for the files (default: beside the input)")
    parser.add_argument("--no-png", action="store_true", help="do not draw the deformed mesh")
    parser.add_argument("-q", "--quiet", action="store_true", help="one line per step, no residual history")
    parser.add_argument(
        "--recover",
        nargs="?",
        const="",
        metavar="CHECKPOINT",
        help="go on from a checkpoint (Outputs/checkpoint:=true writes them): a file, a folder, or the last one",
    )
    parser.add_argument(
        *("--half-transient", "--test-checkpoint-half-transient"),
        action="store_true",
        help="stop in the middle, to go on with --recover",
    )
    parser.add_argument("--error-unused", action="store_true", help="as in MOOSE; what is not used is an error always")
    parser.add_argument("--version", action="version", version=f"matlaw-fe {__version__}")
    return parser


@command("matlaw-fe", "the files hold the steps that were accepted")
def main(arguments: Sequence[str] | None = None) -> int:
    """Run; 0 when the run reached its end, 1 when a step failed, 2 when the input or the command line is wrong.

    :param arguments: command line without the program's name
    """
    options = _parser().parse_intermixed_args(arguments)
    from matlaw.fe import run
    from matlaw.fe.executioner.time_steppers import SmallestStepFailedError

    further = [Path(argument) for argument in options.overrides if "=" not in argument]
    overrides = [argument for argument in options.overrides if "=" in argument]
    try:
        run(
            [options.input, *further],
            overrides,
            options.output_dir,
            picture=not options.no_png,
            quiet=options.quiet,
            half=options.half_transient,
            recover=options.recover,
        )
    except SmallestStepFailedError as error:
        print(f"matlaw-fe: error: {error}", file=sys.stderr)
        return 1
    except MemoryError as error:
        print(f"matlaw-fe: error: there is not enough memory for this mesh ({error})", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
