"""Auxiliary kernels: element averages of material properties."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from matlaw.fe.auxiliary.invariants import SCALARS, component
from matlaw.fe.input.parameters import Parameter, required
from matlaw.fe.input.registry import MooseObject, register

if TYPE_CHECKING:
    from matlaw.fe.problem import Problem

_COMMON: dict[str, Parameter] = {
    "variable": required(),
    "block": Parameter("strings"),
    "execute_on": Parameter("strings", ["LINEAR", "TIMESTEP_END"], ignored=True),
}


class AuxKernel(MooseObject):
    """Fills an element variable at the end of every step."""

    def check(self, problem: Problem) -> None:
        """Refuse a property that no law has."""
        raise NotImplementedError

    def point_values(self, problem: Problem) -> np.ndarray:
        """Values at quadrature points, ``(n_elements, n_points)``."""
        raise NotImplementedError


class _OfTensor(AuxKernel):
    def check(self, problem: Problem) -> None:
        """Refuse a tensor that the model does not have."""
        known = problem.tensor_names()
        if self.values["rank_two_tensor"] not in known:
            raise self.values.error(f"no such tensor; there are: {', '.join(known)}", "rank_two_tensor")


@register("AuxKernels", "RankTwoAux")
class RankTwoAux(_OfTensor):
    """A component of a tensor."""

    parameters: ClassVar = {
        **_COMMON,
        "rank_two_tensor": required(),
        "index_i": Parameter("int", required=True, check=(lambda value: 0 <= value <= 2, "0, 1 or 2")),
        "index_j": Parameter("int", required=True, check=(lambda value: 0 <= value <= 2, "0, 1 or 2")),
    }

    def point_values(self, problem: Problem) -> np.ndarray:
        """Values at quadrature points, ``(n_elements, n_points)``."""
        tensor = problem.tensor(self.values["rank_two_tensor"])
        return component(tensor, self.values["index_i"], self.values["index_j"])


@register("AuxKernels", "RankTwoScalarAux")
class RankTwoScalarAux(_OfTensor):
    """A scalar of a tensor."""

    parameters: ClassVar = {
        **_COMMON,
        "rank_two_tensor": required(),
        "scalar_type": Parameter("string", "VonMisesStress", choices=tuple(SCALARS)),
    }

    def point_values(self, problem: Problem) -> np.ndarray:
        """Values at quadrature points, ``(n_elements, n_points)``."""
        wanted = self.values["scalar_type"].lower()
        scalar = next(function for name, function in SCALARS.items() if name.lower() == wanted)
        return scalar(problem.tensor(self.values["rank_two_tensor"]))


@register("AuxKernels", "MaterialRealAux")
class MaterialRealAux(AuxKernel):
    """A scalar output of the law."""

    parameters: ClassVar = {
        **_COMMON,
        "property": required(),
        "factor": Parameter("real", 1.0),
        "offset": Parameter("real", 0.0),
    }

    def check(self, problem: Problem) -> None:
        """Refuse a property that no law has."""
        known = problem.scalar_names()
        if self.values["property"] not in known:
            raise self.values.error(
                f"no law has a scalar output of this name; there are: {', '.join(known) or 'none'}", "property"
            )

    def point_values(self, problem: Problem) -> np.ndarray:
        """Values at quadrature points, ``(n_elements, n_points)``."""
        return self.values["factor"] * problem.scalar(self.values["property"]) + self.values["offset"]
