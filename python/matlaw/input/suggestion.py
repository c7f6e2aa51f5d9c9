"""Messages about names that are not known."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Final

#: More names than these are not listed in full.
_LISTED: Final = 30


def closest(name: str, choices: Iterable[str]) -> str:
    """A hint to append to an error: the name that was probably meant, or nothing.

    >>> closest("DirichletBc", ["DirichletBC", "Pressure"])
    "; did you mean 'DirichletBC'?"
    """
    lower = {choice.lower(): choice for choice in choices}
    found = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=0.6)
    return f"; did you mean '{lower[found[0]]}'?" if found else ""


def unknown_name(what: str, name: str, choices: Iterable[str]) -> str:
    """Says that a name is not known, what the names are, and which one was probably meant.

    >>> unknown_name("option", "wieghts", ["weights", "from"])
    "unknown option 'wieghts'; did you mean 'weights'? Known: from, weights"

    Of many names those that are alike are listed.

    >>> unknown_name("word", "aaaaa", [n * letter for letter in "abcdefghijk" for n in (4, 8, 12)])
    "unknown word 'aaaaa'; did you mean 'aaaa'? Alike, of 33: aaaa, aaaaaaaa"
    """
    known = sorted(choices)
    message = f"unknown {what} '{name}'{closest(name, known) or '.'}"
    if len(known) <= _LISTED:
        return f"{message} Known: {', '.join(known) or 'none'}"
    alike = sorted(difflib.get_close_matches(name, known, n=5))
    return f"{message} {f'Alike, of {len(known)}' if alike else 'Known'}: {', '.join(alike or known)}"
