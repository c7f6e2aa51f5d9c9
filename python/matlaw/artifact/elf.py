"""Which glibc a shared library needs, read from its ELF tables."""

from __future__ import annotations

import re
import struct
import zipfile
from collections.abc import Iterable
from pathlib import Path

_SHT_GNU_VERNEED = 0x6FFFFFFE


def needed_versions(library: bytes) -> set[str]:
    """The symbol versions that a 64-bit little-endian ELF library needs, for instance ``GLIBC_2.34``.

    :raises ValueError: not such a library
    """
    if library[:6] != b"\x7fELF\x02\x01":
        raise ValueError("not a 64-bit little-endian ELF file")
    section_offset = struct.unpack_from("<Q", library, 0x28)[0]
    entry_size, count = struct.unpack_from("<HH", library, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", library, section_offset + k * entry_size) for k in range(count)]
    found: set[str] = set()
    for header in headers:
        if header[1] != _SHT_GNU_VERNEED:
            continue
        start, link, entries = header[4], header[6], header[7]
        names = headers[link][4]
        at = start
        for _ in range(entries):
            _, auxiliaries, _, first, following = struct.unpack_from("<HHIII", library, at)
            place = at + first
            for _ in range(auxiliaries):
                _, _, _, name, next_one = struct.unpack_from("<IHHII", library, place)
                end = library.index(b"\0", names + name)
                found.add(library[names + name : end].decode())
                place += next_one
            at += following
    return found


def glibc_floor(files: Iterable[Path]) -> str:
    """The oldest glibc on which all these ``.so`` and ``.pt2`` files load, for instance ``2.34``."""
    newest = (2, 0)
    for file in files:
        for library in _libraries(file):
            for version in needed_versions(library):
                match = re.fullmatch(r"GLIBC_(\d+)\.(\d+)(?:\.\d+)?", version)
                if match:
                    newest = max(newest, (int(match[1]), int(match[2])))
    return f"{newest[0]}.{newest[1]}"


def _libraries(file: Path) -> list[bytes]:
    if file.suffix == ".so":
        return [file.read_bytes()]
    if file.suffix == ".pt2":
        with zipfile.ZipFile(file) as archive:
            return [archive.read(name) for name in archive.namelist() if name.endswith(".so")]
    return []
