"""An input file as a tree of blocks and fields that know where they stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import nmhit

from matlaw.errors import InputFileError
from matlaw.fe.input.dialect import normalise
from matlaw.fe.input.substitution import substitute
from matlaw.hit import check_file, shown

#: What the parser says of text that comes from no file.
_NO_FILE = Path(".")


@dataclass(frozen=True)
class Field:
    """One ``name = value`` of an input file.

    :ivar value: the text, without its quotes
    :ivar location: ``file:line``, or ``command line``
    """

    name: str
    value: str
    location: str
    from_command_line: bool = False

    def error(self, message: str) -> InputFileError:
        """An error that says where this field stands."""
        return InputFileError(f"{self.location}: {message}")


@dataclass
class Block:
    """One ``[name] ... []`` of an input file."""

    name: str
    path: str
    location: str
    fields: dict[str, Field] = field(default_factory=dict)
    blocks: dict[str, Block] = field(default_factory=dict)

    def error(self, message: str) -> InputFileError:
        """An error that says where this block stands."""
        return InputFileError(f"{self.location}: [{self.path}]: {message}")

    def find(self, path: str) -> Block | None:
        """The block at ``a/b/c`` below this one, or None."""
        here: Block | None = self
        for name in path.split("/"):
            here = here.blocks.get(name) if here is not None else None
        return here

    def text(self, name: str, default: str = "") -> str:
        """The text of a field, or ``default``."""
        return self.fields[name].value if name in self.fields else default

    def walk(self) -> Iterator[Block]:
        """The block itself and all below it."""
        yield self
        for block in self.blocks.values():
            yield from block.walk()


def _override(argument: str) -> str:
    """``A/b=1`` or ``A/b:=1`` of a command line as HIT that replaces what the file says."""
    name, sign, value = argument.partition("=")
    name = name.removesuffix(":").strip()
    if not sign or not all(name.split("/")):
        raise InputFileError(f"command line: cannot read the override '{argument}'; expected Block/name:=value")
    value = value.strip()
    if not (len(value) > 1 and value[0] == value[-1] and value[0] in "'\""):
        quote = '"' if "'" in value else "'"
        value = f"{quote}{value}{quote}"
    return f"{name} := {value}"


def read_input(path: Path, overrides: Sequence[str] = ()) -> Block:
    """Read a MOOSE input file.

    :param path: the file
    :param overrides: ``Block/name:=value`` (or ``=``), applied after the file
    :raises InputFileError: the file cannot be read or parsed
    """
    text = normalise(check_file(path), path.resolve().parent)
    if not text.endswith("\n"):
        text += "\n"
    lines = text.count("\n")
    try:
        root = nmhit.parse_text(text, [], [_override(argument) for argument in overrides])
    except nmhit.Error as error:
        raise InputFileError(
            shown(f"{_place(path, m.filename, m.line, lines)[0]}: {m.message}" for m in error.messages)
        ) from error
    tree = Block("", "", str(path))
    _fill(tree, root, path, lines)
    substitute(tree)
    return tree


def _place(path: Path, source: Path, line: int, lines: int) -> tuple[str, bool]:
    """Where something stands, and whether that is the command line, whose text follows that of the file.

    :param source: the included file that holds it; ``.`` for the file itself and the command line
    """
    if source != _NO_FILE:
        return f"{source}:{line}", False
    return (f"{path}:{line}", False) if line <= lines else ("command line", True)


def _fill(block: Block, node: nmhit.Node, path: Path, lines: int) -> None:
    for child in node.children(nmhit.NodeType.Field):
        name = child.path()
        raw = child.raw_val()
        if len(raw) > 1 and raw[0] == raw[-1] and raw[0] in "'\"":
            raw = raw[1:-1]
        block.fields[name] = Field(name, raw, *_place(path, child.filename, child.line(), lines))
    for child in node.children(nmhit.NodeType.Section):
        name = child.path()
        place, _ = _place(path, child.filename, child.line(), lines)
        below = Block(name, f"{block.path}/{name}".lstrip("/"), place)
        if name in block.blocks:
            below = block.blocks[name]
        block.blocks[name] = below
        _fill(below, child, path, lines)
