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
#: parameters that say nothing about how a run goes or what it gives
_IGNORED = (
    *("requirement", "design", "issues", "detail", "collections", "classification", "recover", "max_time", "heavy"),
    *("min_parallel", "min_threads", "max_threads", "capabilities", "valgrind", "mesh_mode"),
)
_KNOWN = (
    *("type", "input", "cli_args", "csvdiff", "exodiff", "rel_err", "abs_zero", "expect_err", "expect_out"),
    *("override_columns", "override_rel_err", "override_abs_zero", "absent_out", "prereq", "check_files"),
    *("skip", "deleted", "max_parallel"),
)


@dataclass(frozen=True)
class Spec:
    """One entry of a `tests` file.

    :ivar name: with the groups around it, `group/name`
    :ivar inputs: the input files, which make up one input together
    :ivar prereq: names of entries of the same file that have to run before, in the same folder
    :ivar overrides: columns with tolerances of their own, rel_err and abs_zero
    :ivar max_parallel: MPI processes at most, 0 for any number
    :ivar skip: why the entry is not to run, or nothing
    """

    folder: Path
    name: str
    kind: str
    inputs: tuple[Path, ...]
    arguments: tuple[str, ...]
    gold: tuple[str, ...]
    rel_err: float
    abs_zero: float
    expect_err: str
    expect_out: str
    absent_out: str
    check_files: tuple[str, ...]
    overrides: tuple[tuple[str, float, float], ...]
    prereq: tuple[str, ...]
    max_parallel: int
    skip: str

    @property
    def label(self) -> str:
        """A name for reports."""
        return f"{self.folder.name}/{self.name}"


def read_spec(block: Block, folder: Path, group: str = "") -> Spec:
    """An entry of [Tests]; AssertionError for a type or a parameter that the harness does not have."""
    kind = block.text("type")
    assert kind in TYPES, f"{block.location}: type = '{kind}'; the harness has {', '.join(TYPES)}"
    unknown = [name for name in block.fields if name not in _KNOWN + _IGNORED]
    assert not unknown, f"{block.location}: the harness does not know {', '.join(unknown)}"
    gold = tuple((block.text("csvdiff") or block.text("exodiff")).split())
    assert gold or kind not in ("CSVDiff", "Exodiff"), f"{block.location}: nothing to compare"
    prereq = [name if "/" in name else f"{group}{name}" for name in block.text("prereq").split()]
    return Spec(
        folder=folder,
        name=f"{group}{block.name}",
        kind=kind,
        inputs=tuple(folder / name for name in block.text("input").split()),
        arguments=tuple(shlex.split(block.text("cli_args"))),
        gold=gold,
        rel_err=float(block.text("rel_err", "5.5e-6")),
        abs_zero=float(block.text("abs_zero", "1e-10")),
        expect_err=block.text("expect_err"),
        expect_out=block.text("expect_out"),
        absent_out=block.text("absent_out"),
        check_files=tuple(block.text("check_files").split()),
        overrides=tuple(
            (name, float(rel_err), float(abs_zero))
            for name, rel_err, abs_zero in zip(
                *(block.text(f"override_{what}").split() for what in ("columns", "rel_err", "abs_zero")), strict=True
            )
        ),
        prereq=tuple(prereq),
        max_parallel=int(block.text("max_parallel", "0")),
        skip=block.text("skip") or block.text("deleted"),
    )


def _entries(block: Block, folder: Path, group: str = "") -> list[Spec]:
    """The entries of a block, those of its groups (blocks without type) among them."""
    specs = []
    for below in block.blocks.values():
        if "type" in below.fields or not below.blocks:
            specs.append(read_spec(below, folder, group))
        else:
            specs += _entries(below, folder, f"{group}{below.name}/")
    return specs


def discover(root: Path) -> list[Spec]:
    """All entries of all `tests` files below a folder.

    AssertionError when an entry waits for one that does not exist, or for itself.
    """
    specs = []
    for path in sorted(root.rglob("tests")):
        if path.is_file():
            own = _entries(read_input(path).blocks["Tests"], path.parent)
            _check_order({spec.name: spec for spec in own}, path)
            specs += own
    return specs


def _check_order(specs: dict[str, Spec], path: Path) -> None:
    def visit(name: str, above: tuple[str, ...]) -> None:
        assert name in specs, f"{path}: '{above[-1]}' waits for '{name}', which does not exist"
        assert name not in above, f"{path}: {' -> '.join([*above, name])}: entries wait for each other"
        for other in specs[name].prereq:
            visit(other, (*above, name))

    for name in specs:
        visit(name, ())


def _close(a: np.ndarray, b: np.ndarray, rel_err: float, abs_zero: float) -> np.ndarray:
    """CSVDiff's rule: both below abs_zero, or a relative difference below rel_err."""
    size = np.maximum(np.abs(a), np.abs(b))
    return (size <= abs_zero) | (np.abs(a - b) <= rel_err * size)


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
    own = {name: tolerances for name, *tolerances in spec.overrides}
    for name, expected in theirs.items():
        if len(ours[name]) != len(expected):
            return [f"{len(ours[name])} rows instead of {len(expected)}"]
        tolerances = own.get(name, (spec.rel_err, spec.abs_zero))
        for row in np.flatnonzero(~_close(ours[name], expected, *tolerances)):
            errors.append(f"{name}, row {row}: {ours[name][row]:.14g} instead of {expected[row]:.14g}")
    return errors


def _names(file: netCDF4.Dataset, variable: str) -> list[str]:
    if variable not in file.variables:
        return []
    rows = np.ma.filled(file[variable][:], b"\0")
    return [b"".join(row.tolist()).split(b"\0")[0].decode().strip() for row in rows]


def _fields(path: Path) -> dict[str, np.ndarray]:
    """Times, coordinates and variables of an Exodus file by name, nodes and elements in an order by their place."""
    with netCDF4.Dataset(str(path)) as file:
        axes = [axis for axis in "xyz" if f"coord{axis}" in file.variables]
        points = np.column_stack([np.asarray(file[f"coord{axis}"][:], float) for axis in axes])
        nodes = _by_place(points)
        fields = {f"coord{axis}": points[nodes, column] for column, axis in enumerate(axes)}
        fields["time"] = file["time_whole"][:]
        for index, name in enumerate(_names(file, "name_nod_var"), start=1):
            fields[f"node {name}"] = file[f"vals_nod_var{index}"][:][:, nodes]
        for block in range(1, len(file.dimensions["num_el_blk"]) + 1):
            corners = points[np.asarray(file[f"connect{block}"][:]) - 1]
            elements = _by_place(corners.mean(axis=1))
            fields[f"centres, block {block}"] = corners.mean(axis=1)[elements]
            for index, name in enumerate(_names(file, "name_elem_var"), start=1):
                if f"vals_elem_var{index}eb{block}" in file.variables:
                    values = file[f"vals_elem_var{index}eb{block}"][:]
                    fields[f"element {name}, block {block}"] = values[:, elements]
        for index, name in enumerate(_names(file, "name_glo_var")):
            fields[f"global {name}"] = file["vals_glo_var"][:, index]
        return {name: np.asarray(values, float) for name, values in fields.items()}


def _by_place(points: np.ndarray) -> np.ndarray:
    """An order of points that is the same for the same points in any order."""
    return np.lexsort(np.round(points, 9).T)


def compare_exodus(result: Path, gold: Path, spec: Spec) -> list[str]:
    """Differences of mesh, times and variables, in words; the order of variables is none."""
    ours, theirs = _fields(result), _fields(gold)
    if set(ours) != set(theirs):
        return [f"the files hold different things: {sorted(set(ours) ^ set(theirs))}"]
    errors = []
    for name, expected in theirs.items():
        if ours[name].shape != expected.shape:
            errors.append(f"{name}: shape {ours[name].shape} instead of {expected.shape}")
        elif not np.all(_close(ours[name], expected, spec.rel_err, spec.abs_zero)):
            errors.append(f"{name}: values differ by up to {np.abs(ours[name] - expected).max():g}")
    return errors


def matches(pattern: str, text: str) -> bool:
    """True when an expected message is in the output (as a regular expression, over lines)."""
    return re.search(pattern, text, re.DOTALL) is not None
