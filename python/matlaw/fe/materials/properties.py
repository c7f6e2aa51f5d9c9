"""Scalar material properties: constants, functions, and outputs of laws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from matlaw.fe.assembly.points import SidePoints, VolumePoints
from matlaw.fe.functions.functions import function_from_text
from matlaw.fe.input.parameters import Parameter, required
from matlaw.fe.input.registry import MooseObject, register
from matlaw.input.suggestion import closest

if TYPE_CHECKING:
    from matlaw.fe.problem import Problem


class PropertyMaterial(MooseObject):
    """Gives properties on some blocks."""

    def link(self, problem: Problem) -> dict[str, Any]:
        """The function of each property that it gives."""
        raise NotImplementedError


@register("Materials", "GenericConstantMaterial", "ADGenericConstantMaterial")
class GenericConstantMaterial(PropertyMaterial):
    """Properties that are numbers."""

    parameters: ClassVar = {
        "prop_names": required("strings"),
        "prop_values": required("reals"),
        "block": Parameter("strings"),
    }

    def link(self, problem: Problem) -> dict[str, Any]:
        """The function of each property that it gives."""
        return _paired(self, problem, [repr(value) for value in self.values["prop_values"]])


@register("Materials", "GenericFunctionMaterial", "ADGenericFunctionMaterial")
class GenericFunctionMaterial(PropertyMaterial):
    """Properties that are functions of time and place."""

    parameters: ClassVar = {
        "prop_names": required("strings"),
        "prop_values": required("strings"),
        "block": Parameter("strings"),
    }

    def link(self, problem: Problem) -> dict[str, Any]:
        """The function of each property that it gives."""
        return _paired(self, problem, self.values["prop_values"])


@register("Materials", "HeatConductionMaterial", "ADHeatConductionMaterial")
class HeatConductionMaterial(PropertyMaterial):
    """Thermal conductivity and specific heat."""

    parameters: ClassVar = {
        "thermal_conductivity": Parameter("real"),
        "specific_heat": Parameter("real"),
        "block": Parameter("strings"),
    }

    def link(self, problem: Problem) -> dict[str, Any]:
        """The function of each property that it gives."""
        names = [name for name in ("thermal_conductivity", "specific_heat") if self.values.given(name)]
        return {name: function_from_text(self.values, name, repr(self.values[name]), {}) for name in names}


def _paired(material: PropertyMaterial, problem: Problem, texts: list[str]) -> dict[str, Any]:
    names = material.values["prop_names"]
    if len(names) != len(texts):
        raise material.values.error(f"{len(names)} prop_names but {len(texts)} prop_values")
    return {
        name: function_from_text(material.values, "prop_values", text, problem.functions)
        for name, text in zip(names, texts, strict=True)
    }


class Properties:
    """The scalar properties of a problem by name: those of materials, and outputs of laws of type Scalar."""

    def __init__(self, problem: Problem, materials: list[PropertyMaterial]) -> None:
        self._problem = problem
        self._given: dict[str, list[tuple[np.ndarray, Any]]] = {}
        for material in materials:
            for name, function in material.link(problem).items():
                self._given.setdefault(name, []).append((problem.elements_of(material.values), function))

    def given(self, name: str, points: VolumePoints | SidePoints, rows: np.ndarray, t: float) -> np.ndarray:
        """A property that a material gives, at the points of some elements or sides, ``(len(rows), n_points)``."""
        result = np.zeros((len(rows), points.n_points))
        for elements, function in self._given[name]:
            inside = np.flatnonzero(np.isin(points.elements[rows], elements))
            places = points.positions[rows[inside]]
            result[inside] = function.value(t, places.reshape(-1, 3)).reshape(places.shape[:2])
        return result

    def names(self) -> list[str]:
        """Names of all."""
        return [*self._given, *(name for name in self._problem.scalar_names() if name not in self._given)]

    def check(self, name: str, source: Any, parameter: str) -> None:
        """Refuse a property that does not exist.

        :param source: parameters of the object that uses it
        """
        if name not in self.names():
            known = self.names()
            raise source.error(
                f"no material property '{name}'; there are: {', '.join(known) or 'none'}{closest(name, known)}",
                parameter,
            )

    def value(self, name: str, t: float) -> np.ndarray:
        """A property at all quadrature points, ``(n_elements, n_points)``; zero where nothing gives it."""
        points = self._problem.points
        if name not in self._given:
            return self._problem.scalar(name)
        return self.given(name, points, points.elements, t)

    def slopes(self, name: str) -> dict[str, np.ndarray]:
        """Derivatives of a property by variables that are solved for, ``(n_elements, n_points)`` each."""
        return {} if name in self._given else self._problem.scalar_slopes(name)
