"""A variable and its value at the previous accepted step."""

from __future__ import annotations

from typing import NamedTuple


class StatePair(NamedTuple):
    """What a host has to carry from one accepted step to the next.

    :ivar current: variable of this step
    :ivar old: input that holds its value at the previous accepted step
    :ivar role: ``state``: the output ``current`` feeds ``old``; ``force``: the host's own input ``current`` does
    :ivar initial: value of ``old`` before the first step, the components of ``(*sub_batch, *base)`` row by row
    """

    current: str
    old: str
    role: str
    initial: tuple[float, ...] = ()
