"""HIT input files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import nmhit

from matlaw.errors import InputFileError
from matlaw.hit import check_file, check_references, parse_file
from matlaw.input.batch_shapes import parse_batch_shape
from matlaw.input.block import Block
from matlaw.input.source import duplicate_block
from matlaw.input.suggestion import unknown_name
from matlaw.models import Model
from matlaw.models.registry import registered, sections_of
from matlaw.models.sub_batch import assign_sub_batch
from matlaw.models.variable import old

#: The sections that an input file may have.
SECTIONS = ("Settings", "Tensors", "Data", "Solvers", "EquationSystems", "Models", "Drivers")
_OTHER_TYPES = ". matlaw-syntax lists all types; --load adds types of your own"


class InputFile:
    """A parsed input file. Objects are built when they are asked for, each once.

    :param path: the file
    :param overrides: assignments such as ``Models/elasticity/E:=1`` that replace values of the file
    :raises InputFileError: when the file cannot be parsed, a section is unknown, a block is there twice, or an
        override refers to nothing

    :ivar path: the file
    :ivar text: its text
    """

    def __init__(self, path: str | Path, overrides: Sequence[str] = ()) -> None:
        self.path = Path(path)
        self.text = check_file(self.path)
        self._built: dict[tuple[str, str], Any] = {}
        self._building: list[tuple[str, str]] = []
        self._origin: dict[str, str] = {}
        self._parse()
        for override in overrides:
            self._override(override)
        check_references(self._root, self.location)
        #: Sub-batch shapes by variable; the empty name stands for all inputs.
        self._sub_batch: dict[str, tuple[int, ...]] = {}
        self._read_settings()

    def _parse(self) -> None:
        twice = duplicate_block(self.text)
        if twice:
            path, first, second = twice
            raise InputFileError(f"{self.path}:{second}: block [{path}] is there twice, first in line {first}")
        self._root = parse_file(self.path)
        self._blocks: dict[str, dict[str, Any]] = {}
        # A section of an included file stands beside the one of the including file.
        for section in self._root.children(nmhit.NodeType.Section):
            name = section.path()
            if name not in SECTIONS:
                raise InputFileError(f"{self.location(section)}: {unknown_name('section', name, SECTIONS)}")
            blocks = self._blocks.setdefault(name, {})
            for block in section.children(nmhit.NodeType.Section):
                if block.path() in blocks:
                    raise InputFileError(
                        f"{self.location(block)}: block [{name}]/[{block.path()}] is there twice, first in "
                        f"{self.location(blocks[block.path()])}"
                    )
                blocks[block.path()] = block

    def _override(self, text: str) -> None:
        try:
            fields = _fields(nmhit.parse_text(text + "\n"))
        except nmhit.Error as error:
            raise InputFileError(f"override '{text}': {error}") from error
        if len(fields) != 1:
            raise InputFileError(f"override '{text}': expected one assignment such as Models/elasticity/E:=1")
        path, field = fields[0]
        owner = self._owner(path, text)
        name = path[-1]
        for known in owner.children(nmhit.NodeType.Field):
            if known.path() == name:
                known.set_val(field.raw_val())
                break
        else:
            owner.add_child(field.clone())
        self._origin["/".join(path)] = f"override '{text}'"

    def _owner(self, path: list[str], text: str) -> Any:
        """The node whose field an override sets."""
        if len(path) == 1:
            return self._root
        if path[0] not in SECTIONS:
            raise InputFileError(f"override '{text}': {unknown_name('section', path[0], SECTIONS)}")
        if len(path) == 2:
            for section in self._root.children(nmhit.NodeType.Section):
                if section.path() == path[0]:
                    return section
        block = self._blocks.get(path[0], {}).get(path[1]) if len(path) == 3 else None
        if block is None:
            name = path[1] if len(path) == 3 else "/".join(path[1:])
            raise InputFileError(
                f"override '{text}': {unknown_name(f'block of [{path[0]}]', name, self.names(path[0]))}"
            )
        return block

    def _read_settings(self) -> None:
        """Reads what ``[Settings]`` declares: ``example_batch_shape`` for all inputs or by variable."""
        for section in self._root.children(nmhit.NodeType.Section):
            if section.path() != "Settings":
                continue
            for path, node in _fields(section):
                place = self.location(node, "[Settings]")
                if path[0] == "example_batch_shape":
                    try:
                        _, shape = parse_batch_shape(str(node.param_str()))
                    except ValueError as error:
                        raise InputFileError(f"{place}: option '{'/'.join(path)}': {error}") from error
                    self._sub_batch["/".join(path[1:])] = shape
                elif path != ["dynamic_batch"]:
                    names = ["dynamic_batch", "example_batch_shape"]
                    raise InputFileError(f"{place}: {unknown_name('option', '/'.join(path), names)}")

    def _declared(self, model: Model) -> dict[str, tuple[int, ...]]:
        """Declared sub-batch shapes by variable."""
        declared = dict(self._sub_batch)
        uniform = declared.pop("", None)
        return declared | {name: uniform for name in model.inputs} if uniform is not None else declared

    def location(self, node: Any, block: str = "") -> str:
        """File and line of a node, and the block when given; the override for a value that one has set."""
        origin = self._origin.get(node.fullpath().strip("/"))
        place = origin or f"{node.filename}:{node.line()}"
        return f"{place}: {block}" if block else place

    @property
    def sections(self) -> list[str]:
        """Sections that the file has."""
        return list(self._blocks)

    def names(self, section: str) -> list[str]:
        """Names of the blocks of a section, in order."""
        return list(self._blocks.get(section, {}))

    @property
    def model_names(self) -> list[str]:
        """Names of the models, in order."""
        return self.names("Models")

    def type_of(self, section: str, name: str) -> str:
        """The ``type`` of a block.

        :raises InputFileError: when there is no such block or it has no type
        """
        blocks = self._blocks.get(section, {})
        if name not in blocks:
            raise InputFileError(f"{self.path}: {unknown_name(f'block of [{section}]', name, blocks)}")
        node = blocks[name]
        for field in node.children(nmhit.NodeType.Field):
            if field.path() == "type":
                return str(node.param_str("type"))
        raise InputFileError(f"{self.location(node, f'[{section}]/[{name}]')}: missing option 'type'")

    def places_of(self, word: str, model: str | None = None) -> list[str]:
        """File and line of the options whose value has this word, in order.

        :param model: only those of this block of ``[Models]``
        """
        fields = [
            field
            for section, blocks in self._blocks.items()
            for name, block in blocks.items()
            if model is None or (section, name) == ("Models", model)
            for field in block.children(nmhit.NodeType.Field)
        ]
        return [self.location(f) for f in fields if word in str(f.param_str()).replace(";", " ").split()]

    def render(self) -> str:
        """The file as HIT text, with includes merged and overrides applied."""
        return str(self._root.render())

    def model(self, name: str, sub_batch: Mapping[str, tuple[int, ...]] | None = None) -> Model:
        """The model of that name, built when it is first asked for.

        :param sub_batch: sub-batch shapes of variables that ``[Settings]/example_batch_shape`` does not declare
        :raises InputFileError: when there is none, or it cannot be built
        """
        self.type_of("Models", name)
        model: Model = self.build("Models", name)
        assign_sub_batch(model, {**_of_inputs(model, sub_batch or {}), **self._declared(model)})
        return model

    def build(self, section: str, name: str, user: Block | None = None, option: str | None = None) -> Any:
        """The object of a block, built when it is first asked for.

        :param user: the block that refers to it, for messages
        :param option: the option of ``user`` that does
        """
        key = (section, name)
        if key in self._built:
            return self._built[key]
        if key in self._building:
            circle = " -> ".join(f"[{s}]/[{n}]" for s, n in [*self._building[self._building.index(key) :], key])
            message = f"cyclic dependency: {circle}"
            raise user.error(message, option) if user else InputFileError(f"{self.path}: {message}")
        kind = self.type_of(section, name)
        node = self._blocks[section][name]
        types = registered(section)
        if kind not in types:
            place = self.location(node, f"[{section}]/[{name}]")
            elsewhere = [s for s in sections_of(kind) if s != section]
            hint = f". It belongs in [{elsewhere[0]}]" if elsewhere else _OTHER_TYPES
            raise InputFileError(f"{place}: {unknown_name('type', kind, types)}{hint}")
        self._building.append(key)
        try:
            self._built[key] = types[kind](Block(self, section, name, node, types[kind]))
        finally:
            self._building.pop()
        return self._built[key]


def _of_inputs(model: Model, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """Those of inputs; a variable that is none itself stands for its old value."""
    found = {name if name in model.inputs else old(name): shape for name, shape in shapes.items()}
    return {name: shape for name, shape in found.items() if name in model.inputs}


def _fields(node: Any, above: Iterable[str] = ()) -> list[tuple[list[str], Any]]:
    """All fields below a node with their paths."""
    found = []
    for child in node.children():
        path = [*above, *child.path().split("/")] if child.path() else list(above)
        if child.type() == nmhit.NodeType.Field:
            found.append((path, child))
        elif child.type() == nmhit.NodeType.Section:
            found += _fields(child, path)
    return found
