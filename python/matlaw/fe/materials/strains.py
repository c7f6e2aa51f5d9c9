"""Strain calculators of the ``[Materials]`` block."""

from __future__ import annotations

from typing import ClassVar

from matlaw.fe.input.parameters import Parameter
from matlaw.fe.input.registry import MooseObject, register

_COMMON: dict[str, Parameter] = {
    "displacements": Parameter("strings", required=True),
    "block": Parameter("strings"),
}


class StrainMaterial(MooseObject):
    """Says how the strain of some blocks is computed."""

    @property
    def large(self) -> bool:
        """The law gets the whole deformation gradient."""
        return bool(self.values.get("large_kinematics", False))

    @property
    def locking(self) -> bool:
        """The volumetric strain is that of the element's mean."""
        return bool(self.values.get("volumetric_locking_correction", False))


@register(
    "Materials",
    *("ComputeSmallStrain", "ComputeIncrementalSmallStrain", "ComputeIncrementalStrain", "ComputePlaneSmallStrain"),
    *("ComputePlaneIncrementalStrain", "ComputeAxisymmetricRZSmallStrain", "ComputeAxisymmetricRZIncrementalStrain"),
    "ADComputeSmallStrain",
)
class ComputeSmallStrain(StrainMaterial):
    """Small strain from the displacements; plane strain in two dimensions, axisymmetric with coord_type = RZ.

    A law in ``[Matlaw]`` takes the total strain, so the incremental variants give the same.
    """

    parameters: ClassVar = {**_COMMON, "volumetric_locking_correction": Parameter("bool", False)}


@register("Materials", "ComputeLagrangianStrain", "ComputeLagrangianStrainAxisymmetricCylindrical")
class ComputeLagrangianStrain(StrainMaterial):
    """The deformation gradient, or without ``large_kinematics`` the small strain, on the undeformed mesh."""

    parameters: ClassVar = {
        **_COMMON,
        "large_kinematics": Parameter("bool", False),
        "stabilize_strain": Parameter("bool", False, check=(lambda value: not value, "false (MOOSE has F-bar)")),
    }
