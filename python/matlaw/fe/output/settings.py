"""The ``[Outputs]`` block."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from matlaw.fe.input.moose import also_type
from matlaw.fe.input.parameters import Parameter, Values
from matlaw.fe.input.registry import check_fields
from matlaw.fe.input.tree import Block
from matlaw.input.suggestion import closest

_TOP = {
    "exodus": Parameter("bool", False),
    "csv": Parameter("bool", False),
    "console": Parameter("bool", True),
    "checkpoint": Parameter("bool", False),
    "file_base": Parameter("string"),
    "perf_graph": Parameter("bool", False, ignored=True),
    "print_linear_residuals": Parameter("bool", True, ignored=True),
    "print_linear_converged_reason": Parameter("bool", True, ignored=True),
    "print_nonlinear_converged_reason": Parameter("bool", True, ignored=True),
    "color": Parameter("bool", True, ignored=True),
}
_ENTRY = {
    "Exodus": {"file_base": Parameter("string"), "execute_on": Parameter("strings", ignored=True)},
    "Checkpoint": {
        "file_base": Parameter("string"),
        "num_files": Parameter("int", 2, check=(lambda value: value > 0, "positive")),
        "time_step_interval": Parameter("int", 1, check=(lambda value: value > 0, "positive")),
        "execute_on": Parameter("strings", ignored=True),
    },
    "CSV": {"file_base": Parameter("string"), "execute_on": Parameter("strings", ignored=True)},
    "Console": {
        "outlier_variable_norms": Parameter("bool", ignored=True),
        "max_rows": Parameter("int", ignored=True),
        "fit_mode": Parameter("string", ignored=True),
        "execute_on": Parameter("strings", ignored=True),
        "all_variable_norms": Parameter("bool", ignored=True),
    },
}


@dataclass
class OutputSettings:
    """Which files to write.

    :ivar exodus: paths without suffix, ``csv`` alike
    :ivar checkpoints: for each the path without suffix, how many files to keep, and the steps between them
    :ivar base: the path that other files of the run are named after
    """

    base: Path
    exodus: list[Path] = field(default_factory=list)
    csv: list[Path] = field(default_factory=list)
    checkpoints: list[tuple[Path, int, int]] = field(default_factory=list)
    console: bool = True


def read_outputs(block: Block | None, shared: Block | None, source: Path, folder: Path) -> OutputSettings:
    """Read ``[Outputs]``.

    :param source: the input file, whose name the files take, as ``<input>_out``
    :param folder: where the files go
    """
    default = folder / f"{source.stem}_out"
    if block is None:
        return OutputSettings(default)
    check_fields(block, _TOP, "[Outputs]")
    values = Values(block, _TOP, shared)
    base = folder / values["file_base"] if values["file_base"] else default
    settings = OutputSettings(base, console=values["console"])
    if values["exodus"]:
        settings.exodus.append(base)
    if values["csv"]:
        settings.csv.append(base)
    if values["checkpoint"]:
        settings.checkpoints.append((base, 2, 1))
    for name, below in block.blocks.items():
        kind = below.text("type")
        if kind not in _ENTRY:
            raise below.error(
                f"type = '{kind}' is not available{also_type('Outputs', kind)}; available: {', '.join(_ENTRY)}"
                f"{closest(kind, _ENTRY)}"
            )
        check_fields(below, _ENTRY[kind], kind)
        entry = Values(below, _ENTRY[kind])
        own = folder / entry["file_base"] if entry.get("file_base") else folder / f"{source.stem}_{name}"
        if kind == "Exodus":
            settings.exodus.append(own)
        elif kind == "CSV":
            settings.csv.append(own)
        elif kind == "Checkpoint":
            settings.checkpoints.append((own, entry["num_files"], entry["time_step_interval"]))
    return settings
