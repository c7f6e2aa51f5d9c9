"""The boundary conditions of the ``[BCs]`` block."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from matlaw.fe.assembly.elements import ElementArrays, Trial
from matlaw.fe.assembly.points import SidePoints, outward
from matlaw.fe.functions.functions import ExpressionFunction, Function, function_from
from matlaw.fe.input.parameters import Parameter, required
from matlaw.fe.input.registry import MooseObject, register
from matlaw.fe.mesh.selection import boundaries_of, side_sets_of

if TYPE_CHECKING:
    from matlaw.fe.problem import Problem

_COMMON: dict[str, Parameter] = {
    "variable": required(),
    "boundary": required("strings"),
    "displacements": Parameter("strings", ignored=True),
}


class BoundaryCondition(MooseObject):
    """A condition on one variable on some boundaries."""

    variable: str

    def link(self, problem: Problem) -> None:
        """Find the variable, the place and the function."""
        variable = self.values["variable"]
        if variable not in problem.unknowns.variables:
            raise self.values.error(f"no such variable; variables: {', '.join(problem.unknowns.names)}", "variable")
        self.variable = variable

    def finite(self, values: np.ndarray, t: float) -> np.ndarray:
        """The values that the condition gives at time ``t``.

        :raises InputFileError: one is NaN or infinite, which no smaller step would cure
        """
        bad = values[~np.isfinite(values)]
        if bad.size:
            raise self.values.error(f"it gives {bad[0]} at time {t:g}", "function")
        return values


class NodalCondition(BoundaryCondition):
    """Prescribes a variable at nodes.

    :ivar dofs: degrees of freedom
    :ivar preset: the value is set before the first iteration of a step (MOOSE's default)
    """

    dofs: np.ndarray
    preset: bool

    def link(self, problem: Problem) -> None:
        """Find the nodes."""
        super().link(problem)
        mesh, unknowns = problem.mesh, problem.unknowns
        nodes = np.unique(np.concatenate([mesh.boundary_nodes(name) for name in boundaries_of(self.values, mesh)]))
        dofs = unknowns.count * nodes + unknowns.number(self.variable)
        present = unknowns.present[dofs]
        self.dofs = dofs[present]
        self._points = mesh.points[nodes[present]]
        self.preset = self.values["preset"]

    def prescribed(self, t: float) -> np.ndarray:
        """Prescribed values, one per node."""
        raise NotImplementedError


@register("BCs", "DirichletBC", "ADDirichletBC")
class DirichletBC(NodalCondition):
    """A constant value."""

    parameters: ClassVar = {**_COMMON, "value": required("real"), "preset": Parameter("bool", True)}

    def prescribed(self, t: float) -> np.ndarray:
        """Prescribed values, one per node."""
        return np.full(len(self.dofs), self.values["value"])


@register("BCs", "FunctionDirichletBC", "ADFunctionDirichletBC")
class FunctionDirichletBC(NodalCondition):
    """A value given by a function."""

    parameters: ClassVar = {**_COMMON, "function": required(), "preset": Parameter("bool", True)}

    def link(self, problem: Problem) -> None:
        """Find the nodes and the function."""
        super().link(problem)
        self._function = function_from(self.values, "function", problem.functions)

    def prescribed(self, t: float) -> np.ndarray:
        """Prescribed values, one per node."""
        return self._function.value(t, self._points)


class LoadCondition(BoundaryCondition):
    """A traction or flux on sides."""

    def link(self, problem: Problem) -> None:
        """Find the sides and the function."""
        super().link(problem)
        self._order = problem.unknowns.variables[self.variable].order
        self._unknowns = problem.unknowns
        inside = problem.unknowns.variables[self.variable].elements
        self._sides = [problem.sides(name, inside) for name in side_sets_of(self.values, problem.mesh)]
        self._function = self._function_of(problem, "function")

    def _function_of(self, problem: Problem, name: str) -> Function | ExpressionFunction | None:
        return function_from(self.values, name, problem.functions) if self.values.get(name) is not None else None

    def at_sides(self, function: Function | ExpressionFunction | None, t: float, sides: SidePoints) -> np.ndarray:
        """A function at the points of the sides; 1 without one."""
        if function is None:
            return np.ones(sides.weights.shape)
        return self.finite(function.value(t, sides.positions.reshape(-1, 3)).reshape(sides.weights.shape), t)

    def flux(self, trial: Trial, sides: SidePoints) -> np.ndarray:
        """What flows in for the variable, ``(n_sides, n_points)``: a traction component, a heat flux."""
        raise NotImplementedError

    def contribute(self, trial: Trial, arrays: ElementArrays) -> None:
        """Add the load to the residuals (with the sign of a load: they are internal less external forces)."""
        for sides in self._sides:
            values = self.finite(self.flux(trial, sides), trial.t)
            local = np.einsum("sq,sqa->sa", values * sides.weights, sides.space(self._order).shape)
            arrays.add_vector(self.variable, sides.elements, -local)


_FUNCTION = {"function": Parameter("string"), "factor": Parameter("real", 1.0)}


@register("BCs", "Pressure", "ADPressure")
class Pressure(LoadCondition):
    """A pressure, positive when it pushes; the part of it in the direction of ``variable``.

    It stays normal to the deformed sides and acts on their area, with the exact derivative, unless
    ``use_displaced_mesh = false``.
    """

    parameters: ClassVar = {
        **_COMMON,
        **_FUNCTION,
        "component": Parameter("int"),
        "use_displaced_mesh": Parameter("bool", True),
    }

    def link(self, problem: Problem) -> None:
        """Find the sides and the function."""
        super().link(problem)
        if problem.mechanics is None or self.variable not in problem.mechanics.displacements:
            raise self.values.error("a pressure acts on displacements only", "variable")
        self.component = problem.mechanics.displacements.index(self.variable)
        if self.values.given("component") and self.values["component"] != self.component:
            raise self.values.error(f"the variable is component {self.component}", "component")
        self._mechanics = problem.mechanics

    def flux(self, trial: Trial, sides: SidePoints) -> np.ndarray:
        """The traction component on the undeformed mesh."""
        pressure = self.values["factor"] * self.at_sides(self._function, trial.t, sides)
        return -pressure * sides.normals[:, :, self.component]

    def contribute(self, trial: Trial, arrays: ElementArrays) -> None:
        """Add the load, on the deformed sides where it follows them."""
        if not self.values["use_displaced_mesh"]:
            super().contribute(trial, arrays)
            return
        for sides in self._sides:
            pressure = self.values["factor"] * self.at_sides(self._function, trial.t, sides)
            self._on_deformed(trial, arrays, sides, pressure * sides.quadrature_weights)

    def _on_deformed(self, trial: Trial, arrays: ElementArrays, sides: SidePoints, pressure: np.ndarray) -> None:
        shape = sides.space(self._order).shape
        tangents, slopes, around = self._mechanics.deformed_sides(sides, trial.u)
        area = outward(tangents)[..., self.component]
        arrays.add_vector(self.variable, sides.elements, np.einsum("sq,sqa->sa", pressure * area * around, shape))
        if not trial.tangent:
            return
        for component, name in enumerate(self._mechanics.displacements):
            slope = self._area_slope(tangents, slopes, component) * around[..., None]
            if sides.radius is not None and component == 0:
                slope = slope + 2.0 * np.pi * area[..., None] * shape
            local = np.einsum("sq,sqa,sqb->sab", pressure, shape, slope, optimize=True)
            arrays.add_matrix(self.variable, name, sides.elements, local)

    def _area_slope(self, tangents: np.ndarray, slopes: np.ndarray, component: int) -> np.ndarray:
        """Derivative of the area vector's component by a displacement component of each node, ``(n, q, m)``."""
        unit = np.eye(3)[component]
        if tangents.shape[-1] == 1:
            turned = np.array([unit[1], -unit[0], 0.0])
            return np.asarray(slopes[..., 0] * turned[self.component])
        first = np.cross(unit, tangents[..., 1])[..., self.component]
        second = np.cross(tangents[..., 0], unit)[..., self.component]
        return np.asarray(slopes[..., 0] * first[..., None] + slopes[..., 1] * second[..., None])


@register("BCs", "NeumannBC", "ADNeumannBC")
class NeumannBC(LoadCondition):
    """A constant traction component or flux."""

    parameters: ClassVar = {**_COMMON, "value": Parameter("real", 0.0)}

    def flux(self, trial: Trial, sides: SidePoints) -> np.ndarray:
        """The value."""
        return np.full(sides.weights.shape, self.values["value"])


@register("BCs", "FunctionNeumannBC", "ADFunctionNeumannBC")
class FunctionNeumannBC(LoadCondition):
    """A traction component or flux given by a function."""

    parameters: ClassVar = {**_COMMON, "function": required()}

    def flux(self, trial: Trial, sides: SidePoints) -> np.ndarray:
        """The function."""
        return self.at_sides(self._function, trial.t, sides)


@register("BCs", "ConvectiveFluxFunction")
class ConvectiveFluxFunction(LoadCondition):
    """Heat that a fluid at ``T_infinity`` takes away: ``coefficient`` times the difference of temperature."""

    parameters: ClassVar = {**_COMMON, "T_infinity": required(), "coefficient": required()}

    def link(self, problem: Problem) -> None:
        """Find the sides and the functions."""
        super().link(problem)
        self._ambient = self._function_of(problem, "T_infinity")
        self._coefficient = self._function_of(problem, "coefficient")

    def flux(self, trial: Trial, sides: SidePoints) -> np.ndarray:
        """The heat that flows in."""
        temperature = sides.space(self._order).at_points(self._unknowns.of(trial.u, self.variable))
        ambient = self.at_sides(self._ambient, trial.t, sides)
        return self.at_sides(self._coefficient, trial.t, sides) * (ambient - temperature)

    def contribute(self, trial: Trial, arrays: ElementArrays) -> None:
        """Add the heat and its derivative."""
        super().contribute(trial, arrays)
        if not trial.tangent:
            return
        for sides in self._sides:
            shape = sides.space(self._order).shape
            weighted = self.at_sides(self._coefficient, trial.t, sides) * sides.weights
            local = np.einsum("sq,sqa,sqb->sab", weighted, shape, shape, optimize=True)
            arrays.add_matrix(self.variable, self.variable, sides.elements, local)
