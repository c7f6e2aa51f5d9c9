"""The programs that run an input of a `tests` file: matlaw-fe, the application of moose_app, MOOSE with a UMAT."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import moose
import pytest
from places import ROOT
from spec_laws import law_overrides, plugins
from specs import Spec

from matlaw.cli.fe import main
from matlaw.fe.input.tree import Block, read_input

APP = ROOT / "moose_app" / "matlaw-opt"
#: how matlaw-fe says that it lacks something
LACKING = "MOOSE has"


@dataclass
class Outcome:
    """A run: its exit code, what it printed, and the folder of its files."""

    code: int
    text: str
    folder: Path


class Host(Protocol):
    """Runs inputs."""

    @property
    def name(self) -> str:
        """For reports."""

    @property
    def ranks(self) -> int:
        """MPI processes."""

    def present(self) -> bool:
        """It is installed."""

    def runs(self, root: Block) -> bool:
        """It is for this kind of input."""

    def run(self, spec: Spec, folder: Path) -> Outcome:
        """Run an entry in a folder that holds a copy of its inputs."""


def _is_umat(root: Block) -> bool:
    materials = root.blocks.get("Materials")
    entries = materials.blocks.values() if materials is not None else ()
    return any(entry.text("type") == "AbaqusUMATStress" for entry in entries)


def _has_lagrangian_kernels() -> bool:
    return any(Path(os.environ.get("MOOSE_DIR", "/none")).glob("modules/*_mechanics/src/kernels/lagrangian"))


def _wants_lagrangian_kernels(root: Block) -> bool:
    blocks = [root]
    while blocks:
        block = blocks.pop()
        if block.text("new_system") == "true":
            return True
        blocks += block.blocks.values()
    return False


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _inputs(spec: Spec, folder: Path) -> list[Path]:
    return [folder / path.relative_to(spec.folder) for path in spec.inputs]


class MatlawFe:
    """matlaw-fe, in this process."""

    name = "matlaw-fe"
    ranks = 1

    def present(self) -> bool:
        """Always."""
        return True

    def runs(self, root: Block) -> bool:
        """Inputs with materials from [Matlaw]."""
        return not _is_umat(root)

    def run(self, spec: Spec, folder: Path) -> Outcome:
        """Run an entry."""
        laws = law_overrides(read_input(list(spec.inputs)), spec.folder, spec.arguments)
        arguments = [argument for argument in spec.arguments if not argument.startswith("--n-threads")]
        inputs = [str(path) for path in _inputs(spec, folder)]
        text = io.StringIO()
        with _inside(folder), contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
            code = main([*inputs, *laws, *arguments, "--no-png"])
        return Outcome(code, text.getvalue(), folder)


@dataclass(frozen=True)
class MooseApp:
    """The application of moose_app, where it is built.

    :ivar ranks: MPI processes
    :ivar options: arguments besides those of an entry
    """

    name: str = "moose-app"
    ranks: int = 1
    options: tuple[str, ...] = ()

    def present(self) -> bool:
        """``MOOSE_DIR`` is set, the application is built, and more than one rank can be started."""
        started = self.ranks == 1 or shutil.which("mpiexec") is not None
        return bool(os.environ.get("MOOSE_DIR")) and APP.exists() and started

    def runs(self, root: Block) -> bool:
        """Not inputs with a UMAT, which are for the installed MOOSE, nor those that this MOOSE is too old for."""
        return not _is_umat(root) and (_has_lagrangian_kernels() or not _wants_lagrangian_kernels(root))

    def run(self, spec: Spec, folder: Path) -> Outcome:
        """Run an entry."""
        laws = law_overrides(read_input(list(spec.inputs)), spec.folder, spec.arguments)
        launcher = ["mpiexec", "-n", str(self.ranks)] if self.ranks > 1 else []
        return _moose([*launcher, str(APP)], spec, folder, [*laws, *self.options])


class MooseUmat:
    """MOOSE as it is installed, with laws as UMAT plugins."""

    name = "moose-umat"
    ranks = 1

    def present(self) -> bool:
        """There is one; see moose.py."""
        return moose.PROGRAM.exists()

    def runs(self, root: Block) -> bool:
        """Inputs with a UMAT, and those without any law."""
        return _is_umat(root) or "Matlaw" not in root.blocks

    def run(self, spec: Spec, folder: Path) -> Outcome:
        """Run an entry."""
        assignments = [argument for argument in spec.arguments if "=" in argument and not argument.startswith("-")]
        plugins(read_input(list(spec.inputs), assignments), folder)
        return _moose([str(moose.PROGRAM)], spec, folder, [])


def _moose(program: list[str], spec: Spec, folder: Path, more: list[str]) -> Outcome:
    inputs = [path.name for path in _inputs(spec, folder)]
    done = subprocess.run(
        [*program, "-i", *inputs, *more, *spec.arguments, "--color", "off"],
        capture_output=True,
        text=True,
        cwd=folder,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    return Outcome(done.returncode, done.stdout + done.stderr, folder)


HOSTS: list[Host] = [
    MatlawFe(),
    MooseApp(),
    MooseApp("moose-app-two-threads", options=("--n-threads=2",)),
    MooseApp("moose-app-two-ranks", ranks=2),
    MooseUmat(),
]


@dataclass
class Runs:
    """Runs each entry once with each host, what it waits for first, and keeps the outcomes.

    :param root: a folder for all runs
    """

    root: Path
    specs: dict[tuple[Path, str], Spec]
    _done: dict[tuple[str, Path, str], Outcome] = field(default_factory=dict)

    def outcome(self, host: Host, spec: Spec) -> Outcome:
        """How an entry went.

        Skips the test where the host lacks something that the input needs, and says what.
        """
        key = (host.name, spec.folder, spec.name)
        if key not in self._done:
            for name in spec.prereq:
                before = self.specs[spec.folder, name]
                outcome = self.outcome(host, before)
                assert (outcome.code == 0) == (before.kind != "RunException"), f"{before.label}: {outcome.text}"
            folder = self.root / host.name / spec.folder.name
            if not folder.exists():
                shutil.copytree(spec.folder, folder, ignore=shutil.ignore_patterns("gold", "tests"))
            self._done[key] = host.run(spec, folder)
        outcome = self._done[key]
        if outcome.code != 0 and LACKING in outcome.text and spec.kind != "RunException":
            pytest.skip(f"{host.name} lacks something: {outcome.text.strip().splitlines()[-1]}")
        return outcome
