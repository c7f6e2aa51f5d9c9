"""What MOOSE's dialect spells otherwise than nmhit: older blocks, double quotes; and includes."""

from __future__ import annotations

import re
from pathlib import Path

#: stands for a # inside quotes, where nmhit allows none: a character that no text has (U+E000 is for private use)
HASH = "\ue000"

_TOKENS = re.compile(
    r"'[^']*'"
    r'|"[^"]*"'
    r"|#[^\n]*"
    r"|\[\.\./\]"
    r"|\[\./(?P<block>[^\]\s]*)\]",
)


_INCLUDE = re.compile(r"'[^']*'|\"[^\"]*\"|#[^\n]*|^[ \t]*!include[ \t]+(?P<path>[^\s]+)[^\n]*\n?", re.MULTILINE)


def with_includes(text: str, path: Path) -> tuple[str, list[tuple[Path, int]]]:
    """A text with what it includes in place of ``!include``, and the file and line of each of its lines.

    :param path: the file that holds the text; includes are relative to it
    """
    pieces: list[str] = []
    lines: list[tuple[Path, int]] = []

    def add(piece: str, first: int) -> None:
        if piece:
            pieces.append(piece if piece.endswith("\n") else piece + "\n")
            lines.extend((path, first + k) for k in range(pieces[-1].count("\n")))

    at = 0
    for match in _INCLUDE.finditer(text):
        if match.group("path") is None:
            continue
        add(text[at : match.start()], text.count("\n", 0, at) + 1)
        included = path.parent / match.group("path")
        below, below_lines = with_includes(included.read_text(encoding="utf-8"), included)
        pieces.append(below)
        lines += below_lines
        at = match.end()
    add(text[at:], text.count("\n", 0, at) + 1)
    return "".join(pieces), lines


def normalise(text: str) -> str:
    r"""Rewrite ``[./x] ... [../]`` as ``[x] ... []``, double quotes as single ones and a quoted ``#`` as :data:`HASH`.

    Line numbers stay.

    :param text: what the file holds

    >>> normalise("[A]\n [./b]\n  c = '[./x]'\n [../]\n[]")
    "[A]\n [b]\n  c = '[./x]'\n []\n[]"
    """

    def rewrite(match: re.Match[str]) -> str:
        if match.group(0) == "[../]":
            return "[]"
        if match.group("block") is not None:
            return f"[{match.group('block')}]"
        text = match.group(0)
        if text[0] not in "'\"":
            return text
        if text[0] == '"' and "'" not in text:
            text = f"'{text[1:-1]}'"
        return text.replace("#", HASH)

    return _TOKENS.sub(rewrite, text)
