"""Running a real MOOSE: the one that ``scripts/install_moose_wheel.py`` installs, or another with solid mechanics."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from places import TESTS

PROGRAM = Path(os.environ.get("MATLAW_MOOSE") or Path(sys.prefix) / "moose" / "rabbit-opt")
needs_moose = pytest.mark.skipif(
    not PROGRAM.exists(),
    reason=f"there is no MOOSE at {PROGRAM}; scripts/install_moose_wheel.py installs one, MATLAW_MOOSE names another",
)
INPUTS = TESTS / "umat"


@dataclass
class Run:
    """What a run of MOOSE left.

    :ivar log: what it printed
    :ivar code: its exit code
    """

    log: str
    code: int
    results: Path

    @property
    def table(self) -> dict[str, np.ndarray]:
        """Columns of the postprocessors' CSV file, without the first row (nothing has happened yet)."""
        assert self.code == 0, self.log[-6000:]
        with self.results.open() as stream:
            header, *rows = csv.reader(stream)
        return {name: np.array([float(row[index]) for row in rows[1:]]) for index, name in enumerate(header)}

    @property
    def failed_steps(self) -> int:
        """Steps that MOOSE gave up and tried again with a smaller one."""
        return len(re.findall("Aborting as solve did not converge", self.log))


def run_moose(folder: Path, inputs: list[str | Path], *overrides: str, threads: int = 1) -> Run:
    """Run input files, taken together.

    :param folder: for the results
    :param inputs: names in :data:`INPUTS`, or paths
    :param overrides: ``Section/block/option=value``
    """
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [
            *(str(PROGRAM), "-i", *(str(INPUTS / name) for name in inputs), *overrides),
            *(f"Outputs/file_base={folder / 'out'}", "--color", "off", f"--n-threads={threads}"),
        ],
        capture_output=True,
        text=True,
        cwd=folder,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    return Run(done.stdout + done.stderr, done.returncode, folder / "out.csv")


def assert_same(ours: dict[str, np.ndarray], theirs: dict[str, np.ndarray], rtol: float, names: str = "") -> None:
    """The results of two runs, each relative to its largest value; ``iterations`` apart."""
    columns = names.split() or [name for name in ours if name != "iterations"]
    assert columns and set(ours) == set(theirs)
    for name in columns:
        assert len(ours[name]) == len(theirs[name]), name
        scale = np.abs(theirs[name]).max()
        np.testing.assert_allclose(ours[name], theirs[name], rtol=rtol, atol=rtol * scale, err_msg=name)
