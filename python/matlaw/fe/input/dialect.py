"""MOOSE's older spelling of blocks, rewritten into the one that nmhit reads."""

from __future__ import annotations

import re
from pathlib import Path

_TOKENS = re.compile(
    r"'[^']*'"
    r'|"[^"]*"'
    r"|#[^\n]*"
    r"|\[\.\./\]"
    r"|\[\./(?P<block>[^\]\s]*)\]"
    r"|^[ \t]*!include[ \t]+(?P<include>[^\s]+)",
    re.MULTILINE,
)


def normalise(text: str, folder: Path | None = None) -> str:
    r"""Rewrite ``[./x] ... [../]`` as ``[x] ... []``; line numbers stay.

    :param text: what the file holds
    :param folder: folder that ``!include`` paths are relative to

    >>> normalise("[A]\n [./b]\n  c = '[./x]'\n [../]\n[]")
    "[A]\n [b]\n  c = '[./x]'\n []\n[]"
    """

    def rewrite(match: re.Match[str]) -> str:
        if match.group(0) == "[../]":
            return "[]"
        if match.group("block") is not None:
            return f"[{match.group('block')}]"
        if match.group("include") is not None and folder is not None:
            return f"!include {folder / match.group('include')}"
        return match.group(0)

    return _TOKENS.sub(rewrite, text)
