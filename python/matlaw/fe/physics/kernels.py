"""The ``[Kernels]``: terms of the equations of one variable."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from matlaw.fe.assembly.elements import ElementArrays, Trial
from matlaw.fe.assembly.points import VolumePoints
from matlaw.fe.functions.functions import function_from
from matlaw.fe.input.parameters import Parameter, Values, required
from matlaw.fe.input.registry import MooseObject, register

if TYPE_CHECKING:
    from matlaw.fe.problem import Problem

_COMMON: dict[str, Parameter] = {
    "variable": required(),
    "block": Parameter("strings"),
    "save_in": Parameter("strings", []),
    "use_displaced_mesh": Parameter("bool", False, check=(lambda value: not value, "false (the undeformed mesh)")),
}


#: parameters that name material properties
PROPERTIES = (
    *("diffusivity", "diffusion_coefficient", "thermal_conductivity", "specific_heat", "density_name", "density"),
    "material_property",
)


class Kernel(MooseObject):
    """A term of the equations of a variable.

    :ivar elements: where it is
    """

    elements: np.ndarray

    def link(self, problem: Problem) -> None:
        """Find the variable and the elements."""
        name = self.values["variable"]
        if name not in problem.unknowns.variables:
            raise self.values.error(f"no such variable; variables: {', '.join(problem.unknowns.names)}", "variable")
        self.variable = str(name)
        inside = np.isin(problem.elements_of(self.values), problem.unknowns.variables[name].elements)
        self.elements = problem.elements_of(self.values)[inside]

    def used_properties(self) -> list[str]:
        """Its parameters that name material properties."""
        names = [name for name in PROPERTIES if self.values.get(name) is not None]
        return [name for name in names if name != "thermal_conductivity" or "diffusion_coefficient" not in names]


class ScalarKernel(Kernel):
    """A kernel that is not a part of the balance of momentum of a law."""

    parameters: ClassVar = _COMMON

    def link(self, problem: Problem) -> None:
        """Find the shape functions."""
        super().link(problem)
        self.problem = problem
        self._displaced = bool(self.values["use_displaced_mesh"]) and problem.mechanics is not None
        self.place(problem.points)

    def place(self, points: VolumePoints) -> None:
        """Take the mesh that the term is on."""
        self.space = points.space(self.problem.unknowns.variables[self.variable].order)
        self.weights = points.weights[self.elements]

    def follow(self, trial: Trial) -> None:
        """Take the deformed mesh of a trial state where ``use_displaced_mesh`` says so.

        As in MOOSE the derivative by the displacements is left out.
        """
        if self._displaced:
            self.place(self.problem.displaced(trial.u))

    def contribute(self, trial: Trial, arrays: ElementArrays) -> None:
        """Add the term at a trial state."""
        raise NotImplementedError

    def _values(self, vector: np.ndarray) -> np.ndarray:
        """The variable at the points, ``(n, n_points)``."""
        return self.space.at_points(self.problem.unknowns.of(vector, self.variable))[self.elements]

    def _gradient(self, vector: np.ndarray) -> np.ndarray:
        return self.space.gradient(self.problem.unknowns.of(vector, self.variable))[self.elements]

    def _shape(self) -> np.ndarray:
        """``(n, n_points, m)``."""
        shape = self.space.shape
        return np.broadcast_to(shape, (len(self.elements), *shape.shape[1:]))

    def _property(self, name: str, trial: Trial) -> np.ndarray:
        """A material property at the points, ``(n, n_points)``."""
        return self.problem.properties.value(self.values[name], trial.t)[self.elements]

    def _slopes(self, name: str) -> dict[str, np.ndarray]:
        """Derivatives of a property by variables, ``(n, n_points)`` each."""
        slopes = self.problem.properties.slopes(self.values[name])
        return {variable: slope[self.elements] for variable, slope in slopes.items()}

    def _add_mass(self, arrays: ElementArrays, by: str, factor: np.ndarray) -> None:
        r"""Add :math:`\int w f\, \delta v`, the derivative of a term :math:`\int w g(v)`."""
        other = self.problem.points.space(self.problem.unknowns.variables[by].order).shape
        local = np.einsum(
            "eq,eqa,eqb->eab",
            factor * self.weights,
            self._shape(),
            np.broadcast_to(other, (len(self.elements), *other.shape[1:])),
        )
        arrays.add_matrix(self.variable, by, self.elements, local)

    def _add_source(self, arrays: ElementArrays, values: np.ndarray) -> None:
        r"""Add :math:`\int w f`."""
        arrays.add_vector(self.variable, self.elements, np.einsum("eq,eqa->ea", values * self.weights, self._shape()))


_DISPLACED = {"use_displaced_mesh": Parameter("bool", True)}


class _Diffusive(ScalarKernel):
    """The term with the gradients of the variable and of the test function."""

    def _coefficient(self, trial: Trial) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        raise NotImplementedError

    def contribute(self, trial: Trial, arrays: ElementArrays) -> None:
        """Add the term at a trial state."""
        coefficient, slopes = self._coefficient(trial)
        weighted = coefficient * self.weights
        gradients, gradient = self.space.gradients[self.elements], self._gradient(trial.u)
        flux = np.einsum("eqai,eqi->eqa", gradients, gradient)
        arrays.add_vector(self.variable, self.elements, np.einsum("eq,eqa->ea", weighted, flux))
        if trial.tangent:
            local = np.einsum("eqai,eqbi->eab", weighted[..., None, None] * gradients, gradients, optimize=True)
            arrays.add_matrix(self.variable, self.variable, self.elements, local)
            for by, slope in slopes.items():
                shape = self.problem.points.space(self.problem.unknowns.variables[by].order).shape
                shape = np.broadcast_to(shape, (len(self.elements), *shape.shape[1:]))
                local = np.einsum("eq,eqa,eqb->eab", slope * self.weights, flux, shape, optimize=True)
                arrays.add_matrix(self.variable, by, self.elements, local)


@register("Kernels", "Diffusion", "ADDiffusion")
class Diffusion(_Diffusive):
    """The Laplacian, with a coefficient of 1."""

    def _coefficient(self, trial: Trial) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        return np.ones(self.weights.shape), {}


@register("Kernels", "MatDiffusion", "ADMatDiffusion")
class MatDiffusion(_Diffusive):
    """Diffusion with a material property as coefficient."""

    parameters: ClassVar = {**_COMMON, "diffusivity": Parameter("string", "D")}

    def _coefficient(self, trial: Trial) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        return self._property("diffusivity", trial), self._slopes("diffusivity")


@register("Kernels", "HeatConduction", "ADHeatConduction")
class HeatConduction(_Diffusive):
    """Fourier's law, on the deformed mesh unless ``use_displaced_mesh = false``."""

    parameters: ClassVar = {
        **_COMMON,
        **_DISPLACED,
        "thermal_conductivity": Parameter("string", "thermal_conductivity"),
        "diffusion_coefficient": Parameter("string"),  # its name in MOOSE of 2021
    }

    def _coefficient(self, trial: Trial) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        name = "diffusion_coefficient" if self.values.given("diffusion_coefficient") else "thermal_conductivity"
        return self._property(name, trial), self._slopes(name)


class _Rate(ScalarKernel):
    """The time derivative of the variable, by implicit Euler, times a coefficient."""

    def _coefficient(self, trial: Trial) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        raise NotImplementedError

    def contribute(self, trial: Trial, arrays: ElementArrays) -> None:
        """Add the term at a trial state."""
        coefficient, slopes = self._coefficient(trial)
        rate = self._values(trial.u - trial.old) / trial.dt
        self._add_source(arrays, coefficient * rate)
        if trial.tangent:
            self._add_mass(arrays, self.variable, coefficient / trial.dt)
            for by, slope in slopes.items():
                self._add_mass(arrays, by, slope * rate)


@register("Kernels", "TimeDerivative", "ADTimeDerivative")
class TimeDerivative(_Rate):
    """The rate of the variable."""

    def _coefficient(self, trial: Trial) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        return np.ones(self.weights.shape), {}


@register("Kernels", "HeatConductionTimeDerivative", "ADHeatConductionTimeDerivative")
class HeatConductionTimeDerivative(_Rate):
    """Heat stored: density times specific heat times the rate of the temperature."""

    parameters: ClassVar = {
        **_COMMON,
        **_DISPLACED,
        "specific_heat": Parameter("string", "specific_heat"),
        "density_name": Parameter("string", "density"),
    }

    def _coefficient(self, trial: Trial) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        heat, density = self._property("specific_heat", trial), self._property("density_name", trial)
        slopes = {by: slope * density for by, slope in self._slopes("specific_heat").items()}
        for by, slope in self._slopes("density_name").items():
            slopes[by] = slopes.get(by, 0.0) + slope * heat
        return heat * density, slopes


@register("Kernels", "BodyForce", "ADBodyForce", "HeatSource")
class BodyForce(ScalarKernel):
    """A source: ``value`` times ``function``."""

    parameters: ClassVar = {**_COMMON, "value": Parameter("real", 1.0), "function": Parameter("string", "1")}

    def link(self, problem: Problem) -> None:
        """Find the function."""
        super().link(problem)
        self._function = function_from(self.values, "function", problem.functions)
        self._positions = problem.points.positions[self.elements]

    def contribute(self, trial: Trial, arrays: ElementArrays) -> None:
        """Add the term at a trial state."""
        values = self._function.value(trial.t, self._positions.reshape(-1, 3)).reshape(self.weights.shape)
        if not np.all(np.isfinite(values)):
            raise self.values.error(f"the source is not finite at time {trial.t:g}", "function")
        self._add_source(arrays, -self.values["value"] * values)


@register("Kernels", "Gravity", "ADGravity")
class Gravity(ScalarKernel):
    """Weight: density times ``value``."""

    parameters: ClassVar = {
        **_COMMON,
        **_DISPLACED,
        "value": required("real"),
        "density": Parameter("string", "density"),
    }

    def contribute(self, trial: Trial, arrays: ElementArrays) -> None:
        """Add the term at a trial state."""
        self._add_source(arrays, -self.values["value"] * self._property("density", trial))


@register("Kernels", "MatBodyForce", "ADMatBodyForce")
class MatBodyForce(ScalarKernel):
    """A source that is a material property times ``value`` and ``function``."""

    parameters: ClassVar = {
        **_COMMON,
        "material_property": required(),
        "value": Parameter("real", 1.0),
        "function": Parameter("string", "1"),
    }

    def link(self, problem: Problem) -> None:
        """Find the function."""
        super().link(problem)
        self._function = function_from(self.values, "function", problem.functions)
        self._positions = problem.points.positions[self.elements]

    def contribute(self, trial: Trial, arrays: ElementArrays) -> None:
        """Add the term at a trial state."""
        factor = -self.values["value"] * self._function.value(trial.t, self._positions.reshape(-1, 3))
        factor = factor.reshape(self.weights.shape)
        self._add_source(arrays, factor * self._property("material_property", trial))
        if trial.tangent:
            for by, slope in self._slopes("material_property").items():
                self._add_mass(arrays, by, factor * slope)


class StressDivergence(Kernel):
    """Divergence of the stress, tested with one displacement component.

    :cvar axisymmetric: for coord_type = RZ
    """

    axisymmetric: ClassVar[bool] = False


_STRESS = {
    **_COMMON,
    "component": required("int"),
    "displacements": Parameter("strings", required=True),
    "volumetric_locking_correction": Parameter("bool", False),
    "temperature": Parameter("string", ignored=True),
}


@register("Kernels", "StressDivergenceTensors", "ADStressDivergenceTensors")
class StressDivergenceTensors(StressDivergence):
    """Divergence of the stress at small strain."""

    parameters: ClassVar = _STRESS


@register("Kernels", "StressDivergenceRZTensors", "ADStressDivergenceRZTensors")
class StressDivergenceRZTensors(StressDivergence):
    """Divergence of the stress at small strain, with coord_type = RZ; needs ``use_displaced_mesh = false``."""

    parameters: ClassVar = {**_STRESS, "use_displaced_mesh": Parameter("bool", True)}
    axisymmetric = True

    def __init__(self, values: Values) -> None:
        super().__init__(values)
        if values["use_displaced_mesh"]:
            raise values.error(
                "set use_displaced_mesh = false; the deformed mesh, MOOSE's default here, is not available"
            )


_LAGRANGIAN = {
    **_COMMON,
    "component": required("int"),
    "displacements": Parameter("strings", required=True),
    "large_kinematics": Parameter("bool", False),
    "stabilize_strain": Parameter("bool", False, check=(lambda value: not value, "false (MOOSE has F-bar)")),
}


@register("Kernels", "TotalLagrangianStressDivergence")
class TotalLagrangianStressDivergence(StressDivergence):
    """Divergence of the first Piola-Kirchhoff stress on the undeformed mesh."""

    parameters: ClassVar = _LAGRANGIAN


@register("Kernels", "TotalLagrangianStressDivergenceAxisymmetricCylindrical")
class TotalLagrangianStressDivergenceRZ(StressDivergence):
    """The same with coord_type = RZ."""

    parameters: ClassVar = _LAGRANGIAN
    axisymmetric = True
