"""Messages about names that are not known."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def unknown_name(what: str, name: str, choices: Iterable[str]) -> str:
    """Says that a name is not known, what the names are, and which one was probably meant.

    >>> unknown_name("option", "wieghts", ["weights", "from"])
    "unknown option 'wieghts'; did you mean 'weights'? Known: from, weights"
    """
    known = sorted(choices)
    lower = {k.lower(): k for k in known}
    close = difflib.get_close_matches(name.lower(), list(lower), n=1, cutoff=0.5)
    hint = f"; did you mean '{lower[close[0]]}'?" if close else "."
    return f"unknown {what} '{name}'{hint} Known: {', '.join(known) or 'none'}"
