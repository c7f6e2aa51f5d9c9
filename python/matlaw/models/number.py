"""Numbers as an input file writes them."""

from __future__ import annotations

import re

#: What was meant as a number: digits with signs, points, commas, underscores and exponents.
_ALMOST = re.compile(r"[+-]?\.?\d[\d.,_]*([eEdD][+-]?[\d.,_]*)?")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def parse_number(text: str) -> float | None:
    """The number that a text holds, or None when it is something else (``nan`` and ``inf`` are names).

    >>> parse_number("1e-3"), parse_number("1_000"), parse_number("inf")
    (0.001, None, None)
    """
    return float(text) if _NUMBER.fullmatch(text) else None


def looks_like_number(text: str) -> bool:
    """Whether a text was meant as a number, though it may be none.

    >>> looks_like_number("1,000"), looks_like_number("1.5d3"), looks_like_number("2nd_stress")
    (True, True, False)
    """
    return _ALMOST.fullmatch(text) is not None
