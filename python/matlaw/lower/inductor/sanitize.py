"""Take out of a ``.pt2`` what tells of the machine that compiled it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO

import torch

_SOURCE = b"// Source omitted by matlaw-compile: it is generated, and names folders of the machine that compiled it.\n"
#: The original is partly random.
_SERIALIZATION_ID = b"0" * 40
#: What every package holds besides.
_FRAME = {
    "graph/archive_format": b"pt2",
    "graph/archive_version": b"0",
    "graph/.data/version": b"6\n",
    "graph/byteorder": sys.byteorder.encode(),
    "graph/.data/serialization_id": _SERIALIZATION_ID,
}
_TIMESTAMP = (1980, 1, 1, 0, 0, 0)


def sanitize(package: Path, target: Path, folders: tuple[Path, ...] = ()) -> None:
    """Copy a package without generated sources, debug sections and folder names.

    :param package: a ``.pt2`` from AOTInductor
    :param target: the file to write; two compiles of one graph give the same bytes
    :param folders: folders of this machine whose names may appear in it
    """
    secret = _secret(folders)

    def clean(name: str, data: bytes) -> bytes:
        if name.endswith(".cpp"):
            return _SOURCE
        if name.endswith(".so"):
            return without_names(stripped(data), secret)
        return _SERIALIZATION_ID if name.endswith("/serialization_id") else data

    rewritten(package, target, clean)


def package_of(library: bytes, others: Mapping[str, bytes], target: Path, folders: tuple[Path, ...] = ()) -> None:
    """Write a package.

    :param library: the compiled graph
    :param others: further files, by the ends of their names
    :param target: the file to write; the same content makes the same bytes
    :param folders: folders of this machine whose names may appear in it
    """
    model = "graph/data/aotinductor/model/graph"
    files = {
        f"{model}.wrapper.so": without_names(library, _secret(folders)),
        **{f"{model}{end}": data for end, data in sorted(others.items())},
        **_FRAME,
    }
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, _TIMESTAMP), data)


def _secret(folders: tuple[Path, ...]) -> set[str]:
    return {str(f) for f in (*folders, Path(torch.__file__).parent, Path(sys.prefix), Path(sys.base_prefix))}


def rewritten(source: Path | IO[bytes], target: Path | IO[bytes], change: Callable[[str, bytes], bytes]) -> None:
    """Copy a package with other files in it; without dates, so that equal files make equal packages.

    :param source: the package
    :param target: the copy
    :param change: takes a file's name and content, gives the content to write
    """
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as new:
        for name in old.namelist():
            new.writestr(zipfile.ZipInfo(name, _TIMESTAMP), change(name, old.read(name)))


def stripped(library: bytes) -> bytes:
    """A shared library without symbols that only a debugger reads; unchanged when there is no ``strip``."""
    tool = shutil.which("strip")
    if tool is None:
        return library
    with tempfile.TemporaryDirectory(prefix="matlaw-strip-") as folder:
        file = Path(folder) / "library.so"
        file.write_bytes(library)
        done = subprocess.run([tool, "--strip-unneeded", str(file)], capture_output=True, check=False)
        return file.read_bytes() if done.returncode == 0 else library


def without_names(data: bytes, folders: set[str]) -> bytes:
    """Blank folder names in place: same length, so that nothing moves."""
    for folder in sorted(folders, key=len, reverse=True):
        data = re.sub(re.escape(folder.encode()) + rb"[\w./+-]*/", lambda m: b"_" * len(m[0]), data)
    return data
