"""The two parsers of MOOSE's HIT dialect behind one interface.

``pyhit`` comes with MOOSE and reads the dialect as MOOSE does. Where it is not installed, ``nmhit`` reads the text once
it is rewritten to what that parser spells differently. Both give the same tree.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import nmhit

from matlaw.errors import InputFileError
from matlaw.fe.input.dialect import HASH, normalise
from matlaw.fe.input.tree import Block, Field
from matlaw.hit import foreign_character, left_open, shown

#: environment variable that chooses a reader
CHOICE = "MATLAW_HIT_READER"
#: the file and line of each line of a text
Lines = Sequence[tuple[Path, int]]


class Reader(Protocol):
    """Parses the text of an input file, in which there are no includes any more."""

    name: str

    def parse(self, text: str, path: Path, lines: Lines) -> Block:
        """The tree, with ``${...}`` as it stands.

        :param path: the file
        :param lines: where the lines of the text stand
        :raises InputFileError: the text cannot be parsed
        """


class NmhitReader:
    """Reads with nmhit."""

    name = "nmhit"

    def parse(self, text: str, path: Path, lines: Lines) -> Block:
        """The tree, with ``${...}`` as it stands."""
        try:
            root = nmhit.parse_text(normalise(text), [], [])
        except nmhit.Error as error:
            at_end = any("end of file" in m.message for m in error.messages)
            hint = left_open(text, lambda line: _place(path, lines, line)) if at_end else ""
            raise InputFileError(
                shown(f"{_place(path, lines, m.line)}: {m.message}{hint}" for m in error.messages)
            ) from error
        except UnicodeDecodeError as error:
            said = foreign_character(text, lambda line: _place(path, lines, line))
            raise InputFileError(f"{path}: {said}") from error
        tree = Block("", "", str(path))
        self._fill(tree, root, path, lines)
        return tree

    def _fill(self, block: Block, node: nmhit.Node, path: Path, lines: Lines) -> None:
        for child in node.children(nmhit.NodeType.Field):
            name = child.path()
            block.fields[name] = Field(name, _unquoted(child.raw_val()), _place(path, lines, child.line()))
        for child in node.children(nmhit.NodeType.Section):
            name = child.path()
            below = Block(name, f"{block.path}/{name}".lstrip("/"), _place(path, lines, child.line()))
            self._fill(block.blocks.setdefault(name, below), child, path, lines)


class PyhitReader:
    """Reads with MOOSE's own parser.

    :param hit: the extension module that pyhit wraps; pyhit itself gives numbers where the text is needed
    """

    name = "pyhit"

    def __init__(self, hit: Any) -> None:
        self._hit = hit

    def parse(self, text: str, path: Path, lines: Lines) -> Block:
        """The tree, with ``${...}`` as it stands."""
        try:
            root = self._hit.parse(str(path), text)
        except Exception as error:  # the extension raises RuntimeError, or its own type
            raise InputFileError(str(error).strip() or f"{path}: cannot be parsed") from error
        self._hit.explode(root)
        tree = Block("", "", str(path))
        self._fill(tree, root, path, lines)
        return tree

    def _fill(self, block: Block, node: Any, path: Path, lines: Lines) -> None:
        kinds = self._hit.NodeType
        for child in node.children():
            place = _place(path, lines, child.line())
            if child.type() == kinds.Field:
                name = child.path()
                if name in block.fields:
                    first = block.fields[name].location
                    raise InputFileError(f"{place}: duplicate field '{name}'; the first is at {first}")
                block.fields[name] = Field(name, _unquoted(child.raw()), place)
            elif child.type() == kinds.Section:
                name = child.path()
                below = Block(name, f"{block.path}/{name}".lstrip("/"), place)
                self._fill(block.blocks.setdefault(name, below), child, path, lines)


def reader() -> Reader:
    """The reader to use: pyhit where it is installed, else nmhit, unless ``MATLAW_HIT_READER`` names one.

    :raises InputFileError: the one named does not exist, or is not installed
    """
    choice = os.environ.get(CHOICE, "")
    if choice not in ("", "pyhit", "nmhit"):
        raise InputFileError(f"{CHOICE} = '{choice}': expected pyhit or nmhit")
    hit = find_pyhit() if choice != "nmhit" else None
    if hit is not None:
        return PyhitReader(hit)
    if choice == "pyhit":
        raise InputFileError(f"{CHOICE} = pyhit, but pyhit is not installed; it comes with MOOSE")
    return NmhitReader()


def find_pyhit() -> Any | None:
    """The extension module of MOOSE's parser, or None; the packages that bring it have given it several names."""
    for module, attribute in (("hit", None), ("pyhit", "hit"), ("pyhit.pyhit", "hit"), ("moose_hit", "hit")):
        try:
            found = importlib.import_module(module)
        except Exception:  # a broken pyhit (it builds itself on import, in a MOOSE checkout) is as good as none
            continue
        hit = found if attribute is None else getattr(found, attribute, None)
        if hit is not None and all(hasattr(hit, name) for name in ("parse", "explode", "NodeType")):
            return hit
    return None


def _place(path: Path, lines: Lines, line: int) -> str:
    source, number = lines[line - 1] if 0 < line <= len(lines) else (path, line)
    return f"{source}:{number}"


def _unquoted(raw: str) -> str:
    raw = raw.replace(HASH, "#")
    return raw[1:-1] if len(raw) > 1 and raw[0] == raw[-1] and raw[0] in "'\"" else raw
