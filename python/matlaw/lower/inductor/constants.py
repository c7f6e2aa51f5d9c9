"""Numbers of a law stay out of its compiled graphs.

A package is compiled with markers in place of its floating-point constants, and the numbers are put in afterwards: it
serves all values. A marker is an array of pseudo-random numbers, whose bytes stand exactly
once in the package's library; a package of which that is not true is compiled with the numbers themselves.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from matlaw.lower.inductor.sanitize import rewritten

_HEADER_LENGTH = 8


@dataclass
class Template:
    """A package and where its constants stand.

    :ivar package: the bytes of the ``.pt2``
    :ivar places: per constant that the graph uses its number, and its offset in the package's library
    :ivar complete: False for a package with the numbers compiled in, which has no places
    """

    package: bytes
    places: dict[int, int] = field(default_factory=dict)
    complete: bool = True

    def to_bytes(self) -> bytes:
        """For the cache."""
        header = json.dumps({"places": self.places, "complete": self.complete}, sort_keys=True).encode()
        return len(header).to_bytes(_HEADER_LENGTH, "little") + header + self.package

    @classmethod
    def from_bytes(cls, data: bytes) -> Template:
        """What :meth:`to_bytes` gave."""
        end = _HEADER_LENGTH + int.from_bytes(data[:_HEADER_LENGTH], "little")
        header = json.loads(data[_HEADER_LENGTH:end])
        places = {int(k): at for k, at in header["places"].items()}
        return cls(data[end:], places, header["complete"])

    def filled(self, constants: Sequence[NDArray]) -> bytes:
        """The package with these constants.

        :param constants: all of the graph's, in order
        """
        if not self.places:
            return self.package

        def put(library: bytes) -> bytes:
            changed = bytearray(library)
            for k, at in self.places.items():
                data = np.ascontiguousarray(constants[k]).tobytes()
                changed[at : at + len(data)] = data
            return bytes(changed)

        target = io.BytesIO()
        rewritten(io.BytesIO(self.package), target, lambda name, data: put(data) if name.endswith(".so") else data)
        return target.getvalue()


def marker(k: int, like: NDArray) -> NDArray:
    """What stands for constant number ``k``: numbers between 1 and 2, of the shape and type of the constant.

    >>> a, b, c = marker(0, np.zeros(2)), marker(0, np.ones(2)), marker(1, np.zeros(2))
    >>> bool((a == b).all()), bool((a == c).any())
    (True, False)
    """
    generator = np.random.Generator(np.random.PCG64(7919 * (k + 1)))
    return np.asarray(1.0 + generator.random(like.shape), dtype=like.dtype)


def places_of(package: bytes, used: Sequence[int], constants: Sequence[NDArray]) -> dict[int, int] | None:
    """Where the markers of constants stand in a package's library; ``None`` when one is not there exactly once.

    :param package: the bytes of a ``.pt2`` compiled with markers
    :param used: numbers of the constants that the graph uses
    :param constants: all constants, for their shapes and types
    """
    with zipfile.ZipFile(io.BytesIO(package)) as archive:
        [library] = [archive.read(name) for name in archive.namelist() if name.endswith(".so")]
    found = {}
    for k in used:
        pattern = marker(k, constants[k]).tobytes()
        if library.count(pattern) != 1:
            return None
        found[k] = library.index(pattern)
    return found
