"""Slip systems of a crystal."""

from __future__ import annotations

import torch

from matlaw.tensors import R2, SR2, WR2

#: Two directions whose normalised product is smaller are at right angles; two that differ by less are the same.
_SAME = 1e-6


class CrystalGeometry:
    r"""All slip systems that the symmetry of a crystal makes of some.

    A slip system is a direction :math:`d` and a plane with normal :math:`n` at right angles to it, both of unit length.
    Opposite directions and opposite normals count once. Source: U. F. Kocks, C. N. Tome, H.-R. Wenk, Texture and
    Anisotropy, Cambridge 1998, chapter 8.

    :param lattice: lattice vectors, one a row, ``(3, 3)`` (length)
    :param symmetry: rotations that map the crystal to itself, ``(n, 3, 3)``
    :param directions: Miller indices of slip directions, ``(m, 3)``
    :param planes: Miller indices of slip planes, ``(m, 3)``; plane i slips along the equivalents of direction i
    :raises ValueError: directions and planes are not of the same number, one is zero, or none are at right angles

    :ivar directions: unit slip directions, ``(slip, 3)``
    :ivar planes: unit normals of the slip planes, ``(slip, 3)``
    :ivar burgers: lengths of the Burgers vectors, ``(slip,)`` (length)
    :ivar A: :math:`d \otimes n`, sub-batch ``(slip,)``
    :ivar M: its symmetric part, the Schmid tensors
    :ivar W: its skew part
    """

    def __init__(
        self, lattice: torch.Tensor, symmetry: torch.Tensor, directions: torch.Tensor, planes: torch.Tensor
    ) -> None:
        if directions.shape != planes.shape:
            raise ValueError(
                f"expected as many slip directions as slip planes, got {directions.shape[0]} and {planes.shape[0]}"
            )
        reciprocal = torch.linalg.inv(lattice).T
        found: list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]] = []
        for direction, plane in zip(directions @ lattice, planes @ reciprocal, strict=True):
            burgers = torch.linalg.norm(direction)
            if not bool(burgers > 0.0) or not bool(torch.linalg.norm(plane) > 0.0):
                raise ValueError("a slip direction or a slip plane is zero")
            family = [
                (d, n, burgers)
                for d in _equivalents(direction / burgers, symmetry)
                for n in _equivalents(plane / torch.linalg.norm(plane), symmetry)
                if abs(float(d @ n)) < _SAME
            ]
            if not family:
                raise ValueError("no equivalent of a slip direction lies in an equivalent of its slip plane")
            found += family
        self.directions, self.planes, self.burgers = (torch.stack(part) for part in zip(*found, strict=True))
        A = torch.einsum("si,sj->ijs", self.directions, self.planes).unsqueeze(-1)
        self.A = R2(A.contiguous(), 1)
        self.M: SR2 = self.A.to_SR2()
        self.W: WR2 = WR2.from_R2(self.A)

    @property
    def count(self) -> int:
        """Number of slip systems."""
        return self.directions.shape[0]


def _equivalents(vector: torch.Tensor, symmetry: torch.Tensor) -> list[torch.Tensor]:
    """The images of a unit vector under the rotations, each once, in their order."""
    found: list[torch.Tensor] = []
    for image in symmetry @ vector:
        if all(abs(float(image @ other)) < 1.0 - _SAME for other in found):
            found.append(image)
    return found
