"""``matlaw-umat``: a law as a UMAT plugin for MOOSE, Abaqus and their like."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from matlaw.cli.command import command

if TYPE_CHECKING:
    from matlaw.umat import Plugin


def parser() -> argparse.ArgumentParser:
    """The options."""
    p = argparse.ArgumentParser(
        prog="matlaw-umat",
        description="Write a law as a UMAT plugin: OUTPUT-opt.plugin (MOOSE), OUTPUT.so (other hosts), their settings "
        "OUTPUT.umat.i, and the law in the folder OUTPUT. Needs no compiler.",
        epilog="exit code: 0 ok, 2 wrong input",
    )
    p.add_argument("input", type=Path, help="stub, artifact folder, metadata.json, or an input file (run by Python)")
    p.add_argument("--model", default="", metavar="NAME", help="the model in it")
    p.add_argument("-o", "--output", type=Path, required=True, help="folder and name of the plugin")
    p.add_argument(
        "--host", default="moose", choices=("moose", "abaqus"),
        help="moose: DDSDDE by rows, an exception cuts the step (default); abaqus: DDSDDE by columns, PNEWDT",
    )  # fmt: skip
    p.add_argument("--link", action="store_true", help="refer to the law where it is instead of copying it")
    p.add_argument(
        "--set", action="append", nargs="+", default=[], metavar="NAME=WHAT", dest="overrides",
        help="what a variable of the law is to the host, for instance x='predef 2'; the settings list the words",
    )  # fmt: skip
    p.add_argument(
        "--initial", action="append", nargs="+", default=[], metavar="NAME=VALUES",
        help="initial value of a state variable, for instance orientation='0.1 0 0.2' (default: that of the law)",
    )  # fmt: skip
    p.add_argument("-q", "--quiet", action="store_true", help="print errors only")
    return p


@command("matlaw-umat", "the plugin may be incomplete")
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    p = parser()
    options = p.parse_args(arguments)
    overrides, initial = _assignments(p, "--set", options.overrides), {}
    for name, text in _assignments(p, "--initial", options.initial).items():
        try:
            initial[name] = [float(word) for word in text.split()]
        except ValueError:
            p.error(f"--initial {name}={text}: expected numbers")
    from matlaw.umat import write_plugin

    try:
        plugin = write_plugin(
            options.input, options.model, options.output,
            host=options.host, link=options.link, overrides=overrides, initial=initial,
        )  # fmt: skip
    except OSError as error:
        print(f"matlaw-umat: error: {error}", file=sys.stderr)
        return 2
    if not options.quiet:
        print("\n".join(summary(plugin)))
    return 0


def _assignments(p: argparse.ArgumentParser, option: str, groups: list[list[str]]) -> dict[str, str]:
    """The values of an option that takes ``NAME=TEXT``."""
    found = {}
    for text in (text for group in groups for text in group):
        name, equals, what = text.partition("=")
        if not equals:
            p.error(f"{option} {text}: expected NAME=...")
        found[name] = what
    return found


def summary(plugin: Plugin) -> list[str]:
    """What was written, for people: files, STATEV, PROPS."""
    mapping = plugin.mapping
    lines = [
        f"{plugin.library}, {plugin.shared.name}: the plugin",
        f"{plugin.settings}: its settings; look there for what each variable is",
        f"{plugin.law}: the law",
        "",
        f"NSTATV {mapping.n_statev} in 3-D, plane strain, axial symmetry; {mapping.n_statev_free(3)} in plane stress",
        *(f"  STATEV {entries:<8} {name:<30} {order}".rstrip() for entries, name, _, order in mapping.table()),
    ]
    if mapping.parameters:
        lines += ["", *(f"  {source.upper():<15} {name}" for name, source in mapping.parameters.items())]
    return lines


if __name__ == "__main__":
    sys.exit(main())
