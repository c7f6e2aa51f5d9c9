"""The proper rotations of a cube."""

from __future__ import annotations

import torch

#: Images of the axes (x, y, z) under each: thirds of a turn about the diagonals, halves about the edges, halves
#: about the diagonals of faces and quarters about the edges. The order numbers the slip systems.
_IMAGES = """
+x+y+z +z+x+y +y+z+x -y+z-x -y-z+x +y-z-x -z+x-y -z-x+y +z-x-y -x+y-z -x-y+z +x-y-z
-z-y-x +z-y+x +z+y-x -z+y+x -x-z-y +x-z+y +x+z-y -x+z+y -y-x-z +y-x+z +y+x-z -y+x+z
""".split()


def cubic_rotations() -> torch.Tensor:
    """The 24 rotations of the group 432, ``(24, 3, 3)``.

    >>> float(torch.linalg.det(cubic_rotations()).min())
    1.0
    """
    found = torch.zeros(len(_IMAGES), 3, 3, dtype=torch.float64)
    for k, image in enumerate(_IMAGES):
        for row in range(3):
            sign, axis = image[2 * row], image[2 * row + 1]
            found[k, row, "xyz".index(axis)] = 1.0 if sign == "+" else -1.0
    return found
