"""An input file as a tree of blocks and fields that know where they stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from matlaw.errors import InputFileError
from matlaw.fe.input.dialect import with_includes
from matlaw.fe.input.substitution import substitute
from matlaw.hit import check_file


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


def override(root: Block, argument: str) -> None:
    """Replace what a file says by ``A/b=1`` or ``A/b:=1`` of a command line.

    :raises InputFileError: it cannot be read
    """
    name, sign, value = argument.partition("=")
    *path, last = name.removesuffix(":").strip().split("/")
    if not sign or not all([*path, last]):
        raise InputFileError(f"command line: cannot read the override '{argument}'; expected Block/name:=value")
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        value = value[1:-1]
    block = root
    for part in path:
        below = Block(part, f"{block.path}/{part}".lstrip("/"), "command line")
        block = block.blocks.setdefault(part, below)
    block.fields[last] = Field(last, value, "command line", from_command_line=True)


def merge(block: Block, other: Block) -> None:
    """Add a block to one of the same name: its fields replace, its blocks are merged."""
    block.fields.update(other.fields)
    for name, below in other.blocks.items():
        if name in block.blocks:
            merge(block.blocks[name], below)
        else:
            block.blocks[name] = below


def read_input(path: Path | Sequence[Path], overrides: Sequence[str] = ()) -> Block:
    """Read a MOOSE input file, or several that make up one input: later ones replace what earlier ones say.

    :param path: the file or the files
    :param overrides: ``Block/name:=value`` (or ``=``), applied after the files
    :raises InputFileError: a file cannot be read or parsed
    """
    from matlaw.fe.input.readers import reader

    paths = [path] if isinstance(path, Path) else list(path)
    parser = reader()
    root = Block("", "", str(paths[0]))
    for one in paths:
        text, lines = with_includes(check_file(one), one)
        merge(root, parser.parse(text, one, lines))
    for argument in overrides:
        override(root, argument)
    substitute(root)
    return root
