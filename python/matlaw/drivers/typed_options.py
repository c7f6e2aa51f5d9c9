"""Options that come once for every tensor type, as ``prescribed_SR2_names`` and ``prescribed_SR2_values``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from matlaw.models.context import Context
from matlaw.models.declaration import Declaration, Option

C = TypeVar("C", bound=type)


def typed_options(kinds: Sequence[str], prefixes: Sequence[str], doc: str) -> Callable[[C], C]:
    """Class decorator: declares ``<prefix>_<kind>_names`` and ``<prefix>_<kind>_values`` for every kind.

    :param kinds: names of tensor types
    :param prefixes: such as ``prescribed``; an empty one gives ``<kind>_names``
    :param doc: what the values are, ``{prefix}`` standing for the prefix
    """

    def decorate(cls: C) -> C:
        for kind in kinds:
            for prefix in prefixes:
                stem = f"{prefix}_{kind}" if prefix else kind
                what = doc.format(prefix=prefix)
                _declare(cls, f"{stem}_names", Option("list", f"variables of type {kind}: {what}", required=False))
                _declare(cls, f"{stem}_values", Option("list", f"numbers or [Tensors] entries: {what}", required=False))
        return cls

    return decorate


def _declare(cls: type, name: str, declaration: Declaration) -> None:
    setattr(cls, name, declaration)
    declaration.__set_name__(cls, name)


def typed_pairs(context: Context, kinds: Sequence[str], prefix: str) -> list[tuple[str, str, str, str]]:
    """Kind, variable, token of the value, and option of the values, for everything that is given.

    :raises InputFileError: the two lists differ in length, or a variable is given twice
    """
    found: list[tuple[str, str, str, str]] = []
    seen: set[str] = set()
    for kind in kinds:
        stem = f"{prefix}_{kind}" if prefix else kind
        names, values = context.option(f"{stem}_names"), context.option(f"{stem}_values")
        if len(names) != len(values):
            raise context.error(
                f"expected as many values as names: {stem}_names has {len(names)}, {stem}_values has {len(values)}",
                f"{stem}_values" if values else f"{stem}_names",
            )
        for name, token in zip(names, values, strict=True):
            if name in seen:
                raise context.error(f"'{name}' is given twice", f"{stem}_names")
            seen.add(name)
            found.append((kind, name, token, f"{stem}_values"))
    return found
