"""The boundary conditions of the ``[BCs]`` block."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from matlaw.fe.assembly.discretisation import Discretisation
from matlaw.fe.assembly.sides import SideQuadrature
from matlaw.fe.functions.functions import Function, function_from
from matlaw.fe.input.parameters import Parameter, required
from matlaw.fe.input.registry import MooseObject, register
from matlaw.fe.mesh.selection import boundaries_of, side_sets_of

_COMMON: dict[str, Parameter] = {
    "variable": required(),
    "boundary": required("strings"),
    "displacements": Parameter("strings", ignored=True),
}


class BoundaryCondition(MooseObject):
    """A condition on one displacement component on some boundaries."""

    component: int

    def link(self, variables: list[str], discretisation: Discretisation, functions: dict[str, Function]) -> None:
        """Find the variable, the place and the function."""
        variable = self.values["variable"]
        if variable not in variables:
            raise self.values.error(f"no such variable; variables: {', '.join(variables)}", "variable")
        self.component = variables.index(variable)

    def finite(self, values: np.ndarray, t: float) -> np.ndarray:
        """The values that the condition gives at time ``t``.

        :raises InputFileError: one is NaN or infinite, which no smaller step would cure
        """
        bad = values[~np.isfinite(values)]
        if bad.size:
            raise self.values.error(f"it gives {bad[0]} at time {t:g}", "function")
        return values


class NodalCondition(BoundaryCondition):
    """Prescribes a displacement component at nodes.

    :ivar nodes: node numbers
    :ivar preset: the value is set before the first iteration of a step (MOOSE's default)
    """

    nodes: np.ndarray
    preset: bool

    def link(self, variables: list[str], discretisation: Discretisation, functions: dict[str, Function]) -> None:
        """Find the nodes."""
        super().link(variables, discretisation, functions)
        mesh = discretisation.mesh
        self.nodes = np.unique(np.concatenate([mesh.boundary_nodes(name) for name in boundaries_of(self.values, mesh)]))
        self._points = mesh.points[self.nodes]
        self.preset = self.values["preset"]

    def displacement(self, t: float) -> np.ndarray:
        """Prescribed values, one per node."""
        raise NotImplementedError


@register("BCs", "DirichletBC")
class DirichletBC(NodalCondition):
    """A constant displacement component."""

    parameters: ClassVar = {**_COMMON, "value": required("real"), "preset": Parameter("bool", True)}

    def displacement(self, t: float) -> np.ndarray:
        """Prescribed values, one per node."""
        return np.full(len(self.nodes), self.values["value"])


@register("BCs", "FunctionDirichletBC")
class FunctionDirichletBC(NodalCondition):
    """A displacement component given by a function."""

    parameters: ClassVar = {**_COMMON, "function": required(), "preset": Parameter("bool", True)}

    def link(self, variables: list[str], discretisation: Discretisation, functions: dict[str, Function]) -> None:
        """Find the nodes and the function."""
        super().link(variables, discretisation, functions)
        self._function = function_from(self.values, "function", functions)

    def displacement(self, t: float) -> np.ndarray:
        """Prescribed values, one per node."""
        return self._function.value(t, self._points)


class LoadCondition(BoundaryCondition):
    """A traction on sides of the undeformed mesh."""

    def link(self, variables: list[str], discretisation: Discretisation, functions: dict[str, Function]) -> None:
        """Find the sides and the function."""
        super().link(variables, discretisation, functions)
        self._sides = [SideQuadrature(discretisation, name) for name in side_sets_of(self.values, discretisation.mesh)]
        self._function = (
            function_from(self.values, "function", functions) if self.values.get("function") is not None else None
        )
        self.n_dofs = discretisation.n_dofs

    def traction(self, t: float, sides: SideQuadrature) -> np.ndarray:
        """Traction in the direction of the variable, ``(n_sides, n_points)``."""
        raise NotImplementedError

    def function_value(self, t: float, sides: SideQuadrature) -> np.ndarray:
        """The function at the points of the sides; 1 without one."""
        if self._function is None:
            return np.ones(sides.weights.shape)
        return self._function.value(t, sides.points.reshape(-1, 3)).reshape(sides.weights.shape)

    def force(self, t: float) -> np.ndarray:
        """External nodal forces, ``(n_dofs,)``."""
        total = np.zeros(self.n_dofs)
        for sides in self._sides:
            total += sides.nodal_force(self.finite(self.traction(t, sides), t), self.component)
        return total


@register("BCs", "Pressure")
class Pressure(LoadCondition):
    """A pressure, positive when it pushes; the part of it in the direction of ``variable``."""

    parameters: ClassVar = {
        **_COMMON,
        "factor": Parameter("real", 1.0),
        "function": Parameter("string"),
        "component": Parameter("int"),
        "use_displaced_mesh": Parameter("bool", False, check=(lambda value: not value, "false (small strain)")),
    }

    def link(self, variables: list[str], discretisation: Discretisation, functions: dict[str, Function]) -> None:
        """Find the sides and the function."""
        super().link(variables, discretisation, functions)
        if self.values.given("component") and self.values["component"] != self.component:
            raise self.values.error(f"the variable is component {self.component}", "component")

    def traction(self, t: float, sides: SideQuadrature) -> np.ndarray:
        """Traction in the direction of the variable, ``(n_sides, n_points)``."""
        return -self.values["factor"] * self.function_value(t, sides) * sides.normals[:, :, self.component]


@register("BCs", "NeumannBC")
class NeumannBC(LoadCondition):
    """A constant traction component."""

    parameters: ClassVar = {**_COMMON, "value": Parameter("real", 0.0)}

    def traction(self, t: float, sides: SideQuadrature) -> np.ndarray:
        """Traction in the direction of the variable, ``(n_sides, n_points)``."""
        return np.full(sides.weights.shape, self.values["value"])


@register("BCs", "FunctionNeumannBC")
class FunctionNeumannBC(LoadCondition):
    """A traction component given by a function."""

    parameters: ClassVar = {**_COMMON, "function": required()}

    def traction(self, t: float, sides: SideQuadrature) -> np.ndarray:
        """Traction in the direction of the variable, ``(n_sides, n_points)``."""
        return self.function_value(t, sides)
