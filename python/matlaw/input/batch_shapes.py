"""Batch shapes as ``[Settings]/example_batch_shape`` declares them."""

from __future__ import annotations

import re

_SHAPE = re.compile(r"\(([^;()]*)(?:;([^;()]*))?\)")


def parse_batch_shape(text: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Extents of the batch axes and of the sub-batch axes of ``(dynamic; sub)``; either part may be empty.

    :raises ValueError: the text has another form

    >>> parse_batch_shape("(2; 5, 12)"), parse_batch_shape("(2,)"), parse_batch_shape("(; 3)")
    (((2,), (5, 12)), ((2,), ()), ((), (3,)))
    """
    match = _SHAPE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"expected (dynamic; sub-batch), such as '(2; 5)' or '(2,)', got '{text}'")
    return _extents(match.group(1), text), _extents(match.group(2) or "", text)


def _extents(part: str, text: str) -> tuple[int, ...]:
    members = [m.strip() for m in part.split(",")]
    if members[-1] == "":
        members.pop()
    if not all(re.fullmatch(r"[0-9]+", m) and int(m) > 0 for m in members):
        raise ValueError(f"expected positive integers separated by commas, got '{part.strip()}' in '{text}'")
    return tuple(map(int, members))
