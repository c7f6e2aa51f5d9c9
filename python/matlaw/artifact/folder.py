"""An artifact appears in one step: it is built beside its place and moved there when it is complete."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import takewhile
from pathlib import Path

from matlaw.output_file import naming

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


@contextmanager
def building(place: Path) -> Iterator[Path]:
    """A temporary folder that takes the place of ``place`` when the block ends well.

    When the block raises, the temporary folder is removed, and so are the folders above ``place`` that had to be made,
    unless somebody put something into them; what was at ``place`` stays. What processes that were killed left behind
    is removed.

    :param place: the folder to write
    """
    with _existing(place.parent):
        remove_leftovers(place)
        temporary = place.parent / f".{place.name}.{os.getpid()}.building"
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir()
        try:
            yield temporary
            _take_place(temporary, place)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


@contextmanager
def _existing(folder: Path) -> Iterator[None]:
    """A folder that is made where it is missing; what was made and is still empty goes when the block raises."""
    missing = list(takewhile(lambda path: not path.exists(), (folder, *folder.parents)))
    made: list[Path] = []
    try:
        for path in reversed(missing):
            with suppress(FileExistsError):  # somebody else made it meanwhile
                path.mkdir()
                made.append(path)
        folder.mkdir(exist_ok=True)  # refuses a file
        yield
    except BaseException:
        with suppress(OSError):
            for path in reversed(made):
                path.rmdir()
        raise


def write_file(path: Path, text: str) -> None:
    """Write a text file in one step."""
    temporary = path.parent / f".{path.name}.{os.getpid()}.building"
    try:
        with naming(path):
            temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def remove_leftovers(place: Path) -> None:
    """Remove the temporary folders and files of processes that are gone."""
    pattern = re.compile(rf"\.{re.escape(place.name)}(?:_aoti\.i)?\.(\d+)\.building")
    for entry in place.parent.iterdir():
        match = pattern.fullmatch(entry.name)
        if match and not _alive(int(match[1])):
            if entry.is_dir():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink(missing_ok=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _take_place(temporary: Path, place: Path) -> None:
    if not place.exists():
        os.rename(temporary, place)
        return
    if not _exchange(temporary, place):  # a file system without exchange: two steps
        aside = place.parent / f".{place.name}.{os.getpid()}.old.building"
        os.rename(place, aside)
        os.rename(temporary, place)
        shutil.rmtree(aside, ignore_errors=True)


def _exchange(a: Path, b: Path) -> bool:
    try:
        function = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    return function(_AT_FDCWD, os.fsencode(a), _AT_FDCWD, os.fsencode(b), _RENAME_EXCHANGE) == 0
