"""``matlaw-syntax``: what an input file may hold."""

from __future__ import annotations

import argparse
import difflib
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matlaw.cli.arguments import add_extensions, extensions_of
from matlaw.cli.command import command

Record = dict[str, Any]

_HEADINGS = {
    "INPUT": "input variables",
    "OUTPUT": "output variables",
    "PARAMETER": "parameters",
    "NONE": "options",
}


def parser() -> argparse.ArgumentParser:
    """The options."""
    p = argparse.ArgumentParser(
        prog="matlaw-syntax", description="List the types of input files, search them, or describe one in full."
    )
    p.add_argument(
        "words", nargs="*", metavar="word", help="list the types that have to do with these words, best first"
    )
    p.add_argument(
        "--limit", type=int, default=20, metavar="N", help="list at most N types that have to do with the words (20)"
    )
    p.add_argument("--section", metavar="S", help="only types of this section: Models, Solvers, Drivers ...")
    p.add_argument("--type", metavar="T", help="describe this type in full: equation, variables, parameters, options")
    p.add_argument(
        "--json", nargs="?", const="-", metavar="FILE", help="write JSON to a file, or to the standard output (-)"
    )
    add_extensions(p)
    return p


@command("matlaw-syntax", "nothing is written")
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 0 when something was found, 2 for an unknown name."""
    options = parser().parse_args(arguments)
    try:
        records = _chosen(options)
        if options.json is not None:
            _write_json(records, options.json)
        elif options.type is not None:
            print("\n\n".join(describe(r) for r in records))
        elif options.words:
            _list(records[: max(options.limit, 1)])
            if len(records) > max(options.limit, 1):
                print(f"{len(records) - max(options.limit, 1)} more that match no better: --limit N shows N of them")
        else:
            _list(records)
    except BrokenPipeError:
        sys.stderr.close()  # the reader has seen enough
    return 0


def _chosen(options: argparse.Namespace) -> list[Record]:
    """The records that the command line asks for.

    :raises FatalError: when a section or a type is not known, or no type has to do with the words
    """
    from matlaw.errors import FatalError
    from matlaw.input import SECTIONS, load_extensions
    from matlaw.input.records import type_records
    from matlaw.input.suggestion import unknown_name

    load_extensions(extensions_of(options))
    if options.section is not None and options.section not in SECTIONS:
        raise FatalError(unknown_name("section", options.section, SECTIONS))
    records = type_records([options.section] if options.section else SECTIONS)
    if options.type is not None:
        found = [r for r in records if r["type"] == options.type]
        if not found:
            close = search(records, [options.type])[:5]
            hint = f"; did you mean {', '.join(r['type'] for r in close)}?" if close else ""
            raise FatalError(f"there is no type '{options.type}'{hint}")
        records = found
    if options.words:
        records = search(records, options.words)
        if not records:
            raise FatalError(f"no type has to do with {' '.join(options.words)}; without words, all are listed")
    return records


def search(records: Sequence[Record], words: Sequence[str]) -> list[Record]:
    """The records that have to do with any of the words, those with most of them first.

    A word may be part of a type's name (best), of an option's name, or of the documentation, or be misspelt.
    """
    ranked = []
    for i, record in enumerate(records):
        scores = [score for word in words if (score := _score(record, word.lower()))]
        if scores:
            ranked.append((-len(scores), -sum(scores), i, record))
    return [record for *_, record in sorted(ranked, key=lambda r: r[:3])]


def _score(record: Record, word: str) -> float:
    name = record["type"].lower()
    if word == name:
        return 10.0
    if word in name or word in name.replace("_", ""):
        return 5.0 + len(word) / len(name)
    if any(word in o["name"].lower() for o in record["options"]):
        return 3.0
    if word in record["doc"].lower():
        return 2.0
    parts = [p.lower() for p in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", record["type"])]
    near = max((difflib.SequenceMatcher(None, word, p).ratio() for p in [*parts, name]), default=0.0)
    return near if near >= 0.8 else 0.0


def _summary(doc: str) -> str:
    first = doc.split("\n\n")[0].replace("\n", " ").strip()
    return re.sub(r":[a-z]+:`~?([^`]*)`", r"\1", first)


def _list(records: Sequence[Record]) -> None:
    if not records:
        print("no types")
    width = max((len(r["type"]) for r in records), default=0)
    section = None
    for record in records:
        if record["section"] != section:
            section = record["section"]
            print(f"[{section}]")
        print(f"  {record['type']:<{width}}  {_summary(record['doc'])}")


def describe(record: Record) -> str:
    """A type in full."""
    from matlaw.models.declaration import declarations
    from matlaw.models.registry import registered

    lines = [f"{record['type']}  [{record['section']}]  {record['group']}", ""]
    lines += [f"  {line}".rstrip() for line in record["doc"].splitlines()]
    needed = {d.option for d in declarations(registered(record["section"])[record["type"]]) if d.must_be_given}
    for role, heading in _HEADINGS.items():
        options = [o for o in record["options"] if o["role"] == role]
        if not options:
            continue
        lines += ["", f"{heading}:"]
        name, kind = (max(len(o[key]) for o in options) for key in ("name", "kind"))
        for o in options:
            default = o["default"] or (o["name"] if o["required"] and o["name"] not in needed else "")
            need = "required" if o["name"] in needed else f"default '{default}'" if default else "optional"
            lines.append(f"  {o['name']:<{name}}  {o['kind']:<{kind}}  {need}: {o['doc']}".rstrip(": "))
    return "\n".join(lines)


def _write_json(records: Sequence[Record], place: str) -> None:
    from matlaw.errors import FatalError

    text = json.dumps(records, indent=1)
    if place == "-":
        print(text)
        return
    try:
        Path(place).write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise FatalError(f"{place}: cannot be written: {error}") from error


if __name__ == "__main__":
    sys.exit(main())
