"""Quadrature on the sides of a side set."""

from __future__ import annotations

import numpy as np
from skfem import ElementHex1, FacetBasis

from matlaw.fe.assembly.discretisation import Discretisation
from matlaw.fe.assembly.strain_operator import strain_operator


class SideQuadrature:
    """Points, normals and shape functions on the sides of a side set.

    :ivar elements: element of each side, ``(n_sides,)``
    :ivar weights: quadrature weight times surface element, ``(n_sides, n_points)``
    :ivar normals: outward, ``(n_sides, n_points, 3)``
    :ivar points: positions, ``(n_sides, n_points, 3)``
    """

    def __init__(self, discretisation: Discretisation, name: str) -> None:
        mesh = discretisation.mesh
        grid = discretisation.skfem_mesh
        wanted = np.sort(mesh.side_nodes(name), axis=1)
        facets = np.sort(grid.facets.T, axis=1)
        number = {tuple(nodes): index for index, nodes in enumerate(facets.tolist())}
        chosen = np.array([number[tuple(nodes)] for nodes in wanted.tolist()], int)
        basis = FacetBasis(grid, ElementHex1(), facets=chosen, intorder=3)
        self.n_dofs = discretisation.n_dofs
        self.elements = grid.f2t[0][chosen]
        self.nodes = discretisation.nodes[self.elements]
        self.weights = np.ascontiguousarray(basis.dx)
        self.normals = np.moveaxis(np.asarray(basis.normals), 0, -1)
        self.points = np.moveaxis(np.asarray(basis.global_coordinates()), 0, -1)
        self.shape = np.stack([np.asarray(functions[0]) for functions in basis.basis], axis=2)
        gradients = np.stack([np.moveaxis(functions[0].grad, 0, -1) for functions in basis.basis], axis=2)
        self.strain_matrix = strain_operator(gradients)

    def strain(self, u: np.ndarray) -> np.ndarray:
        """Strain at the points of the sides, ``(n_sides, n_points, 6)``."""
        local = u[3 * self.nodes[:, :, None] + np.arange(3)].reshape(len(self.nodes), 24)
        return np.einsum("sqij,sj->sqi", self.strain_matrix, local)

    def nodal_force(self, values: np.ndarray, component: int) -> np.ndarray:
        """Nodal forces in one direction of a traction, ``(n_sides, n_points)`` to ``(n_dofs,)``."""
        local = np.einsum("sq,sqa->sa", values * self.weights, self.shape)
        return np.bincount(3 * self.nodes.ravel() + component, weights=local.ravel(), minlength=self.n_dofs)
