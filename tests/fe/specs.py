"""MOOSE's `tests` files: reading them, and comparing a run with what they expect."""

from __future__ import annotations

import csv
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import netCDF4
import numpy as np

from matlaw.fe.input.tree import Block, read_input

TYPES = ("RunApp", "RunException", "CSVDiff", "Exodiff")


@dataclass(frozen=True)
class Spec:
    """One entry of a `tests` file."""

    folder: Path
    name: str
    kind: str
    input: Path
    arguments: tuple[str, ...]
    gold: tuple[str, ...]
    rel_err: float
    abs_zero: float
    expect_err: str
    expect_out: str

    @property
    def label(self) -> str:
        """A name for reports."""
        return f"{self.folder.name}/{self.name}"


def read_spec(block: Block, folder: Path) -> Spec:
    """An entry of [Tests]; AssertionError for a type that the harness does not have."""
    kind = block.text("type")
    assert kind in TYPES, f"{block.location}: type = '{kind}'; the harness has {', '.join(TYPES)}"
    gold = tuple((block.text("csvdiff") or block.text("exodiff")).split())
    assert gold or kind not in ("CSVDiff", "Exodiff"), f"{block.location}: nothing to compare"
    return Spec(
        folder=folder,
        name=block.name,
        kind=kind,
        input=folder / block.text("input"),
        arguments=tuple(shlex.split(block.text("cli_args"))),
        gold=gold,
        rel_err=float(block.text("rel_err", "5.5e-6")),
        abs_zero=float(block.text("abs_zero", "1e-10")),
        expect_err=block.text("expect_err"),
        expect_out=block.text("expect_out"),
    )


def discover(root: Path) -> list[Spec]:
    """All entries of all `tests` files below a folder."""
    specs = []
    for path in sorted(root.rglob("tests")):
        if path.is_file():
            block = read_input(path).blocks["Tests"]
            specs += [read_spec(below, path.parent) for below in block.blocks.values()]
    return specs


def laws_of(path: Path) -> dict[str, str]:
    """The file of each [Matlaw] entry of an input."""
    block = read_input(path).blocks.get("Matlaw")
    return {name: below.text("input") for name, below in block.blocks.items()} if block is not None else {}


def _close(a: np.ndarray, b: np.ndarray, spec: Spec) -> np.ndarray:
    """CSVDiff's rule: both below abs_zero, or a relative difference below rel_err."""
    size = np.maximum(np.abs(a), np.abs(b))
    return (size <= spec.abs_zero) | (np.abs(a - b) <= spec.rel_err * size)


def _columns(path: Path) -> dict[str, np.ndarray]:
    with path.open() as stream:
        header, *rows = csv.reader(stream)
    return {name: np.array([float(row[index]) for row in rows]) for index, name in enumerate(header)}


def compare_csv(result: Path, gold: Path, spec: Spec) -> list[str]:
    """Differences, in words."""
    ours, theirs = _columns(result), _columns(gold)
    if set(ours) != set(theirs):
        return [f"columns differ: {sorted(ours)} and {sorted(theirs)}"]
    errors = []
    for name, expected in theirs.items():
        if len(ours[name]) != len(expected):
            return [f"{len(ours[name])} rows instead of {len(expected)}"]
        for row in np.flatnonzero(~_close(ours[name], expected, spec)):
            errors.append(f"{name}, row {row}: {ours[name][row]:.14g} instead of {expected[row]:.14g}")
    return errors


def compare_exodus(result: Path, gold: Path, spec: Spec) -> list[str]:
    """Differences of times, nodal and element variables, in words."""
    errors = []
    with netCDF4.Dataset(str(result)) as ours, netCDF4.Dataset(str(gold)) as theirs:
        for name, variable in theirs.variables.items():
            if name != "time_whole" and not name.startswith(("vals_", "coord", "connect")):
                continue
            if name not in ours.variables or ours[name].shape != variable.shape:
                errors.append(f"{name}: missing or of another shape")
            elif not np.all(_close(np.asarray(ours[name][:], float), np.asarray(variable[:], float), spec)):
                errors.append(f"{name}: values differ")
    return errors


def matches(pattern: str, text: str) -> bool:
    """True when an expected message is in the output (as a regular expression, over lines)."""
    return re.search(pattern, text, re.DOTALL) is not None
