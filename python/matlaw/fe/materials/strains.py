"""Strain calculators of the ``[Materials]`` block."""

from __future__ import annotations

from typing import ClassVar

from matlaw.fe.input.parameters import Parameter
from matlaw.fe.input.registry import MooseObject, register


@register("Materials", "ComputeSmallStrain", "ComputeIncrementalSmallStrain")
class ComputeSmallStrain(MooseObject):
    """Small strain from the displacements.

    A law in ``[Matlaw]`` takes the total strain, so the incremental variant gives the same.
    """

    parameters: ClassVar = {
        "displacements": Parameter("strings", required=True),
        "block": Parameter("strings"),
        "volumetric_locking_correction": Parameter("bool", False),
    }
