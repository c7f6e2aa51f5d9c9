"""Messages about names that are not known."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


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
    """
    known = sorted(choices)
    return f"unknown {what} '{name}'{closest(name, known) or '.'} Known: {', '.join(known) or 'none'}"
