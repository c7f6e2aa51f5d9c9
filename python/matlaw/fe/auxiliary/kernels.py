"""Auxiliary kernels: fields computed from material properties, functions and other fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from matlaw.fe.auxiliary.invariants import SCALARS, component, symmetric
from matlaw.fe.functions.expression import ExpressionError, compile_expression
from matlaw.fe.functions.functions import function_from
from matlaw.fe.input.parameters import Parameter, Values, required
from matlaw.fe.input.registry import MooseObject, register

if TYPE_CHECKING:
    from matlaw.fe.problem import Problem

_COMMON: dict[str, Parameter] = {
    "variable": required(),
    "block": Parameter("strings"),
    "execute_on": Parameter("strings", ["LINEAR", "TIMESTEP_END"], ignored=True),
}


class AuxKernel(MooseObject):
    """Fills an auxiliary variable.

    What follows from functions is filled at the beginning of a step, so that laws see it; the rest at its end.
    """

    def link(self, problem: Problem) -> None:
        """Find the variable."""
        name = self.values["variable"]
        if name not in problem.auxiliary:
            known = ", ".join(problem.auxiliary) or "none"
            raise self.values.error(f"no auxiliary variable of this name; there are: {known}", "variable")
        self._elements = problem.elements_of(self.values)

    def begin(self, problem: Problem, t: float) -> None:
        """A step that ends at time ``t`` begins."""

    def end(self, problem: Problem) -> None:
        """The step was accepted."""


class _Elemental(AuxKernel):
    """Fills an element variable with the means of values at quadrature points."""

    def link(self, problem: Problem) -> None:
        """Find the variable and what is taken from the material."""
        super().link(problem)
        if problem.auxiliary[self.values["variable"]].nodal:
            known = [name for name, variable in problem.auxiliary.items() if not variable.nodal]
            raise self.values.error(
                f"no auxiliary variable of this name with order = CONSTANT, family = MONOMIAL; "
                f"there are: {', '.join(known) or 'none'}",
                "variable",
            )
        self.check(problem)

    def check(self, problem: Problem) -> None:
        """Refuse a property that no law has."""
        raise NotImplementedError

    def point_values(self, problem: Problem) -> np.ndarray:
        """Values at quadrature points, ``(n_elements, n_points)``."""
        raise NotImplementedError

    def end(self, problem: Problem) -> None:
        """Fill the variable."""
        average = problem.points.average(self.point_values(problem))
        problem.auxiliary[self.values["variable"]].values[self._elements] = average[self._elements]


class _OfTensor(_Elemental):
    _parameter: ClassVar[str] = "rank_two_tensor"

    def check(self, problem: Problem) -> None:
        """Refuse a tensor that the model does not have."""
        known = problem.tensor_names()
        if self.values[self._parameter] not in known:
            raise self.values.error(f"no such tensor; there are: {', '.join(known)}", self._parameter)

    def tensor(self, problem: Problem) -> np.ndarray:
        """The tensor at quadrature points."""
        return problem.tensor(self.values[self._parameter])


_INDEX = Parameter("int", required=True, check=(lambda value: 0 <= value <= 2, "0, 1 or 2"))


@register("AuxKernels", "RankTwoAux", "ADRankTwoAux")
class RankTwoAux(_OfTensor):
    """A component of a tensor."""

    parameters: ClassVar = {**_COMMON, "rank_two_tensor": required(), "index_i": _INDEX, "index_j": _INDEX}

    def point_values(self, problem: Problem) -> np.ndarray:
        """Values at quadrature points, ``(n_elements, n_points)``."""
        return component(self.tensor(problem), self.values["index_i"], self.values["index_j"])


@register("AuxKernels", "MaterialRankTwoTensorAux", "ADMaterialRankTwoTensorAux")
class MaterialRankTwoTensorAux(_OfTensor):
    """A component of a tensor."""

    _parameter = "property"
    parameters: ClassVar = {
        **_COMMON,
        "property": required(),
        "i": Parameter("int", 0, check=_INDEX.check),
        "j": Parameter("int", 0, check=_INDEX.check),
    }

    def point_values(self, problem: Problem) -> np.ndarray:
        """Values at quadrature points, ``(n_elements, n_points)``."""
        return component(self.tensor(problem), self.values["i"], self.values["j"])


@register("AuxKernels", "RankTwoScalarAux", "ADRankTwoScalarAux")
class RankTwoScalarAux(_OfTensor):
    """A scalar of a tensor (of its symmetric part)."""

    parameters: ClassVar = {
        **_COMMON,
        "rank_two_tensor": required(),
        "scalar_type": Parameter("string", "VonMisesStress", choices=tuple(SCALARS)),
    }

    def point_values(self, problem: Problem) -> np.ndarray:
        """Values at quadrature points, ``(n_elements, n_points)``."""
        wanted = self.values["scalar_type"].lower()
        scalar = next(function for name, function in SCALARS.items() if name.lower() == wanted)
        return scalar(symmetric(self.tensor(problem)))


@register("AuxKernels", "MaterialRealAux", "ADMaterialRealAux")
class MaterialRealAux(_Elemental):
    """A scalar property: an output of the law, or what a material gives."""

    parameters: ClassVar = {
        **_COMMON,
        "property": required(),
        "factor": Parameter("real", 1.0),
        "offset": Parameter("real", 0.0),
    }

    def check(self, problem: Problem) -> None:
        """Refuse a property that does not exist."""
        problem.properties.check(self.values["property"], self.values, "property")

    def point_values(self, problem: Problem) -> np.ndarray:
        """Values at quadrature points, ``(n_elements, n_points)``."""
        return (
            self.values["factor"] * problem.properties.value(self.values["property"], problem.time)
            + self.values["offset"]
        )


class _Everywhere(AuxKernel):
    """Fills a variable at its nodes or its elements' centres, from place and time."""

    def _places(self, problem: Problem) -> np.ndarray:
        nodal = problem.auxiliary[self.values["variable"]].nodal
        return problem.mesh.points if nodal else problem.mesh.centroids()

    def _fill(self, problem: Problem, values: np.ndarray) -> None:
        variable = problem.auxiliary[self.values["variable"]]
        chosen = np.unique(problem.mesh.elements[self._elements]) if variable.nodal else self._elements
        variable.values[chosen] = values[chosen]


@register("AuxKernels", "FunctionAux")
class FunctionAux(_Everywhere):
    """A function of place and time."""

    parameters: ClassVar = {**_COMMON, "function": required()}

    def link(self, problem: Problem) -> None:
        """Find the function."""
        super().link(problem)
        self._function = function_from(self.values, "function", problem.functions)

    def begin(self, problem: Problem, t: float) -> None:
        """Fill the variable for the new time."""
        values = self._function.value(t, self._places(problem))
        if not np.all(np.isfinite(values)):
            raise self.values.error(f"it is not finite at time {t:g}", "function")
        self._fill(problem, values)


@register("AuxKernels", "ConstantAux")
class ConstantAux(_Everywhere):
    """A number."""

    parameters: ClassVar = {**_COMMON, "value": Parameter("real", 0.0)}

    def begin(self, problem: Problem, t: float) -> None:
        """Fill the variable."""
        self._fill(problem, np.full(len(self._places(problem)), self.values["value"]))


@register("AuxKernels", "ParsedAux")
class ParsedAux(_Everywhere):
    """An expression of other fields, and with ``use_xyzt`` of place and time."""

    parameters: ClassVar = {
        **_COMMON,
        "expression": required(),
        "coupled_variables": Parameter("strings", []),
        "constant_names": Parameter("strings", []),
        "constant_expressions": Parameter("strings", []),
        "use_xyzt": Parameter("bool", False),
    }

    def __init__(self, values: Values) -> None:
        super().__init__(values)
        names, texts = values["constant_names"], values["constant_expressions"]
        if len(names) != len(texts):
            raise values.error(f"{len(names)} constant_names but {len(texts)} constant_expressions")
        try:
            constants: dict[str, float] = {}
            for name, text in zip(names, texts, strict=True):
                constants[name] = float(compile_expression(text, (), constants)())
            known = (*values["coupled_variables"], *(("x", "y", "z", "t") if values["use_xyzt"] else ()))
            self._expression = compile_expression(values["expression"], known, constants)
        except ExpressionError as error:
            raise values.error(str(error), "expression") from error

    def link(self, problem: Problem) -> None:
        """Find the fields."""
        super().link(problem)
        self._nodal = problem.auxiliary[self.values["variable"]].nodal
        for name in self.values["coupled_variables"]:
            known = [*problem.unknowns.names, *problem.auxiliary]
            if name not in known:
                raise self.values.error(f"no variable '{name}'; there are: {', '.join(known)}", "coupled_variables")
            if self._nodal and name in problem.auxiliary and not problem.auxiliary[name].nodal:
                raise self.values.error(f"'{name}' is an element variable; a nodal one is needed", "coupled_variables")

    def end(self, problem: Problem) -> None:
        """Fill the variable from the accepted step."""
        scope = {name: self._field(problem, name) for name in self.values["coupled_variables"]}
        places = self._places(problem)
        if self.values["use_xyzt"]:
            scope |= {"x": places[:, 0], "y": places[:, 1], "z": places[:, 2], "t": np.full(len(places), problem.time)}
        self._fill(problem, np.broadcast_to(np.asarray(self._expression(**scope), float), (len(places),)))

    def _field(self, problem: Problem, name: str) -> np.ndarray:
        if self._nodal:
            return problem.nodal_field(name)
        return problem.points.average(problem.field_at(problem.points, name, problem.u))
