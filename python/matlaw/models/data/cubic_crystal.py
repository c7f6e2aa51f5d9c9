"""Crystals of cubic symmetry."""

from __future__ import annotations

import torch

from matlaw.models.context import Context
from matlaw.models.data.crystal_geometry import CrystalGeometry
from matlaw.models.data.cubic_symmetry import cubic_rotations
from matlaw.models.declaration import Parameter
from matlaw.models.number import parse_number
from matlaw.models.registry import register
from matlaw.tensors import MillerIndex, Scalar, Tensor


@register("CubicCrystal", section="Data")
class CubicCrystal(CrystalGeometry):
    """Slip systems of a cubic crystal (see :class:`CrystalGeometry`).

    * ``lattice_parameter`` (Scalar, length): edge of the unit cell
    * ``slip_directions`` (MillerIndex): one slip direction of each family
    * ``slip_planes`` (MillerIndex): its slip plane
    """

    lattice_parameter = Parameter(Scalar, "edge of the unit cell (length)")
    slip_directions = Parameter(MillerIndex, "slip directions, one of each family")
    slip_planes = Parameter(MillerIndex, "slip planes, one of each family")

    def __init__(self, context: Context) -> None:
        edge = _entry(context, "lattice_parameter", Scalar).data
        if edge.numel() != 1 or not bool(edge > 0.0):
            raise context.error("expected one positive number", "lattice_parameter")
        directions, planes = (
            _entry(context, option, MillerIndex).data.reshape(3, -1).T for option in ("slip_directions", "slip_planes")
        )
        lattice = torch.eye(3, dtype=torch.float64) * edge.reshape(())
        try:
            super().__init__(lattice, cubic_rotations(), directions, planes)
        except ValueError as error:
            raise context.error(str(error), "slip_planes") from error


def _entry(context: Context, option: str, kind: type[Tensor]) -> Tensor:
    """A number, or the value of a ``[Tensors]`` entry."""
    token = context.option(option)
    number = parse_number(token)
    if number is not None and not kind.base_ndim:
        return kind.constant(number)
    value = context.tensor(token)
    if type(value) is not kind:
        found = "no [Tensors] entry" if value is None else type(value).__name__
        raise context.error(f"expected a [Tensors] entry of type {kind.__name__}, '{token}' is {found}", option)
    return value
