"""Kernels: the balance of momentum, one component each."""

from __future__ import annotations

from typing import ClassVar

from matlaw.fe.input.parameters import Parameter, required
from matlaw.fe.input.registry import MooseObject, register


@register("Kernels", "StressDivergenceTensors")
class StressDivergenceTensors(MooseObject):
    """Divergence of the stress, tested with one displacement component."""

    parameters: ClassVar = {
        "variable": required(),
        "component": required("int"),
        "displacements": Parameter("strings", required=True),
        "block": Parameter("strings"),
        "save_in": Parameter("strings", []),
        "volumetric_locking_correction": Parameter("bool", False),
        "use_displaced_mesh": Parameter("bool", False, check=(lambda value: not value, "false (small strain)")),
    }
