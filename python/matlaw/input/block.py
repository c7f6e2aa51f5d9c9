"""One block of an input file, as the object that is built from it sees it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import nmhit

from matlaw.errors import InputFileError
from matlaw.input.suggestion import unknown_name
from matlaw.models.declaration import Declaration, Input, Option, Output, Parameter, declarations
from matlaw.models.number import parse_number

if TYPE_CHECKING:
    from matlaw.input.input_file import InputFile
    from matlaw.models.model import Model

_BOOLEANS = {"true": True, "on": True, "yes": True, "false": False, "off": False, "no": False}


class Block:
    """Reads and checks the options of one block (see :class:`matlaw.models.Context`).

    :param file: the input file
    :param section: name of the section
    :param name: name of the block
    :param node: the block in the syntax tree
    :param cls: the class that declares the options
    :raises InputFileError: for an unknown, a missing or a malformed option
    """

    def __init__(self, file: InputFile, section: str, name: str, node: Any, cls: type) -> None:
        self._file = file
        self._section = section
        self._node = node
        self.name = name
        self.location = file.location(node, f"[{section}]/[{name}]")
        self._declared = {d.option: d for d in declarations(cls)}
        self._fields = {f.path(): f for f in node.children(nmhit.NodeType.Field)}
        self._check_names()
        self._values = {name: self._read(d) for name, d in self._declared.items()}

    def _check_names(self) -> None:
        for field in self._fields:
            if field != "type" and field not in self._declared:
                raise self.unknown("option", field, [*self._declared, "type"])
        for section in self._node.children(nmhit.NodeType.Section):
            raise self.error(f"unexpected block [{section.path()}] inside", None)
        for name, declaration in self._declared.items():
            if declaration.must_be_given and name not in self._fields:
                raise self.error(f"missing option '{name}': {declaration.doc}")

    def _read(self, declaration: Declaration) -> Any:
        name = declaration.option
        field = self._fields.get(name)
        kind = "str"
        choices: tuple[str, ...] = ()
        if isinstance(declaration, Option):
            kind, choices = declaration.kind, declaration.choices
        elif isinstance(declaration, Input | Output | Parameter) and declaration.many:
            kind = "list"
        if field is None:
            text = declaration.default
        else:
            try:
                text = self._node.param_str(name)
            except nmhit.Error as error:
                raise self.error(f"cannot be read: {error}", name) from error
        value = self._convert(kind, text, name)
        if isinstance(declaration, Input | Output | Parameter) and not declaration.many and len(text.split()) > 1:
            raise self.error(f"expected one name or number, got '{text}'", name)
        if isinstance(declaration, Parameter) and not text.split():
            raise self.error("expected a number or the name of a tensor, a model or a variable", name)
        if choices:
            for member in value if kind == "list" else [value]:
                if member not in choices:
                    raise self.unknown("choice", member, list(choices), name)
        return value

    def _convert(self, kind: str, text: str, name: str) -> Any:
        text = text.strip()
        if kind == "list":
            return text.replace(";", " ").split()
        if kind == "bool":
            if text.lower() not in _BOOLEANS:
                raise self.error(f"expected true or false, got '{text}'", name)
            return _BOOLEANS[text.lower()]
        if kind == "int":
            try:
                return int(text)
            except ValueError:
                raise self.error(f"expected an integer, got '{text}'", name) from None
        if kind == "float":
            number = parse_number(text)
            if number is None:
                raise self.error(f"expected a number, got '{text}'", name)
            return number
        return text

    def option(self, name: str) -> Any:
        """The value of a declared option."""
        return self._values[name]

    def given(self, name: str) -> bool:
        """Whether the block itself gives the option."""
        return name in self._fields

    def groups(self, name: str) -> list[list[str]]:
        """The value of a list option as groups, separated by semicolons."""
        text = self._node.param_str(name) if self.given(name) else self._declared[name].default
        return [group.split() for group in text.split(";")]

    def directory(self) -> str:
        """Folder of the file that holds the block."""
        return str(Path(str(self._node.filename)).resolve().parent)

    def has_model(self, name: str) -> bool:
        """Whether the file has a model of that name."""
        return name in self._file.names("Models")

    def model(self, name: str, option: str) -> Model:
        """The model of that name."""
        return self.object("Models", name, option)

    def object(self, section: str, name: str, option: str) -> Any:
        """The object of that name in a section."""
        if name not in self._file.names(section):
            if not self._file.names(section):
                raise self.error(f"needs the block '{name}' of [{section}], but the file has no [{section}]", option)
            raise self.unknown(f"block of [{section}]", name, self._file.names(section), option)
        return self._file.build(section, name, self, option)

    def blocks(self, section: str) -> list[str]:
        """Names of the blocks of a section."""
        return self._file.names(section)

    def tensor(self, name: str) -> Any | None:
        """The value of a ``[Tensors]`` entry, or None."""
        if name not in self._file.names("Tensors"):
            return None
        return self._file.build("Tensors", name, self, None).value

    def error(self, message: str, option: str | None = None) -> InputFileError:
        """An error that names file, line, block and option."""
        if option in self._fields and not message.startswith("option "):
            message = f"option '{option}': {message}"
        return InputFileError(f"{self._place(option)}: {message}")

    def unknown(self, what: str, name: str, choices: list[str], option: str | None = None) -> InputFileError:
        """An error about a name that is not one of the choices."""
        message = unknown_name(what, name, choices)
        # An unknown option is itself what the message is about.
        return InputFileError(f"{self._place(name)}: {message}") if what == "option" else self.error(message, option)

    def _place(self, option: str | None) -> str:
        """Location of an option that the block gives, else of the block."""
        if option in self._fields:
            return self._file.location(self._fields[option], f"[{self._section}]/[{self.name}]")
        return self.location
