"""Messages about names that are not known."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Final

#: More names than these are not listed in full, unless none of them is alike; and more than these never.
_LISTED: Final = 30
_MOST: Final = 100


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
    alike = sorted(difflib.get_close_matches(name, known, n=5)) or _of_same_words(name, known)
    if not alike and len(known) <= _MOST:
        return f"{message} Known: {', '.join(known)}"
    return f"{message} Alike, of {len(known)}: {', '.join(alike) or 'none'}"


def _of_same_words(name: str, choices: Iterable[str], most: int = 5) -> list[str]:
    """Names that share words with another, those that share most first.

    >>> _of_same_words("SurrogateFlowRate", ["PerzynaPlasticFlowRate", "YieldFunction", "ElasticStrainRate"])
    ['PerzynaPlasticFlowRate', 'ElasticStrainRate']
    """
    wanted = _words(name)
    shared = sorted((-len(wanted & _words(choice)), choice) for choice in choices)
    return [choice for count, choice in shared[:most] if count]


def _words(name: str) -> set[str]:
    """The words of a name such as ``LinearIsotropicElasticity`` or ``mixed_control``."""
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)}
