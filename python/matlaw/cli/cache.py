"""``matlaw-cache``: show and prune what ``matlaw-compile`` keeps of earlier compiles."""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

_UNITS: Final = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}
_DAY: Final = 86400.0


def size(text: str) -> int:
    """A number of bytes.

    :raises argparse.ArgumentTypeError: not a size

    >>> size("1.5K"), size("2G"), size("10")
    (1536, 2147483648, 10)
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMG]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if not match:
        raise argparse.ArgumentTypeError(f"'{text}' is not a size; give for instance 500M or 2G")
    return int(float(match[1]) * _UNITS[match[2].upper()])


def days(text: str) -> float:
    """A number of days that is not negative.

    :raises argparse.ArgumentTypeError: something else
    """
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of days")
    return number


def parser() -> argparse.ArgumentParser:
    """The options."""
    p = argparse.ArgumentParser(
        prog="matlaw-cache",
        description="Show or prune the cache of compiled graphs: $MATLAW_CACHE_DIR, else $XDG_CACHE_HOME/matlaw, else "
        "~/.cache/matlaw. Artifacts do not need it; a compile without it only takes longer.",
    )
    p.add_argument("--dir", type=Path, default=None, metavar="DIR", help="another cache folder")
    commands = p.add_subparsers(dest="command", required=True)
    commands.add_parser("show", help="what is in it")
    prune = commands.add_parser("prune", help="remove entries, those unused for longest first")
    prune.add_argument("--max-size", type=size, default=None, metavar="SIZE", help="keep at most this (default: 2G)")
    prune.add_argument("--older-than", type=days, default=None, metavar="DAYS", help="remove what is unused for longer")
    prune.add_argument("--all", action="store_true", help="remove everything")
    return p


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    from matlaw.artifact.cache import DEFAULT_LIMIT, Cache

    options = parser().parse_args(arguments)
    cache = Cache(options.dir)
    if options.command == "prune":
        limit = 0 if options.all else DEFAULT_LIMIT if options.max_size is None else options.max_size
        removed = cache.prune(limit, None if options.older_than is None else options.older_than * _DAY)
        print(f"removed {len(removed)} entries, {_megabytes(sum(e.bytes for e in removed))}")
    entries = cache.entries()
    print(f"{cache.folder}: {len(entries)} entries, {_megabytes(sum(e.bytes for e in entries))}")
    for kind in sorted({e.kind for e in entries}):
        of_kind = [e for e in entries if e.kind == kind]
        unused = (time.time() - of_kind[0].used) / _DAY
        print(
            f"  {kind:<10} {len(of_kind):6} entries  {_megabytes(sum(e.bytes for e in of_kind)):>12}"
            f"  the oldest unused for {max(unused, 0.0):.1f} days"
        )
    return 0


def _megabytes(count: int) -> str:
    return f"{count / 1024**2:.1f} MiB"


if __name__ == "__main__":
    sys.exit(main())
