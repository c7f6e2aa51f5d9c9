"""The objects that an input file can ask for, by block and type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar

from matlaw.fe.input.moose import also_parameter, also_type
from matlaw.fe.input.parameters import Parameter, Values
from matlaw.fe.input.tree import Block
from matlaw.input.suggestion import closest


class MooseObject:
    """Base of everything that a ``[block]`` with ``type = ...`` makes.

    :cvar parameters: what it understands besides ``type``
    :ivar name: name of its block
    :ivar values: its parameters
    """

    parameters: ClassVar[Mapping[str, Parameter]] = {}

    def __init__(self, values: Values) -> None:
        self.values = values
        self.name = values.block.name


T = TypeVar("T", bound=type[MooseObject])

_OBJECTS: dict[str, dict[str, type[MooseObject]]] = {}


def register(system: str, *names: str) -> Callable[[T], T]:
    """Make a class available as ``type = name`` in the blocks of a system (``BCs``, ``Functions`` ...)."""

    def decorate(cls: T) -> T:
        for name in names:
            _OBJECTS.setdefault(system, {})[name] = cls
        return cls

    return decorate


def types_of(system: str) -> list[str]:
    """Type names available in a system."""
    return sorted(_OBJECTS.get(system, {}))


def lookup(system: str, block: Block, default: str | None = None) -> type[MooseObject]:
    """The class that a block asks for.

    :raises InputFileError: no type, or one that is not available here
    """
    item = block.fields.get("type")
    if item is None and default is None:
        raise block.error(f"no type given; available in [{system}]: {', '.join(types_of(system))}")
    name = item.value.strip() if item is not None else str(default)
    known = _OBJECTS.get(system, {})
    if name in known:
        return known[name]
    where = item if item is not None else block
    raise where.error(
        f"[{block.path}] type = '{name}' is not available{also_type(system, name)}; available in [{system}]: "
        f"{', '.join(types_of(system))}{closest(name, known)}"
    )


def check_fields(block: Block, declared: Mapping[str, Parameter], what: str, extra: tuple[str, ...] = ()) -> None:
    """Refuse every field of a block that is not declared.

    :raises InputFileError: names the field, the closest match, and whether MOOSE has it
    """
    for name, item in block.fields.items():
        if name == "type" or name in declared or name in extra:
            continue
        also = also_parameter(what, name)
        raise item.error(
            f"[{block.path}] {what} has no parameter '{name}'{also}; it has: "
            f"{', '.join(sorted({*declared, *extra})) or 'none'}{closest(name, declared)}"
        )


def create(system: str, block: Block, shared: Block | None = None, default: str | None = None) -> Any:
    """The object that a block asks for, its parameters checked.

    :param system: ``BCs``, ``Functions`` ...
    :param shared: the ``[GlobalParams]`` block
    :param default: type when none is given
    """
    cls = lookup(system, block, default)
    check_fields(block, cls.parameters, block.text("type", default or ""))
    return cls(Values(block, cls.parameters, shared))
