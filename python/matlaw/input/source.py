"""Where blocks open in the text of a HIT file: the parser merges blocks of one name without a word."""

from __future__ import annotations

import re
from collections.abc import Iterator

_TOKEN = re.compile(r"#[^\n]*|'[^']*'|\"[^\"]*\"|\[([^\]\n]*)\]")


def block_headers(text: str) -> Iterator[tuple[str, int]]:
    r"""Path and line of every header that opens a block.

    >>> list(block_headers("[Models]\n  [a]\n  []\n[]\n"))
    [('Models', 1), ('Models/a', 2)]
    """
    stack: list[str] = []
    for match in _TOKEN.finditer(text):
        header = match.group(1)
        if header is None:
            continue
        header = header.strip()
        if header in ("", "../"):
            if stack:
                stack.pop()
            continue
        stack.append(header.removeprefix("./"))
        yield "/".join(stack), text.count("\n", 0, match.start()) + 1


def duplicate_block(text: str) -> tuple[str, int, int] | None:
    """The first block inside a section that opens twice: path and both lines."""
    seen: dict[str, int] = {}
    for path, line in block_headers(text):
        if "/" in path and path in seen:
            return path, seen[path], line
        seen.setdefault(path, line)
    return None
