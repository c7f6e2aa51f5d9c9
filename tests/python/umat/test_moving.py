"""A plugin finds libmatlaw_umat again after the folders that hold them were moved."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from matlaw.umat import plugin as plugins
from matlaw.umat import write_plugin

CALL = """
import sys
from pathlib import Path
import numpy as np
from umat_host import Point, Umat
point = Point(strain_increment=np.array([1e-3, 0, 0, 0, 0, 0]))
Umat(Path(sys.argv[1]))(point)
print(point.stress[0])
"""


def call(plugin: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """A host that knows nothing of matlaw calls the plugin."""
    kept = {key: value for key, value in os.environ.items() if key not in ("MATLAW_UMAT_LIBRARY", "CONDA_PREFIX")}
    kept["PYTHONPATH"] = str(Path(__file__).parent)
    return subprocess.run(
        [sys.executable, "-c", CALL, str(plugin)], env=kept | variables, capture_output=True, text=True
    )


@pytest.fixture
def place(artifact: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that holds an installation of its own, ``site/``, and a plugin of it, ``plugins/law.so``."""
    place = tmp_path / "place"
    library = place / "site" / "matlaw" / "lib"
    library.mkdir(parents=True)
    (place / "site" / "torch").symlink_to(Path(torch.__file__).parent)
    for file in plugins.libraries()[0].parent.glob("libmatlaw*.so"):
        shutil.copy(file, library)
    monkeypatch.setattr(
        plugins, "libraries", lambda: (library / "libmatlaw_umat_plugin.so", library / "libmatlaw_umat.so")
    )
    write_plugin(artifact("linear_elastic-native") / "model_aoti.i", "model", place / "plugins" / "law")
    return place


def stress(done: subprocess.CompletedProcess[str]) -> float:
    assert done.returncode == 0, done.stdout + done.stderr
    return float(done.stdout)


def test_where_it_was_written(place: Path) -> None:
    assert stress(call(place / "plugins" / "law.so")) > 0


def test_the_plugin_moves(place: Path, tmp_path: Path) -> None:
    moved = shutil.move(place / "plugins", tmp_path / "other" / "depth")
    assert stress(call(Path(moved) / "law.so")) > 0


def test_plugin_and_installation_move_together(place: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    moved = place.rename(tmp_path / "other" / "place")
    assert stress(call(moved / "plugins" / "law.so")) > 0


def test_the_installation_moves_and_is_the_activated_environment(place: Path, tmp_path: Path) -> None:
    (place / "site").rename(tmp_path / "site")
    done = call(place / "plugins" / "law.so")
    assert done.returncode == 1
    for tried in (place / "site" / "matlaw", place / "plugins" / ".." / "site" / "matlaw"):
        assert str(tried / "lib" / "libmatlaw_umat.so") in done.stderr
    assert "matlaw-umat" in done.stderr and "MATLAW_UMAT_LIBRARY" in done.stderr
    assert stress(call(place / "plugins" / "law.so", CONDA_PREFIX=str(tmp_path / "site" / "matlaw"))) > 0


def test_a_link_to_the_plugin_of_the_installation(place: Path, tmp_path: Path) -> None:
    """It needs no `library` in the settings."""
    settings = place / "plugins" / "law.umat.i"
    settings.write_text("".join(line for line in settings.open() if not line.strip().startswith("library")))
    assert call(place / "plugins" / "law.so").returncode == 1
    (place / "plugins" / "law.so").unlink()
    (place / "plugins" / "law.so").symlink_to(place / "site" / "matlaw" / "lib" / "libmatlaw_umat_plugin.so")
    assert stress(call(place / "plugins" / "law.so")) > 0


def test_a_library_that_was_asked_for_is_not_replaced(place: Path) -> None:
    done = call(place / "plugins" / "law.so", MATLAW_UMAT_LIBRARY="/nowhere/libmatlaw_umat.so")
    assert done.returncode == 1 and "/nowhere/libmatlaw_umat.so" in done.stderr
