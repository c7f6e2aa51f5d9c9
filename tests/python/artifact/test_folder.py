"""Artifacts appear in one step."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from matlaw.artifact.folder import building


def test_new_and_replaced(tmp_path: Path) -> None:
    place = tmp_path / "sub" / "model"
    for text in ("one", "two"):
        with building(place) as folder:
            (folder / "file").write_text(text)
            if text == "two":
                assert (place / "file").read_text() == "one"
        assert (place / "file").read_text() == text
        assert [p.name for p in place.parent.iterdir()] == ["model"]


def test_failure_leaves_the_old_one(tmp_path: Path) -> None:
    place = tmp_path / "model"
    with building(place) as folder:
        (folder / "file").write_text("old")
    with pytest.raises(RuntimeError), building(place) as folder:
        (folder / "file").write_text("new")
        raise RuntimeError
    assert (place / "file").read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["model"]


def test_failure_leaves_no_folder_that_was_not_there(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    for place in (tmp_path / "one" / "two" / "model", tmp_path / "there" / "model", tmp_path / "there" / "a" / "model"):
        with pytest.raises(KeyboardInterrupt), building(place) as folder:
            (folder / "file").write_text("new")
            raise KeyboardInterrupt
    assert [p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*")] == ["there"]
    with pytest.raises(RuntimeError), building(tmp_path / "one" / "two" / "model"):
        (tmp_path / "one" / "of_somebody").write_text("")
        raise RuntimeError
    assert sorted(p.relative_to(tmp_path / "one").as_posix() for p in (tmp_path / "one").rglob("*")) == ["of_somebody"]
    with pytest.raises(FileExistsError), building(tmp_path / "one" / "of_somebody" / "model"):
        pass


def test_leftovers_of_dead_processes_are_removed_and_of_living_ones_kept(tmp_path: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    (tmp_path / f".model.{dead.pid}.building").mkdir()
    (tmp_path / f".model_aoti.i.{dead.pid}.building").write_text("")
    alive = tmp_path / f".model.{os.getppid()}.building"
    alive.mkdir()
    with building(tmp_path / "model"):
        pass
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([alive.name, "model"])
