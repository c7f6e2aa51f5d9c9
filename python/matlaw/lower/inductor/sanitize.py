"""Take out of a ``.pt2`` what tells of the machine that compiled it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import torch

_SOURCE = b"// Source omitted by matlaw-compile: it is generated, and names folders of the machine that compiled it.\n"
#: The original is partly random.
_SERIALIZATION_ID = b"0" * 40
_TIMESTAMP = (1980, 1, 1, 0, 0, 0)


def sanitize(package: Path, target: Path, folders: tuple[Path, ...] = ()) -> None:
    """Copy a package without generated sources, debug sections and folder names.

    :param package: a ``.pt2`` from AOTInductor
    :param target: the file to write; two compiles of one graph give the same bytes
    :param folders: folders of this machine whose names may appear in it
    """
    secret = {str(f) for f in (*folders, Path(torch.__file__).parent, Path(sys.prefix), Path(sys.base_prefix))}
    with zipfile.ZipFile(package) as source, zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as result:
        for name in source.namelist():
            data = source.read(name)
            if name.endswith(".cpp"):
                data = _SOURCE
            elif name.endswith(".so"):
                data = without_names(stripped(data), secret)
            elif name.endswith("/serialization_id"):
                data = _SERIALIZATION_ID
            result.writestr(zipfile.ZipInfo(name, _TIMESTAMP), data)


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
