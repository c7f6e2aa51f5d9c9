"""The types that an input file may name, by section."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

C = TypeVar("C", bound=type)

_types: dict[str, dict[str, type]] = {}


def register(name: str, section: str = "Models") -> Callable[[C], C]:
    """Class decorator: lets an input file name the class.

    :param name: what the ``type`` option holds
    :param section: the section in which it may appear
    :raises ValueError: when another class has that name
    """

    def decorate(cls: C) -> C:
        known = _types.setdefault(section, {}).get(name)
        if known is not None and (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
            raise ValueError(
                f"type {name!r} of section [{section}] is registered twice: by {known.__module__}.{known.__qualname__} "
                f"and by {cls.__module__}.{cls.__qualname__}"
            )
        _types[section][name] = cls
        cls.type_name = name  # type: ignore[attr-defined]
        return cls

    return decorate


def registered(section: str) -> dict[str, type]:
    """Classes of a section by name."""
    return dict(_types.get(section, {}))


def sections_of(name: str) -> list[str]:
    """Sections in which a type is registered."""
    return [section for section, types in _types.items() if name in types]
