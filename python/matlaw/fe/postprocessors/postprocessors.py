"""The postprocessors of the ``[Postprocessors]`` block."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from matlaw.fe.assembly.points import SidePoints, outward
from matlaw.fe.auxiliary.invariants import matrix
from matlaw.fe.functions.functions import function_from
from matlaw.fe.input.parameters import Parameter, required
from matlaw.fe.input.registry import MooseObject, register
from matlaw.fe.law import LawPoints
from matlaw.fe.mesh.locate import locate
from matlaw.fe.mesh.selection import side_sets_of
from matlaw.fe.physics import finite_strain
from matlaw.fe.physics.mechanics import Response, law_input

if TYPE_CHECKING:
    from matlaw.fe.problem import Problem

_COMMON: dict[str, Parameter] = {
    "execute_on": Parameter("strings", ["TIMESTEP_END"]),
    "outputs": Parameter("strings", []),
}


class Postprocessor(MooseObject):
    """A number; zero before the first step, as in MOOSE, unless ``execute_on`` has INITIAL."""

    def link(self, problem: Problem) -> None:
        """Find what it needs.

        :raises InputFileError: it is not there
        """

    def prepare(self, problem: Problem, t: float) -> None:
        """Called on a converged step before it is accepted.

        :raises LawFailedError: a law that it needs failed; the step is rejected
        """

    def commit(self) -> None:
        """The step was accepted."""

    def revert(self) -> None:
        """The step was rejected."""

    def value(self, problem: Problem) -> float:
        """Its value on the accepted step."""
        raise NotImplementedError

    def save(self) -> list[bytes]:
        """State that has to survive a restart."""
        return []

    def restore(self, saved: list[bytes]) -> None:
        """Take back what :meth:`save` returned."""

    @property
    def written(self) -> bool:
        """It appears in the result files, which ``outputs = none`` prevents."""
        return self.values["outputs"] != ["none"]

    @property
    def at_start(self) -> bool:
        """It is evaluated before the first step as well."""
        return "INITIAL" in (word.upper() for word in self.values["execute_on"])


class _OfVariable(Postprocessor):
    def link(self, problem: Problem) -> None:
        """Find the variable."""
        known = [*problem.unknowns.names, *problem.auxiliary]
        name = self.values["variable"]
        if name not in known:
            raise self.values.error(f"no such variable; there are: {', '.join(known)}", "variable")


class _Elemental(_OfVariable):
    def link(self, problem: Problem) -> None:
        """Find the variable and the blocks."""
        super().link(problem)
        self._elements = problem.elements_of(self.values)

    def points(self, problem: Problem) -> np.ndarray:
        """Values of the variable at quadrature points, ``(n_elements, n_points)``."""
        return problem.field_at(problem.points, self.values["variable"], problem.u)


@register("Postprocessors", "ElementAverageValue")
class ElementAverageValue(_Elemental):
    """Mean of a variable over the volume."""

    parameters: ClassVar = {**_COMMON, "variable": required(), "block": Parameter("strings")}

    def value(self, problem: Problem) -> float:
        """The mean."""
        weights = problem.points.weights[self._elements]
        return float((self.points(problem)[self._elements] * weights).sum() / weights.sum())


@register("Postprocessors", "ElementIntegralVariablePostprocessor")
class ElementIntegralVariablePostprocessor(_Elemental):
    """Integral of a variable over the volume."""

    parameters: ClassVar = {**_COMMON, "variable": required(), "block": Parameter("strings")}

    def value(self, problem: Problem) -> float:
        """The integral."""
        weights = problem.points.weights[self._elements]
        return float((self.points(problem)[self._elements] * weights).sum())


@register("Postprocessors", "ElementExtremeValue")
class ElementExtremeValue(_Elemental):
    """Largest or smallest value of a variable at quadrature points; ``max_abs``: the farthest from 0, with its sign."""

    parameters: ClassVar = {
        **_COMMON,
        "variable": required(),
        "block": Parameter("strings"),
        "value_type": Parameter("string", "max", choices=("max", "min", "max_abs")),
    }

    def value(self, problem: Problem) -> float:
        """The extreme value."""
        points = self.points(problem)[self._elements]
        kind = self.values["value_type"].lower()
        if kind == "max_abs":
            return float(points.flat[np.abs(points).argmax()])
        return float(points.max() if kind == "max" else points.min())


class _Nodal(_OfVariable):
    def link(self, problem: Problem) -> None:
        """Find the variable and the nodes."""
        super().link(problem)
        name = self.values["variable"]
        if name in problem.auxiliary and not problem.auxiliary[name].nodal:
            raise self.values.error("this is an element variable; a nodal one is needed", "variable")
        self._nodes = problem.nodes_of(self.values)

    def nodal_values(self, problem: Problem) -> np.ndarray:
        """Values at the nodes of the boundary (or at all)."""
        return problem.nodal_field(self.values["variable"])[self._nodes]


@register("Postprocessors", "NodalSum")
class NodalSum(_Nodal):
    """Sum of a nodal variable over a boundary: of a residual saved with ``save_in``, the reaction force."""

    parameters: ClassVar = {**_COMMON, "variable": required(), "boundary": Parameter("strings")}

    def value(self, problem: Problem) -> float:
        """The sum."""
        return float(self.nodal_values(problem).sum())


@register("Postprocessors", "AverageNodalVariableValue")
class AverageNodalVariableValue(_Nodal):
    """Mean of a nodal variable over the nodes of a boundary."""

    parameters: ClassVar = {**_COMMON, "variable": required(), "boundary": Parameter("strings")}

    def value(self, problem: Problem) -> float:
        """The mean."""
        return float(self.nodal_values(problem).mean())


@register("Postprocessors", "NodalExtremeValue")
class NodalExtremeValue(_Nodal):
    """Largest or smallest nodal value on a boundary."""

    parameters: ClassVar = {
        **_COMMON,
        "variable": required(),
        "boundary": Parameter("strings"),
        "value_type": Parameter("string", "max", choices=("max", "min")),
    }

    def value(self, problem: Problem) -> float:
        """The extreme value."""
        values = self.nodal_values(problem)
        return float(values.max() if self.values["value_type"].lower() == "max" else values.min())


@register("Postprocessors", "TimestepSize")
class TimestepSize(Postprocessor):
    """The time step."""

    parameters: ClassVar = dict(_COMMON)

    def value(self, problem: Problem) -> float:
        """The time step."""
        return problem.dt


@register("Postprocessors", "NumNonlinearIterations")
class NumNonlinearIterations(Postprocessor):
    """Newton iterations of the step."""

    parameters: ClassVar = dict(_COMMON)

    def value(self, problem: Problem) -> float:
        """The number."""
        return float(problem.newton_iterations)


@register("Postprocessors", "NumFailedTimeSteps")
class NumFailedTimeSteps(Postprocessor):
    """Attempts at a step that failed so far."""

    parameters: ClassVar = dict(_COMMON)

    def value(self, problem: Problem) -> float:
        """The number."""
        return float(problem.failed_steps)


@register("Postprocessors", "NumLinearIterations")
class NumLinearIterations(Postprocessor):
    """Linear iterations of the step; one per Newton iteration with the direct solver."""

    parameters: ClassVar = dict(_COMMON)

    def value(self, problem: Problem) -> float:
        """The number."""
        return float(problem.linear_iterations)


@register("Postprocessors", "FunctionValuePostprocessor")
class FunctionValuePostprocessor(Postprocessor):
    """A function at a point."""

    parameters: ClassVar = {
        **_COMMON,
        "function": required(),
        "point": Parameter("reals", [0.0, 0.0, 0.0]),
        "scale_factor": Parameter("real", 1.0),
    }

    def link(self, problem: Problem) -> None:
        """Find the function."""
        self._function = function_from(self.values, "function", problem.functions)

    def value(self, problem: Problem) -> float:
        """The value."""
        point = np.array([self.values["point"]], float)
        return float(self.values["scale_factor"] * self._function.value(problem.time, point)[0])


@register("Postprocessors", "NodalVariableValue")
class NodalVariableValue(_OfVariable):
    """A nodal variable at a node."""

    parameters: ClassVar = {
        **_COMMON,
        "variable": required(),
        "nodeid": required("int"),
        "scale_factor": Parameter("real", 1.0),
    }

    def value(self, problem: Problem) -> float:
        """The value."""
        node = self.values["nodeid"]
        if not 0 <= node < problem.mesh.n_nodes:
            raise self.values.error(f"the mesh has the nodes 0 to {problem.mesh.n_nodes - 1}", "nodeid")
        return float(self.values["scale_factor"] * problem.nodal_field(self.values["variable"])[node])


@register("Postprocessors", "PointValue")
class PointValue(_OfVariable):
    """A variable at a point, from the element that holds it."""

    parameters: ClassVar = {**_COMMON, "variable": required(), "point": required("reals")}

    def link(self, problem: Problem) -> None:
        """Find the variable and the element."""
        super().link(problem)
        point = np.array([*self.values["point"], 0.0, 0.0][:3], float)
        found = locate(problem.mesh, point)
        if found is None:
            raise self.values.error("no element holds this point", "point")
        self._element, self._place = found

    def value(self, problem: Problem) -> float:
        """The value."""
        name = self.values["variable"]
        if name in problem.auxiliary and not problem.auxiliary[name].nodal:
            return float(problem.auxiliary[name].values[self._element])
        shape, _ = problem.mesh.type.shape(self._place[None])
        return float(shape[0] @ problem.nodal_field(name)[problem.mesh.elements[self._element]])


class _OnSides(_OfVariable):
    """Integrals of a variable over side sets."""

    def link(self, problem: Problem) -> None:
        """Find the variable and the sides."""
        super().link(problem)
        self._sides = [problem.sides(name) for name in side_sets_of(self.values, problem.mesh)]

    def integrals(self, problem: Problem) -> tuple[float, float]:
        """Integral of the variable, and area."""
        name = self.values["variable"]
        total = sum(float((problem.field_at(sides, name, problem.u) * sides.weights).sum()) for sides in self._sides)
        return total, sum(float(sides.weights.sum()) for sides in self._sides)


@register("Postprocessors", "SideAverageValue")
class SideAverageValue(_OnSides):
    """Mean of a variable over side sets."""

    parameters: ClassVar = {**_COMMON, "variable": required(), "boundary": required("strings")}

    def value(self, problem: Problem) -> float:
        """The mean."""
        total, area = self.integrals(problem)
        return total / area


@register("Postprocessors", "SideIntegralVariablePostprocessor")
class SideIntegralVariablePostprocessor(_OnSides):
    """Integral of a variable over side sets."""

    parameters: ClassVar = {**_COMMON, "variable": required(), "boundary": required("strings")}

    def value(self, problem: Problem) -> float:
        """The integral."""
        return self.integrals(problem)[0]


@register("Postprocessors", "ElementL2Error")
class ElementL2Error(_Elemental):
    """Norm of the difference between a variable and a function, over the volume."""

    parameters: ClassVar = {**_COMMON, "variable": required(), "function": required(), "block": Parameter("strings")}

    def link(self, problem: Problem) -> None:
        """Find the variable and the function."""
        super().link(problem)
        self._function = function_from(self.values, "function", problem.functions)

    def value(self, problem: Problem) -> float:
        """The norm."""
        positions = problem.points.positions.reshape(-1, 3)
        exact = self._function.value(problem.time, positions).reshape(problem.points.weights.shape)
        error = (self.points(problem) - exact)[self._elements] ** 2
        return float(np.sqrt((error * problem.points.weights[self._elements]).sum()))


@register("Postprocessors", "MatlawTimeStepLimit")
class MatlawTimeStepLimit(Postprocessor):
    """The largest next time step that laws suggest: for ``timestep_limiting_postprocessor`` of IterationAdaptiveDT."""

    parameters: ClassVar = {**_COMMON, "laws": required("strings")}

    def link(self, problem: Problem) -> None:
        """Find the laws."""
        self._laws = []
        for name in self.values["laws"]:
            own = [points for points in problem.laws if points.law.name == name]
            if not own:
                known = ", ".join(points.law.name for points in problem.laws) or "none"
                raise self.values.error(f"no entry '{name}' of [Matlaw]; there are: {known}", "laws")
            self._laws += own

    def value(self, problem: Problem) -> float:
        """The limit; the largest number where no law wants a smaller step."""
        factor = min(points.dt_factor for points in self._laws)
        return factor * problem.dt if factor < 1.0 else float(np.finfo(float).max)


@register("Postprocessors", "SidesetReaction")
class SidesetReaction(Postprocessor):
    """Force that a side set carries in one direction: the integral of the stress over its sides.

    As in MOOSE the law is evaluated on the sides, where it has quadrature points of its own, with their own state, and
    the sides are those of the deformed mesh unless ``use_displaced_mesh = false``.
    """

    parameters: ClassVar = {
        **_COMMON,
        "boundary": required("strings"),
        "direction": required("reals"),
        "stress_tensor": required(),
        "use_displaced_mesh": Parameter("bool", True),
    }

    def link(self, problem: Problem) -> None:
        """Find the sides, and set up the law there."""
        if len(self.values["direction"]) != 3:
            raise self.values.error("expected three numbers", "direction")
        if self.values["stress_tensor"] != "stress":
            raise self.values.error("the stress tensor is called stress", "stress_tensor")
        self._direction = np.array(self.values["direction"])
        self._mechanics = problem.mechanics
        if self._mechanics is None:
            raise self.values.error("there is no balance of momentum")
        self._patches: list[tuple[SidePoints, list[tuple[np.ndarray, LawPoints]]]] = []
        self._force: float | None = None
        for name in side_sets_of(self.values, problem.mesh):
            sides = problem.sides(name)
            laws = []
            for points in problem.laws:
                chosen = np.flatnonzero(np.isin(sides.elements, points.elements))
                if len(chosen) and points.law.stress:
                    count = len(chosen) * sides.n_points
                    laws.append((chosen, LawPoints(points.law, count, problem.start_time)))
            self._patches.append((sides, laws))

    def prepare(self, problem: Problem, t: float) -> None:
        """Evaluate the law on the sides, and integrate."""
        assert self._mechanics is not None
        total = 0.0
        for sides, laws in self._patches:
            driving = self._mechanics.driving_on(sides, problem.u)
            area = sides.normals * sides.weights[..., None]
            if self.values["use_displaced_mesh"]:
                tangents, _, around = self._mechanics.deformed_sides(sides, problem.u)
                area = outward(tangents) * (around * sides.quadrature_weights)[..., None]
            for chosen, points in laws:
                law = points.law
                local = np.ascontiguousarray(driving[chosen]).reshape(-1, driving.shape[-1])
                inputs, parameters = problem.sourced(law, sides, chosen, problem.u, t)
                points.set_parameters(parameters)
                points.evaluate({**inputs, law.strain: law_input(points, local)}, t, tangent=False)
                stress = Response(points, local, [], False).stress
                if law.large:
                    stress = finite_strain.cauchy(stress.reshape(-1, 3, 3), local.reshape(-1, 3, 3))
                whole = matrix(stress).reshape(len(chosen), -1, 3, 3)
                total += float(np.einsum("sqi,sqij,j->", area[chosen], whole, self._direction))
        self._force = total

    def commit(self) -> None:
        """Accept the state on the sides."""
        for _, laws in self._patches:
            for _, points in laws:
                points.commit()

    def revert(self) -> None:
        """Reject the state on the sides."""
        for _, laws in self._patches:
            for _, points in laws:
                points.revert()

    def save(self) -> list[bytes]:
        """The old state on the sides."""
        return [points.save() for _, laws in self._patches for _, points in laws]

    def restore(self, saved: list[bytes]) -> None:
        """Take back what :meth:`save` returned."""
        every = [points for _, laws in self._patches for _, points in laws]
        for points, state in zip(every, saved, strict=True):
            points.restore(state)

    def value(self, problem: Problem) -> float:
        """The force; zero before the first step."""
        return 0.0 if self._force is None else self._force
