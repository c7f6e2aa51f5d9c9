"""Declared parameters of an input object: kind, default, and conversion of the text."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from matlaw.errors import InputFileError
from matlaw.fe.input.tree import Block, Field
from matlaw.input.suggestion import closest


def _real(text: str) -> float:
    value = float(text)
    if math.isnan(value):
        raise ValueError
    return value


def _integer(text: str) -> int:
    value = float(text)
    if not value.is_integer():
        raise ValueError
    return int(value)


def _boolean(text: str) -> bool:
    if text.lower() in ("true", "on", "yes", "1"):
        return True
    if text.lower() in ("false", "off", "no", "0"):
        return False
    raise ValueError


#: kind -> (conversion, what was expected)
KINDS: dict[str, tuple[Callable[[str], Any], str]] = {
    "real": (_real, "a number"),
    "int": (_integer, "a whole number"),
    "bool": (_boolean, "true or false"),
    "string": (str, "text"),
    "reals": (lambda text: [_real(word) for word in text.split()], "numbers"),
    "ints": (lambda text: [_integer(word) for word in text.split()], "whole numbers"),
    "strings": (str.split, "words"),
}


@dataclass(frozen=True)
class Parameter:
    """One parameter that an object understands.

    :ivar kind: a key of :data:`KINDS`
    :ivar default: its value when the input does not give one; None: not set
    :ivar choices: the words allowed (compared without case)
    :ivar check: condition on the value, with its wording
    :ivar ignored: accepted because it changes nothing here (as a choice of parallel linear solver)
    """

    kind: str = "real"
    default: Any = None
    required: bool = False
    choices: tuple[str, ...] = ()
    check: tuple[Callable[[Any], bool], str] | None = None
    ignored: bool = False

    def read(self, item: Field) -> Any:
        """The value of a field.

        :raises InputFileError: the text is not of this kind, not a choice, or out of range
        """
        convert, expected = KINDS[self.kind]
        if self.required and not item.value.strip():
            raise item.error(f"{item.name} is empty: expected {expected}")
        try:
            value = convert(item.value.strip())
        except ValueError:
            raise item.error(f"{item.name} = '{item.value}': expected {expected}") from None
        if self.choices:
            for word in value if isinstance(value, list) else [value]:
                if word.lower() not in (choice.lower() for choice in self.choices):
                    raise item.error(
                        f"{item.name} = '{word}' is not one of: {', '.join(self.choices)}{closest(word, self.choices)}"
                    )
        if self.check is not None and not self.check[0](value):
            raise item.error(f"{item.name} = '{item.value}': must be {self.check[1]}")
        return value


def required(kind: str = "string") -> Parameter:
    """A parameter that must be given."""
    return Parameter(kind, required=True)


class Values(Mapping[str, Any]):
    """The parameters of one object, with defaults filled in.

    :param block: where they stand in the input
    """

    def __init__(self, block: Block, declared: Mapping[str, Parameter], shared: Block | None = None) -> None:
        self.block = block
        self.declared = declared
        self._fields: dict[str, Field] = {}
        self._values: dict[str, Any] = {}
        for name, parameter in declared.items():
            item = block.fields.get(name)
            if item is None and shared is not None:
                item = shared.fields.get(name)
            if item is not None:
                self._fields[name] = item
                self._values[name] = parameter.read(item)
            elif parameter.required:
                raise block.error(f"the parameter '{name}' is missing")
            else:
                self._values[name] = parameter.default

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Any:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def given(self, name: str) -> bool:
        """True when the input gives this parameter."""
        return name in self._fields

    def field(self, name: str) -> Field | None:
        """Where the parameter stands, when it was given."""
        return self._fields.get(name)

    def error(self, message: str, name: str | None = None) -> InputFileError:
        """An error that names the parameter (or the block) and where it stands."""
        item = self._fields.get(name) if name is not None else None
        if item is not None:
            return item.error(f"[{self.block.path}] {name} = '{item.value}': {message}")
        return self.block.error(message)
