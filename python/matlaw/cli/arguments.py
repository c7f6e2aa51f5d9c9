"""What the command lines of several commands have in common."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence


def add_extensions(parser: argparse.ArgumentParser) -> None:
    """The option ``--load``."""
    parser.add_argument(
        "--load", action="append", nargs="+", default=[], metavar="EXT",
        help="a Python file, package or module with further types",
    )  # fmt: skip


def extensions_of(options: argparse.Namespace) -> list[str]:
    """The values of ``--load``."""
    return [extension for group in options.load for extension in group]


def add_overrides(parser: argparse.ArgumentParser) -> None:
    """The arguments that :func:`parse` takes as overrides."""
    # Without a default argparse calls them required.
    parser.add_argument(
        "overrides", nargs="*", default=[], metavar="override", help="for instance Models/elasticity/E:=1"
    )


def parse(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options; ``overrides`` holds every argument ``Section/block/option:=value``.

    An override may follow an option with several values, which would swallow it. Exits with 2 for a wrong command line.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    overrides = [a for a in given if ":=" in a and not a.startswith("-")]
    options = parser.parse_args([a for a in given if a not in overrides])
    if options.overrides:
        parser.error(f"'{options.overrides[0]}' is no override; expected Section/block/option:=value")
    options.overrides = overrides
    return options
