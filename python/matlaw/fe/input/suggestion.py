"""The closest match for a misspelt name."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def closest(word: str, candidates: Iterable[str]) -> str:
    """A hint to append to an error, or nothing.

    >>> closest("DirichletBc", ["DirichletBC", "Pressure"])
    "; did you mean 'DirichletBC'?"
    """
    by_lower = {candidate.lower(): candidate for candidate in candidates}
    found = get_close_matches(word.lower(), by_lower, n=1, cutoff=0.6)
    return f"; did you mean '{by_lower[found[0]]}'?" if found else ""
