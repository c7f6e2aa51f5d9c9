"""The packages that `make conda` built, installed into an environment of their own."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "scripts" / "conda"


@dataclass
class Environment:
    """A conda environment."""

    prefix: Path
    home: Path

    def run(self, *command: object, cwd: Path | None = None, **variables: str) -> str:
        """Run a command as in the activated environment and return what it says; it must succeed."""
        done = self.try_to_run(*command, cwd=cwd, **variables)
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        return done.stdout

    def try_to_run(
        self, *command: object, cwd: Path | None = None, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a command as in the activated environment. Nothing of the environment of the tests is left."""
        environment = {
            "PATH": f"{self.prefix}/bin:/usr/bin:/bin",
            "CONDA_PREFIX": str(self.prefix),
            "HOME": str(self.home),
            "MATLAW_CACHE_DIR": str(self.home / "cache"),
            "LANG": "C.UTF-8",
        }
        return subprocess.run(
            [str(part) for part in command], cwd=cwd or self.home, env=environment | variables,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip


@pytest.fixture(scope="session")
def version() -> str:
    """That of the sources; these tests need no matlaw beside the one that they are about."""
    return runpy.run_path(str(ROOT / "python" / "matlaw" / "version.py"))["__version__"]


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """A fresh environment with matlaw and matlaw-moose."""
    built = os.environ.get("MATLAW_CONDA")
    if not built:
        pytest.skip("`make conda` builds the packages and runs this")
    folder = tmp_path_factory.mktemp("conda")
    prefix = folder / "environment"
    packages = ("matlaw", "matlaw-moose", "cmake", "ninja")
    command = [sys.executable, SCRIPTS / "install.py", prefix, built, *packages]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    home = folder / "home"
    home.mkdir()
    return Environment(prefix, home)
