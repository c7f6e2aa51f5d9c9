"""Other names at the boundary of an artifact: ``boundary_aliases`` in metadata.json."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from matlaw.errors import CompileError
from matlaw.input.suggestion import unknown_name

#: The kinds of names, as in metadata.json, and the option that renames one.
OPTIONS: Final = {"inputs": "--rename-input", "outputs": "--rename-output", "parameters": "--rename-parameter"}


@dataclass(frozen=True)
class BoundaryAliases:
    """Which names a caller sees instead of the original ones.

    :ivar maps: by kind (``inputs``, ``outputs``, ``parameters``) the new name by the original one

    >>> aliases = BoundaryAliases({"inputs": {"strain": "eps"}})
    >>> aliases.reported("inputs", "strain"), aliases.original("inputs", "eps")
    ('eps', 'strain')
    >>> aliases.reported("outputs", "strain")
    'strain'
    """

    maps: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def reported(self, kind: str, original: str) -> str:
        """The name that a caller sees."""
        return self.maps.get(kind, {}).get(original, original)

    def original(self, kind: str, reported: str) -> str:
        """The name inside the artifact of what a caller calls ``reported``.

        An original name that was renamed is no name at the boundary any more.

        :raises KeyError: such a name
        """
        by_new = {new: old for old, new in self.maps.get(kind, {}).items()}
        if reported in by_new:
            return by_new[reported]
        if reported in self.maps.get(kind, {}):
            raise KeyError(reported)
        return reported

    def entry(self) -> dict[str, dict[str, str]]:
        """What metadata.json holds; empty without aliases."""
        found = {kind: dict(self.maps.get(kind, {})) for kind in OPTIONS}
        return found if any(found.values()) else {}

    @classmethod
    def of_metadata(cls, entries: Mapping[str, Any]) -> BoundaryAliases:
        """What a metadata.json says."""
        return cls(entries.get("boundary_aliases") or {})


def requested_aliases(
    requests: Mapping[str, Sequence[str]], names: Mapping[str, Iterable[str]], fixed: Iterable[str] = ()
) -> BoundaryAliases:
    """The aliases that ``--rename-...`` options stand for.

    :param requests: by kind, ``OLD=NEW``
    :param names: by kind, the original names at the boundary
    :param fixed: parameters that are not promoted, for messages
    :raises CompileError: malformed, an unknown or twice renamed name, or a clash
    """
    maps: dict[str, dict[str, str]] = {}
    for kind, option in OPTIONS.items():
        known = list(names[kind])
        maps[kind] = {}
        for request in requests.get(kind, ()):
            old, equals, new = (part.strip() for part in request.partition("="))
            if not equals or not old or not re.fullmatch(r"[^\s=':]+", new):
                raise CompileError(f"{option} {request}: expected OLD=NEW, for instance {_example(known)}")
            if old not in known:
                if kind == "parameters" and old in fixed:
                    raise CompileError(f"{option} {request}: '{old}' is a fixed parameter; promote it with -p {old}")
                raise CompileError(f"{option} {request}: {unknown_name(kind.removesuffix('s'), old, known)}")
            if maps[kind].get(old, new) != new:
                raise CompileError(f"{option} {request}: '{old}' is renamed to '{maps[kind][old]}' already")
            maps[kind][old] = new
    found = BoundaryAliases({kind: {old: new for old, new in m.items() if old != new} for kind, m in maps.items()})
    _refuse_clashes(found, names, ("inputs", "outputs"))
    _refuse_clashes(found, names, ("parameters",))
    return found


def _example(known: Sequence[str]) -> str:
    return f"{known[0] if known else 'strain'}=new_name"


def _refuse_clashes(aliases: BoundaryAliases, names: Mapping[str, Iterable[str]], kinds: Sequence[str]) -> None:
    everything = [(kind, name) for kind in kinds for name in names[kind]]
    for kind, old in everything:
        new = aliases.reported(kind, old)
        if new == old:
            continue
        for other_kind, other in everything:
            if (other_kind, other) != (kind, old) and aliases.reported(other_kind, other) == new:
                raise CompileError(
                    f"{OPTIONS[kind]} {old}={new}: there is the {other_kind.removesuffix('s')} '{new}' already"
                    + (f" (originally '{other}')" if other != new else "")
                    + "; choose another name"
                )
