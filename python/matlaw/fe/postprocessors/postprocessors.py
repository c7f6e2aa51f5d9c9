"""The postprocessors of the ``[Postprocessors]`` block."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from matlaw.fe.assembly.sides import SideQuadrature
from matlaw.fe.input.parameters import Parameter, required
from matlaw.fe.input.registry import MooseObject, register
from matlaw.fe.law import LawPoints
from matlaw.fe.mesh.selection import side_sets_of

if TYPE_CHECKING:
    from matlaw.fe.problem import Problem

_COMMON: dict[str, Parameter] = {
    "execute_on": Parameter("strings", ["TIMESTEP_END"], ignored=True),
    "outputs": Parameter("strings", ignored=True),
}


class Postprocessor(MooseObject):
    """A number; zero before the first step, as in MOOSE."""

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


class _OfVariable(Postprocessor):
    def link(self, problem: Problem) -> None:
        """Find the variable."""
        known = [*problem.variables, *problem.auxiliary]
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
        discretisation = problem.discretisation
        name = self.values["variable"]
        if name in problem.auxiliary and not problem.auxiliary[name].nodal:
            return np.broadcast_to(problem.auxiliary[name].values[:, None], discretisation.weights.shape)
        return discretisation.at_points(problem.nodal_field(name))


@register("Postprocessors", "ElementAverageValue")
class ElementAverageValue(_Elemental):
    """Mean of a variable over the volume."""

    parameters: ClassVar = {**_COMMON, "variable": required(), "block": Parameter("strings")}

    def value(self, problem: Problem) -> float:
        """The mean."""
        weights = problem.discretisation.weights[self._elements]
        return float((self.points(problem)[self._elements] * weights).sum() / weights.sum())


@register("Postprocessors", "ElementIntegralVariablePostprocessor")
class ElementIntegralVariablePostprocessor(_Elemental):
    """Integral of a variable over the volume."""

    parameters: ClassVar = {**_COMMON, "variable": required(), "block": Parameter("strings")}

    def value(self, problem: Problem) -> float:
        """The integral."""
        weights = problem.discretisation.weights[self._elements]
        return float((self.points(problem)[self._elements] * weights).sum())


@register("Postprocessors", "ElementExtremeValue")
class ElementExtremeValue(_Elemental):
    """Largest or smallest value of a variable at the quadrature points."""

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
            return float(np.abs(points).max())
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


@register("Postprocessors", "SidesetReaction")
class SidesetReaction(Postprocessor):
    """Force that a side set carries in one direction: the integral of the stress over its sides.

    As in MOOSE the law is evaluated on the sides, where it has quadrature points of its own, with their own state.
    """

    parameters: ClassVar = {
        **_COMMON,
        "boundary": required("strings"),
        "direction": required("reals"),
        "stress_tensor": required(),
        "use_displaced_mesh": Parameter("bool", False, ignored=True),
    }

    def link(self, problem: Problem) -> None:
        """Find the sides, and set up the law there."""
        if len(self.values["direction"]) != 3:
            raise self.values.error("expected three numbers", "direction")
        if self.values["stress_tensor"] != "stress":
            raise self.values.error("the stress tensor is called stress", "stress_tensor")
        self._direction = np.array(self.values["direction"])
        self._patches: list[tuple[SideQuadrature, list[tuple[np.ndarray, LawPoints]]]] = []
        for name in side_sets_of(self.values, problem.mesh):
            sides = SideQuadrature(problem.discretisation, name)
            laws = []
            for points in problem.laws:
                chosen = np.flatnonzero(np.isin(sides.elements, points.elements))
                if len(chosen):
                    count = len(chosen) * sides.weights.shape[1]
                    laws.append((chosen, LawPoints(points.law, count, problem.start_time)))
            self._patches.append((sides, laws))

    def prepare(self, problem: Problem, t: float) -> None:
        """Evaluate the law on the sides."""
        for sides, laws in self._patches:
            strain = sides.strain(problem.u)
            for chosen, points in laws:
                points.evaluate(strain[chosen].reshape(-1, 6), t, tangent=False)

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

    def value(self, problem: Problem) -> float:
        """The force."""
        from matlaw.fe.auxiliary.invariants import matrix

        total = 0.0
        for sides, laws in self._patches:
            for chosen, points in laws:
                stress = matrix(points.stress().reshape(len(chosen), -1, 6))
                traction = np.einsum("sqi,sqij,j->sq", sides.normals[chosen], stress, self._direction)
                total += float((traction * sides.weights[chosen]).sum())
        return total
