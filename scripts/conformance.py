"""Writes docs/conformance.md: every type of the catalogue, whether it loads here, and which test shows it.

``python scripts/conformance.py`` writes the page; ``--check`` writes nothing and fails when the page is out of date.
Both fail when a registered type differs from the catalogue; with ``--complete`` also when a type is missing.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
CATALOGUE = ROOT / "tests" / "data" / "material_catalog.json"
PAGE = ROOT / "docs" / "conformance.md"
#: Tests that evaluate types, below tests/python, those that say most about a type first.
PLACES = (
    "models/test_hand_derived_values.py",
    "models/test_leaf_values.py",
    "models/test_*.py",
    "drivers/test_*.py",
    "runtime/test_*.py",
    "eager/test_*.py",
)
#: Test modules and the cases that they read.
RECORDED = {"tests/python/models/test_values_of_another_program.py": "tests/data/models_of_neml2_3.1.0.json"}

Record = dict[str, Any]

#: What is tested, of which models, and by which modules below tests/python.
COVERAGE: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "value against hand-derived cases",
        "models of solid mechanics, of reactions, fracture and porous flow, and what they share",
        (
            "models/test_hand_derived_values.py",
            "models/test_leaf_values.py",
            "models/test_rotations.py",
            "models/test_crystal_geometry.py",
        ),
    ),
    (
        "value against another program",
        "every model but those that compose or solve",
        ("models/test_values_of_another_program.py",),
    ),
    (
        "derivatives by inputs and parameters against finite differences",
        "every model whose rows do not depend on each other",
        ("models/test_derivatives.py",),
    ),
    (
        "batch shapes: one row without an axis, rows, several axes",
        "one model of every family",
        ("models/test_compiled_families.py",),
    ),
    ("sub-batch axes", "every model", ("models/test_every_leaf.py",)),
    (
        "parameters as numbers, variables and other models",
        "every model with Scalar parameters",
        ("models/test_every_leaf.py",),
    ),
    (
        "values and derivatives compiled against eager",
        "one model of every family, and all with sub-batch axes",
        ("models/test_compiled_families.py", "runtime/test_laws_hold.py"),
    ),
    (
        "whole laws over a history",
        "every file of `examples/models`",
        ("drivers/test_example_histories.py", "models/test_example_laws.py", "models/test_crystal_laws.py"),
    ),
)

_HEAD = """# Conformance

Every type that input files may name, as the public tool `neml2-syntax` of neml2 3.1.0 lists it
(`tests/data/material_catalog.json`), and its state here. A type that *loads* has the same options with the same roles,
kinds, requirements and defaults. It *works* where a test shows what it does: the test is one that evaluates the type by
name or compares it with recorded values; the example is an input file that uses it.

Besides, models are in the tests of this table, and so is every new one: these tests find the models by themselves.

@COVERAGE@

A family is a module of `matlaw.models`.

Written by `python scripts/conformance.py`; do not edit.
"""


@dataclass(frozen=True)
class Evidence:
    """Files that name types.

    :ivar tests: test modules by path relative to the repository, with their text
    :ivar inputs: input files likewise
    :ivar recorded: recorded cases, by the path of the test module that compares with them
    """

    tests: dict[str, str]
    inputs: dict[str, str]
    recorded: dict[str, str]

    @classmethod
    def collect(cls) -> Evidence:
        """Reads all test modules, and the input files of tests and examples."""
        folder = ROOT / "tests" / "python"
        tests = list(dict.fromkeys(path for place in PLACES for path in sorted(folder.glob(place))))
        inputs = [*sorted((ROOT / "examples").rglob("*.i")), *sorted((ROOT / "tests").rglob("*.i"))]
        recorded = {test: (ROOT / data).read_text(encoding="utf-8") for test, data in RECORDED.items()}
        named = ({str(p.relative_to(ROOT)): p.read_text(encoding="utf-8") for p in ps} for ps in (tests, inputs))
        return cls(*named, recorded)

    def test_of(self, record: Record) -> str:
        """The first test module that names the type, or that makes its name from a tensor type and the rest."""
        rest = re.sub(r"^(Scalar|Vec|SSR4|SR2|WR2|R2|MRP|Quaternion|MillerIndex)(?=[A-Z])", "", record["type"])
        pattern = rf"\b{record['type']}\b" + (rf"|\}}{rest}\b" if rest != record["type"] else "")
        if record["section"] == "Tensors":  # names that are words as well
            pattern = rf"(type = |\"){record['type']}\b"
        by_name = next((path for path, text in self.tests.items() if re.search(pattern, text)), "")
        return by_name or next((path for path, text in self.recorded.items() if re.search(pattern, text)), "")

    def example_of(self, record: Record) -> str:
        """The first input file that has a block of the type."""
        pattern = rf"type\s*=\s*['\"]?{record['type']}\b"
        return next((path for path, text in self.inputs.items() if re.search(pattern, text)), "")


def differences(expected: Record, found: Record) -> list[str]:
    """How a registered type differs from the catalogue."""
    name = f"[{expected['section']}] {expected['type']}"
    wanted, given = ({o["name"]: o for o in r["options"]} for r in (expected, found))
    lines = [f"{name}: option '{o}' is missing" for o in wanted if o not in given]
    lines += [f"{name}: option '{o}' is not in the catalogue" for o in given if o not in wanted]
    for option in wanted.keys() & given.keys():
        for key, value in wanted[option].items():
            if given[option][key] != value:
                lines.append(f"{name}: {key} of option '{option}' is {given[option][key]!r}, not {value!r}")
    return sorted(lines)


def page(catalogue: Sequence[Record], registered: dict[tuple[str, str], Record], evidence: Evidence) -> str:
    """The text of the page."""
    there = [r for r in catalogue if (r["section"], r["type"]) in registered]
    works = sum(bool(evidence.test_of(r)) for r in there)
    rows = [
        f"| {what} | {of} | {', '.join(f'`tests/python/{test}`' for test in tests)} |" for what, of, tests in COVERAGE
    ]
    table = "\n".join(["| what is tested | of | tests |", "| --- | --- | --- |", *rows])
    parts = [_HEAD.replace("@COVERAGE@", table), f"{len(there)} of {len(catalogue)} types load, {works} work.\n"]
    for group in sorted({r["group"] for r in catalogue}):
        members = sorted((r for r in catalogue if r["group"] == group), key=lambda r: r["type"])
        parts.append(f"## {group}\n\n| type | state | test | example |\n| --- | --- | --- | --- |")
        for record in members:
            loads = record in there
            test, example = (evidence.test_of(record), evidence.example_of(record)) if loads else ("", "")
            state = "works" if test else "loads" if loads else "not there yet"
            cells = [f"`{record['type']}`", state, _code(test), _code(example)]
            parts.append("| " + " | ".join(cells) + " |")
        parts.append("")
    known = {(r["section"], r["type"]) for r in catalogue}
    own = sorted(key for key in registered if key not in known)
    if own:
        parts.append("## Types of this program alone\n")
        parts += [f"* `{name}` in [{section}]" for section, name in own]
        parts.append("")
    return "\n".join(parts)


def _code(path: str) -> str:
    return f"`{path}`" if path else ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check the page; returns the exit code."""
    parser = argparse.ArgumentParser(description="Compare the registered types with the catalogue.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail when the page is out of date")
    parser.add_argument("--complete", action="store_true", help="fail when a type of the catalogue is missing")
    options = parser.parse_args(arguments)
    from matlaw.input.records import type_records

    catalogue: list[Record] = json.loads(CATALOGUE.read_text(encoding="utf-8"))
    registered = {(r["section"], r["type"]): r for r in type_records()}
    problems = [
        line
        for record in catalogue
        if (record["section"], record["type"]) in registered
        for line in differences(record, registered[record["section"], record["type"]])
    ]
    missing = [r["type"] for r in catalogue if (r["section"], r["type"]) not in registered]
    if options.complete and missing:
        problems.append(f"{len(missing)} types are not there: {', '.join(missing)}")
    text = page(catalogue, registered, Evidence.collect())
    if not options.check:
        PAGE.write_text(text, encoding="utf-8")
        print(f"wrote {PAGE.relative_to(ROOT)}: {len(catalogue) - len(missing)} of {len(catalogue)} types load")
    elif not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != text:
        problems.append(f"{PAGE.relative_to(ROOT)} is out of date; run python scripts/conformance.py and commit it")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
