"""Words that are likely to be one word, misspelt."""

from __future__ import annotations

import re
from typing import Final

#: Shorter words differ by a letter on purpose (``xx``, ``xy``).
_SHORTEST: Final = 4


def look_alike(a: str, b: str) -> bool:
    """Whether one name is likely to be a misspelling of the other.

    They differ in one letter, two letters that changed places, an underscore or in case. What tells variables apart on
    purpose is no misspelling: another first letter, a plural, a number or an index, the ``~1`` of an old value.

    >>> look_alike("strian", "strain"), look_alike("plastic_strain", "plasticstrain"), look_alike("Stress", "stress")
    (True, True, True)
    >>> look_alike("elastic_strain", "plastic_strain"), look_alike("back_stress_a", "back_stress_b")
    (False, False)
    >>> look_alike("strain~1", "strain"), look_alike("strains", "strain"), look_alike("gamma1", "gamma2")
    (False, False, False)
    """
    a, b = a.partition("~")[0], b.partition("~")[0]
    one, other = re.split("[_/.]", a), re.split("[_/.]", b)
    if len(one) != len(other):
        return "".join(one) == "".join(other) and min(map(len, one + other)) >= _SHORTEST
    differing = [pair for pair in zip(one, other, strict=True) if pair[0] != pair[1]]
    return len(differing) == 1 and _misspelt(*differing[0])


def _misspelt(a: str, b: str) -> bool:
    """One edit apart, where that is no other word on purpose."""
    short, long = sorted((a.lower(), b.lower()), key=len)
    if len(short) < _SHORTEST or short[0] != long[0] or long == short + "s":
        return False
    if short == long:
        return True
    at = next((i for i, (x, y) in enumerate(zip(short, long, strict=False)) if x != y), len(short))
    if len(long) == len(short):
        swapped = short[at + 1 : at + 2] + short[at : at + 1] == long[at : at + 2] and short[at + 2 :] == long[at + 2 :]
        replaced = short[at + 1 :] == long[at + 1 :] and not (short[at] + long[at]).isdigit()
        return swapped or replaced
    return len(long) == len(short) + 1 and short[at:] == long[at + 1 :] and not long[at].isdigit()
