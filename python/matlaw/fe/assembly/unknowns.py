"""Numbers of the degrees of freedom: node by node, all variables of a node next to each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from matlaw.fe.mesh.elements import ELEMENT_TYPES
from matlaw.fe.mesh.mesh import Mesh


@dataclass
class Variable:
    """A field that is solved for.

    :ivar order: 1 or 2
    :ivar elements: the elements that have it
    :ivar scaling: factor of its residuals
    :ivar initial: values at the start, ``(n_nodes,)``
    """

    name: str
    order: int
    elements: np.ndarray
    scaling: float = 1.0
    initial: np.ndarray = field(default_factory=lambda: np.empty(0))


class Unknowns:
    """The variables on a mesh.

    An element's degrees of freedom are ordered variable by variable, as its entry in ``columns`` says.

    :ivar n_dofs: number of variables times number of nodes, whether or not a variable has that node
    :ivar present: the nodes that variables have, ``(n_dofs,)`` bool
    :ivar element_dofs: ``(n_elements, m)``
    :ivar columns: by variable, where it is in a row of :attr:`element_dofs`
    """

    def __init__(self, mesh: Mesh, variables: Sequence[Variable]) -> None:
        self.mesh = mesh
        self.variables = {variable.name: variable for variable in variables}
        self.names = list(self.variables)
        self.count = len(self.names)
        self.n_dofs = self.count * mesh.n_nodes
        self.present = np.zeros(self.n_dofs, bool)
        self.columns: dict[str, slice] = {}
        parts, start = [], 0
        for number, variable in enumerate(variables):
            nodes = mesh.elements
            if variable.order < mesh.type.order:
                nodes = nodes[:, : ELEMENT_TYPES[mesh.type.corner].n_nodes]
            dofs = self.count * nodes + number
            self.present[dofs[variable.elements]] = True
            parts.append(dofs)
            self.columns[variable.name] = slice(start, start + nodes.shape[1])
            start += nodes.shape[1]
        self.element_dofs = np.concatenate(parts, axis=1)

    def number(self, name: str) -> int:
        """Place of a variable among those of a node."""
        return self.names.index(name)

    def of(self, vector: np.ndarray, name: str) -> np.ndarray:
        """A variable's values in a vector of degrees of freedom, ``(n_nodes,)``, as a view."""
        return vector[self.number(name) :: self.count]

    def nodal(self, vector: np.ndarray, name: str) -> np.ndarray:
        """A variable at all nodes; in the middle of edges, where one of first order has no value, by interpolation."""
        values = self.of(vector, name)
        variable = self.variables[name]
        kind = self.mesh.type
        if variable.order == kind.order:
            return values
        corner = ELEMENT_TYPES[kind.corner]
        shape, _ = corner.shape(kind.nodes)
        result = values.copy()
        result[self.mesh.elements] = values[self.mesh.elements[:, : corner.n_nodes]] @ shape.T
        return result

    def scatter(self, local: np.ndarray) -> np.ndarray:
        """Sum of element vectors, ``(n_elements, m)`` to ``(n_dofs,)``."""
        return np.bincount(self.element_dofs.ravel(), weights=local.ravel(), minlength=self.n_dofs)
