"""What was compiled once: a folder of results, each under a digest of everything that it depends on.

Safe with any number of processes, also when they are killed: an entry is written beside its place and moved there in
one step, and carries a digest of its content, so that a damaged one counts as absent. A cache that cannot be written
does no harm.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

#: Entries are removed, those unused for longest first, when all together exceed this.
DEFAULT_LIMIT: Final = 2 * 1024**3
#: Of the layout of keys and entries.
_VERSION: Final = "v1"
#: A file that is being written is a leftover after this many seconds.
_STALE: Final = 3600.0
_DIGEST: Final = 64


def default_folder() -> Path:
    """``$MATLAW_CACHE_DIR``, else ``$XDG_CACHE_HOME/matlaw``, else ``~/.cache/matlaw``."""
    chosen = os.environ.get("MATLAW_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "matlaw"


def key_of(kind: str, *parts: Any) -> str:
    """The key of what depends on these parts.

    :param kind: of the entry; shows in :meth:`Cache.entries`
    :param parts: anything that JSON holds

    >>> key_of("native", 1) == key_of("native", 1), key_of("native", 1) == key_of("native", 2)
    (True, False)
    """
    return f"{kind}-{hashlib.sha256(json.dumps([kind, *parts], sort_keys=True).encode()).hexdigest()}"


@dataclass(frozen=True)
class Entry:
    """One entry.

    :ivar path: its file
    :ivar kind: ``native``, ``inductor`` or ``verified``
    :ivar bytes: its size
    :ivar used: when it was last used, in seconds since the epoch
    """

    path: Path
    kind: str
    bytes: int
    used: float


class Cache:
    """A cache in a folder.

    :param folder: where; :func:`default_folder` when ``None``

    >>> import tempfile
    >>> cache = Cache(Path(tempfile.mkdtemp()))
    >>> cache.put(key_of("native", 1), b"code")
    >>> cache.get(key_of("native", 1)), cache.get(key_of("native", 2))
    (b'code', None)
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = (folder or default_folder()) / _VERSION

    def get(self, key: str) -> bytes | None:
        """What was stored under a key; ``None`` when there is nothing, or when it is damaged."""
        path = self._path(key)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        digest, payload = content[:_DIGEST], content[_DIGEST:]
        if hashlib.sha256(payload).hexdigest().encode() != digest:
            path.unlink(missing_ok=True)
            return None
        try:
            os.utime(path)
        except OSError:
            pass
        return payload

    def put(self, key: str, payload: bytes) -> None:
        """Store something; without effect when the folder cannot be written."""
        path = self._path(key)
        temporary = path.parent / f".{os.getpid()}.{secrets.token_hex(8)}.writing"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_bytes(hashlib.sha256(payload).hexdigest().encode() + payload)
            os.replace(temporary, path)
        except OSError:
            try:
                temporary.unlink(missing_ok=True)
            except OSError:
                pass

    def entries(self) -> list[Entry]:
        """All entries, those unused for longest first."""
        found = []
        for path in self._files():
            if path.name.endswith(".writing"):
                continue
            try:
                status = path.stat()
            except OSError:  # another process removed it
                continue
            found.append(Entry(path, path.name.partition("-")[0], status.st_size, status.st_mtime))
        return sorted(found, key=lambda e: (e.used, e.path))

    def prune(self, max_bytes: int = DEFAULT_LIMIT, max_age: float | None = None) -> list[Entry]:
        """Remove entries, those unused for longest first.

        :param max_bytes: until all together are not larger than this
        :param max_age: and those unused for more seconds than this
        :returns: what was removed
        """
        now = time.time()
        for path in list(self._files()):
            if path.name.endswith(".writing"):
                try:
                    if now - path.stat().st_mtime > _STALE:
                        path.unlink()
                except OSError:
                    pass
        entries = self.entries()
        total = sum(e.bytes for e in entries)
        removed = []
        for entry in entries:
            if total <= max_bytes and (max_age is None or now - entry.used <= max_age):
                continue
            try:
                entry.path.unlink()
            except OSError:
                continue
            total -= entry.bytes
            removed.append(entry)
        return removed

    def _path(self, key: str) -> Path:
        return self.folder / key.partition("-")[2][:2] / key

    def _files(self) -> Iterator[Path]:
        if self.folder.is_dir():
            yield from (path for path in self.folder.glob("*/*") if path.is_file())


class NoCache(Cache):
    """Stores nothing."""

    def get(self, key: str) -> bytes | None:
        """Nothing."""
        return None

    def put(self, key: str, payload: bytes) -> None:
        """Nothing happens."""

    def prune(self, max_bytes: int = DEFAULT_LIMIT, max_age: float | None = None) -> list[Entry]:
        """Nothing happens."""
        return []
