"""Numbers as an input file writes them."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def parse_number(text: str) -> float | None:
    """The number that a text holds, or None when it is something else (``nan`` and ``inf`` are names).

    >>> parse_number("1e-3"), parse_number("1_000"), parse_number("inf")
    (0.001, None, None)
    """
    return float(text) if _NUMBER.fullmatch(text) else None
