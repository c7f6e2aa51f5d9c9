"""Files in HIT syntax: read, checked and parsed, with errors that name file and line."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import nmhit

from matlaw.errors import InputFileError

#: Messages of the parser that are shown; a file of another kind gives thousands.
_SHOWN = 10
_BYTE_ORDER_MARK = "\ufeff"
_BRACKETS = re.compile(r"\[([^\[\]\n]*)\]")
_TOKEN = re.compile(r"#[^\n]*|'[^']*'|\"[^\"]*\"|!include[ \t]+([^\n#]+)")


def parse_file(path: str | os.PathLike[str]) -> nmhit.Node:
    """The syntax tree of a file, with what it includes.

    :raises InputFileError: the file, or one that it includes, cannot be read or parsed, or files include each other
    """
    text = check_file(path)
    try:
        return nmhit.parse_file(Path(path))
    except nmhit.Error as error:
        hint = left_open(text) if any("end of file" in m.message for m in error.messages) else ""
        raise InputFileError(shown(f"{m.filename}:{m.line}: {m.message}{hint}" for m in error.messages)) from error


def left_open(text: str, place: Callable[[int], str] = "line {}".format) -> str:
    r"""Says which block of a text is not closed, as far as indentation tells.

    >>> left_open("[Models]\n  [law]\n    type = A\n[]\n")
    '; block [law], opened in line 2, is not closed with []'

    :param place: what to call a line
    """
    code = _TOKEN.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)
    opened: list[tuple[int, str, int]] = []
    for line, content in enumerate(code.splitlines(), 1):
        for match in _BRACKETS.finditer(content):
            name = match.group(1).removeprefix("./")
            if name not in ("", "../"):
                opened.append((match.start(), name, line))
            elif opened:
                column, name, where = opened.pop()
                if match.start() < column and content[: match.start()].isspace() == (match.start() > 0):
                    return f"; block [{name}], opened in {place(where)}, is not closed with []"
    return f"; block [{opened[0][1]}], opened in {place(opened[0][2])}, is not closed with []" if opened else ""


def check_file(path: str | os.PathLike[str]) -> str:
    """The text of a file, once it and all that it includes can be read.

    :raises InputFileError: one cannot be read, or files include each other (the parser would never come back)
    """
    return _check(Path(path), ())


def shown(messages: Iterator[str]) -> str:
    """The messages of a parser, each once, one a line; the first few of many."""
    lines = list(dict.fromkeys(messages))
    more = [f"... and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    return "\n".join(lines[:_SHOWN] + more)


def _check(path: Path, above: tuple[Path, ...]) -> str:
    text = _read(path)
    chain = (*above, path.resolve())
    for match in _TOKEN.finditer(text):
        if match.group(1) is None:
            continue
        included = path.parent / match.group(1).strip()
        place = f"{path}:{text.count(chr(10), 0, match.start()) + 1}"
        if not included.is_file():
            raise InputFileError(f"{place}: cannot open the included file '{included}': there is no such file")
        if included.resolve() in chain:
            circle = " -> ".join(p.name for p in (*chain[chain.index(included.resolve()) :], included))
            raise InputFileError(f"{place}: files include each other: {circle}; remove one of the includes")
        _check(included, chain)
    return text


def _read(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputFileError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputFileError(f"{path}: cannot be read: it is no text in UTF-8 ({error})") from error
    if text.startswith(_BYTE_ORDER_MARK):
        raise InputFileError(f"{path}: begins with a byte order mark; save it as UTF-8 without one")
    return text
