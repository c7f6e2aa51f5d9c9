"""Where arrays of kernels lie."""

from __future__ import annotations

from typing import Final

#: So many vectors of rows may lie on the stack, which belongs to whoever calls: 512 KiB.
MOST_ON_STACK: Final = 8192


def storage_of(vectors: int) -> str:
    """Where arrays of so many vectors of rows lie: on the stack, or in memory that a thread keeps for them.

    >>> storage_of(8192), storage_of(8193)
    ('', 'static thread_local ')
    """
    return "static thread_local " if vectors > MOST_ON_STACK else ""
