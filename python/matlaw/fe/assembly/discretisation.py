"""Shape functions and quadrature of a mesh, and what is assembled from them."""

from __future__ import annotations

import numpy as np
import torch
from skfem import CellBasis, ElementHex1

from matlaw.fe.assembly.strain_operator import average_volumetric_part, strain_operator
from matlaw.fe.mesh.hexmesh import HexMesh

#: elements handled at once, so that temporary arrays stay in the cache
_CHUNK = 256


class Discretisation:
    """Trilinear hexahedra with 2 x 2 x 2 Gauss points; displacements are numbered node by node.

    :ivar n_dofs: three times the number of nodes
    :ivar dofs: ``(n_elements, 24)``
    :ivar weights: quadrature weight times Jacobian determinant, ``(n_elements, n_points)``
    :ivar strain_matrix: ``(n_elements, n_points, 6, 24)``
    :ivar shape: shape functions, ``(n_points, 8)``, in the order of :attr:`nodes`
    """

    def __init__(self, mesh: HexMesh, volumetric_locking_correction: bool = False) -> None:
        self.mesh = mesh
        self.skfem_mesh = mesh.to_skfem()
        basis = CellBasis(self.skfem_mesh, ElementHex1(), intorder=3)
        self.nodes = np.ascontiguousarray(basis.element_dofs.T)
        gradients = np.stack([np.moveaxis(functions[0].grad, 0, -1) for functions in basis.basis], axis=2)
        self.shape = np.stack([np.asarray(functions[0])[0] for functions in basis.basis], axis=1)
        self.weights = np.ascontiguousarray(basis.dx)
        if np.any(self.weights <= 0.0):
            bad = int(np.flatnonzero(np.any(self.weights <= 0.0, axis=1))[0])
            raise ValueError(f"element {bad} of the mesh is turned inside out")
        b = strain_operator(gradients)
        if volumetric_locking_correction:
            b = average_volumetric_part(b, self.weights)
        self.strain_matrix = b
        self.n_elements, self.n_points = self.weights.shape
        self.n_dofs = 3 * mesh.n_nodes
        self.dofs = (3 * self.nodes[:, :, None] + np.arange(3)).reshape(self.n_elements, 24)
        self._b = torch.from_numpy(b.reshape(self.n_elements, self.n_points * 6, 24))
        self._b_points = torch.from_numpy(b.reshape(-1, 6, 24))

    def strain(self, u: np.ndarray) -> np.ndarray:
        """Strain at every quadrature point.

        :param u: ``(n_dofs,)``
        :returns: ``(n_elements, n_points, 6)``, Mandel components
        """
        local = torch.from_numpy(u[self.dofs])
        return torch.bmm(self._b, local[:, :, None]).numpy().reshape(self.n_elements, self.n_points, 6)

    def internal_force(self, stress: np.ndarray) -> np.ndarray:
        r"""The nodal forces :math:`\int B^T \sigma`.

        :param stress: ``(n_elements, n_points, 6)``
        :returns: ``(n_dofs,)``
        """
        weighted = torch.from_numpy((stress * self.weights[:, :, None]).reshape(self.n_elements, -1, 1))
        local = torch.bmm(self._b.transpose(1, 2), weighted).numpy()
        return np.bincount(self.dofs.ravel(), weights=local.ravel(), minlength=self.n_dofs)

    def stiffness(self, tangent: np.ndarray) -> np.ndarray:
        r"""The element matrices :math:`\int B^T C B`.

        :param tangent: derivative of stress with respect to strain, ``(n_elements, n_points, 6, 6)``
        :returns: ``(n_elements, 24, 24)``
        """
        weighted = torch.from_numpy((tangent * self.weights[:, :, None, None]).reshape(-1, 6, 6))
        result = torch.empty((self.n_elements, 24, 24), dtype=torch.float64)
        for start in range(0, self.n_elements, _CHUNK):
            stop = min(start + _CHUNK, self.n_elements)
            points = slice(start * self.n_points, stop * self.n_points)
            cb = torch.bmm(weighted[points], self._b_points[points]).reshape(stop - start, -1, 24)
            torch.bmm(self._b[start:stop].transpose(1, 2), cb, out=result[start:stop])
        return result.numpy()

    def element_average(self, values: np.ndarray) -> np.ndarray:
        """Mean over each element, ``(n_elements, n_points)`` to ``(n_elements,)``."""
        return (values * self.weights).sum(axis=1) / self.weights.sum(axis=1)

    def at_points(self, nodal: np.ndarray) -> np.ndarray:
        """A nodal field at the quadrature points, ``(n_nodes,)`` to ``(n_elements, n_points)``."""
        return nodal[self.nodes] @ self.shape.T
