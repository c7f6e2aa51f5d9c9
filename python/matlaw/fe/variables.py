"""Reading ``[Variables]``, ``[AuxVariables]`` and ``[ICs]``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from matlaw.fe.assembly.unknowns import Variable
from matlaw.fe.functions.functions import ExpressionFunction, Function, function_from
from matlaw.fe.input.parameters import Parameter, Values, required
from matlaw.fe.input.registry import MooseObject, check_fields, create, register
from matlaw.fe.input.tree import Block
from matlaw.fe.mesh.mesh import Mesh
from matlaw.fe.mesh.selection import elements_of

_ORDERS = {"CONSTANT": 0, "FIRST": 1, "SECOND": 2}
_VARIABLE = {
    "order": Parameter("string", "FIRST", choices=("FIRST", "SECOND")),
    "family": Parameter("string", "LAGRANGE", choices=("LAGRANGE",)),
    "block": Parameter("strings"),
    "scaling": Parameter("real", 1.0, check=(lambda value: value > 0.0, "positive")),
    "initial_condition": Parameter("real"),
}
_AUX_VARIABLE = {
    "order": Parameter("string", "FIRST", choices=("FIRST", "SECOND", "CONSTANT")),
    "family": Parameter("string", "LAGRANGE", choices=("LAGRANGE", "MONOMIAL")),
    "block": Parameter("strings", ignored=True),
    "initial_condition": Parameter("real"),
}


@dataclass
class AuxiliaryVariable:
    """A field that is computed, not solved for.

    :ivar nodal: one value per node, else one per element
    """

    name: str
    nodal: bool
    values: np.ndarray


class InitialCondition(MooseObject):
    """Values of a variable at the start."""

    def values_at(self, t: float, points: np.ndarray, functions: dict[str, Function]) -> np.ndarray:
        """Values at points, ``(n, 3)`` to ``(n,)``."""
        raise NotImplementedError


_IC = {"variable": required(), "block": Parameter("strings", ignored=True)}


@register("ICs", "ConstantIC")
class ConstantIC(InitialCondition):
    """The same value everywhere."""

    parameters: ClassVar = {**_IC, "value": required("real")}

    def values_at(self, t: float, points: np.ndarray, functions: dict[str, Function]) -> np.ndarray:
        """Values at points, ``(n, 3)`` to ``(n,)``."""
        return np.full(len(points), self.values["value"])


@register("ICs", "FunctionIC")
class FunctionIC(InitialCondition):
    """Values of a function."""

    parameters: ClassVar = {**_IC, "function": required(), "scaling_factor": Parameter("real", 1.0)}

    def values_at(self, t: float, points: np.ndarray, functions: dict[str, Function]) -> np.ndarray:
        """Values at points, ``(n, 3)`` to ``(n,)``."""
        function: Function | ExpressionFunction = function_from(self.values, "function", functions)
        return self.values["scaling_factor"] * function.value(t, points)


def read_variables(block: Block | None, mesh: Mesh, where: Block) -> list[Variable]:
    """The fields to solve for.

    :raises InputFileError: there are none, or one of second order on elements of first order
    """
    if block is None or not block.blocks:
        raise (block or where).error("no variables: add [Variables] (or add_variables = true in the physics block)")
    result = []
    for name, below in block.blocks.items():
        check_fields(below, _VARIABLE, "a variable")
        values = Values(below, _VARIABLE)
        order = _ORDERS[values["order"].upper()]
        if order > mesh.type.order:
            raise values.error(
                f"a variable of second order needs elements of second order; these are {mesh.type.name}", "order"
            )
        start = 0.0 if values["initial_condition"] is None else values["initial_condition"]
        result.append(Variable(name, order, elements_of(values, mesh), values["scaling"], np.full(mesh.n_nodes, start)))
    return result


def read_auxiliary(block: Block | None, mesh: Mesh, taken: Mapping[str, object]) -> dict[str, AuxiliaryVariable]:
    """The fields that are computed."""
    result = {}
    for name, below in (block.blocks if block is not None else {}).items():
        check_fields(below, _AUX_VARIABLE, "an auxiliary variable")
        values = Values(below, _AUX_VARIABLE)
        nodal = values["family"].upper() == "LAGRANGE"
        if nodal == (values["order"].upper() == "CONSTANT"):
            raise below.error("available: FIRST LAGRANGE (nodes) and CONSTANT MONOMIAL (elements)")
        if name in taken:
            raise below.error("there is a variable of the same name")
        start = 0.0 if values["initial_condition"] is None else values["initial_condition"]
        result[name] = AuxiliaryVariable(name, nodal, np.full(mesh.n_nodes if nodal else mesh.n_elements, start))
    return result


def apply_initial_conditions(
    block: Block | None,
    shared: Block | None,
    mesh: Mesh,
    variables: Mapping[str, Variable],
    auxiliary: Mapping[str, AuxiliaryVariable],
    functions: dict[str, Function],
    t: float,
) -> None:
    """Set the values of ``[ICs]``.

    :raises InputFileError: there is no such variable
    """
    for below in block.blocks.values() if block is not None else ():
        condition: InitialCondition = create("ICs", below, shared)
        name = condition.values["variable"]
        if name in variables:
            variables[name].initial = condition.values_at(t, mesh.points, functions)
        elif name in auxiliary:
            places = mesh.points if auxiliary[name].nodal else mesh.centroids()
            auxiliary[name].values = condition.values_at(t, places, functions)
        else:
            raise condition.values.error(
                f"no such variable; there are: {', '.join([*variables, *auxiliary])}", "variable"
            )
