"""Balance of momentum: strain at the quadrature points, internal forces and their derivatives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch

from matlaw.fe.assembly.operators import average_volumetric_part, gradient_operator, strain_operator
from matlaw.fe.assembly.points import SidePoints, VolumePoints
from matlaw.fe.assembly.unknowns import Unknowns
from matlaw.fe.law import LawPoints
from matlaw.fe.physics import finite_strain

#: elements handled at once, so that temporary arrays stay in the cache
_CHUNK = 256


class Mechanics:
    """The displacements of a problem.

    What drives a law at a point has ``k`` components: 6 of the small strain (Mandel), or 9 of the deformation gradient,
    row by row; so has the stress that does work on it.

    :param displacements: names of the variables, one per dimension
    :param large: total Lagrangian kernels, with the whole deformation gradient
    :param locking: the volumetric strain is that of the element's mean
    :ivar columns: places of the displacements among an element's degrees of freedom, component by component
    """

    def __init__(
        self, points: VolumePoints, unknowns: Unknowns, displacements: Sequence[str], large: bool, locking: bool
    ) -> None:
        self.points, self.unknowns = points, unknowns
        self.displacements = list(displacements)
        self.order = unknowns.variables[self.displacements[0]].order
        self.large = large
        self.columns = np.concatenate([np.arange(*unknowns.columns[name].indices(10**9)) for name in displacements])
        self.dofs = np.ascontiguousarray(unknowns.element_dofs[:, self.columns])
        self.k = 9 if large else 6
        operator = self._operator(points)
        if locking:
            operator = average_volumetric_part(operator, points.weights)
        n, q, _, m = operator.shape
        self._b = torch.from_numpy(operator.reshape(n, q * self.k, m))
        self._b_points = torch.from_numpy(operator.reshape(n * q, self.k, m))

    def _operator(self, points: VolumePoints | SidePoints) -> np.ndarray:
        build = gradient_operator if self.large else strain_operator
        return build(points, points.space(self.order))

    def driving(self, u: np.ndarray) -> np.ndarray:
        """Strain or deformation gradient at every point of the elements, ``(n_elements, n_points, k)``."""
        local = torch.from_numpy(u[self.dofs])
        result = torch.bmm(self._b, local[:, :, None]).numpy().reshape(*self.points.weights.shape, self.k)
        return self._complete(result)

    def driving_on(self, sides: SidePoints, u: np.ndarray) -> np.ndarray:
        """The same on sides, ``(n_sides, n_points, k)``."""
        return self._complete(np.einsum("sqij,sj->sqi", self._operator(sides), u[self.dofs[sides.elements]]))

    def deformed_sides(self, sides: SidePoints, u: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sides where the displacements put them.

        :returns: the tangents, ``(n_sides, n_points, dim, dim - 1)``; their derivatives by a displacement of each node,
            ``(n_sides, n_points, m, dim - 1)``; and the way around the axis, 1 in Cartesian coordinates,
            ``(n_sides, n_points)``
        """
        space = sides.space(self.order)
        directions = sides.directions[:, None]
        slopes = space.reference_gradients @ directions
        moved = np.stack([self.unknowns.of(u, name)[space.nodes] for name in self.displacements], axis=1)
        around = np.ones(sides.weights.shape)
        if sides.radius is not None:
            around = 2.0 * np.pi * (sides.radius + (space.shape @ moved[:, 0, :, None])[..., 0])
        return sides.jacobian @ directions + moved[:, None] @ slopes, slopes, around

    def _complete(self, values: np.ndarray) -> np.ndarray:
        if self.large:
            values[..., [0, 4, 8]] += 1.0
        return values

    def internal_force(self, stress: np.ndarray) -> np.ndarray:
        r"""The element vectors :math:`\int B^T \sigma`, ``(n_elements, n_points, k)`` to ``(n_elements, m)``."""
        weighted = torch.from_numpy((stress * self.points.weights[:, :, None]).reshape(len(stress), -1, 1))
        return torch.bmm(self._b.transpose(1, 2), weighted).numpy()[:, :, 0]

    def stiffness(self, tangent: np.ndarray) -> np.ndarray:
        r"""The element matrices :math:`\int B^T C B`, ``(n_elements, n_points, k, k)`` to ``(n_elements, m, m)``."""
        n, m = self.dofs.shape
        q = self.points.n_points
        weighted = torch.from_numpy((tangent * self.points.weights[:, :, None, None]).reshape(-1, self.k, self.k))
        result = torch.empty((n, m, m), dtype=torch.float64)
        for start in range(0, n, _CHUNK):
            stop = min(start + _CHUNK, n)
            points = slice(start * q, stop * q)
            cb = torch.bmm(weighted[points], self._b_points[points]).reshape(stop - start, -1, m)
            torch.bmm(self._b[start:stop].transpose(1, 2), cb, out=result[start:stop])
        return result.numpy()

    def coupling(self, derivative: np.ndarray, shape: np.ndarray) -> np.ndarray:
        r"""The element matrices :math:`\int B^T \frac{\partial \sigma}{\partial T} N`.

        :param derivative: of the stress by a scalar field, ``(n_elements, n_points, k)``
        :param shape: shape functions of that field, ``(1, n_points, m_T)``
        :returns: ``(n_elements, m, m_T)``
        """
        n, q, k = derivative.shape
        weighted = derivative * self.points.weights[:, :, None]
        right = weighted[:, :, :, None] * shape[:, :, None, :]
        return torch.bmm(self._b.transpose(1, 2), torch.from_numpy(right.reshape(n, q * k, -1))).numpy()


class Response:
    """What a law gives at its points, as stress that does work on what drives it.

    :ivar stress: ``(n, k)``
    :ivar tangent: derivative by what drives the law, ``(n, k, k)``; None when no derivatives are wanted
    :ivar by_scalar: derivative by scalar inputs, ``(n, k)`` each
    """

    def __init__(self, points: LawPoints, driving: np.ndarray, scalars: Sequence[str], tangent: bool) -> None:
        law = points.law
        self.tangent: np.ndarray | None = None
        self.by_scalar: Mapping[str, np.ndarray] = {}
        stress = points.output(law.stress)
        if not law.large:
            self.stress = stress
            if tangent:
                self.tangent = points.tangent(law.stress, law.strain)
                self.by_scalar = {name: points.tangent(law.stress, name) for name in scalars}
            return
        n = len(driving)
        F = driving.reshape(n, 3, 3)
        whole = finite_strain.full(stress)
        self.stress = finite_strain.first_piola_kirchhoff(law.measure, whole, F).reshape(n, 9)
        if not tangent:
            return
        derivative = points.tangent(law.stress, law.strain).reshape(n, -1, 9)
        if derivative.shape[1] == 6:
            derivative = np.stack([finite_strain.full(derivative[:, :, column]) for column in range(9)], axis=-1)
        self.tangent = finite_strain.tangent_of_first_piola_kirchhoff(
            law.measure, whole, derivative.reshape(n, 3, 3, 3, 3), F
        ).reshape(n, 9, 9)
        self.by_scalar = {
            name: finite_strain.first_piola_kirchhoff(
                law.measure, finite_strain.full(points.tangent(law.stress, name)), F
            ).reshape(n, 9)
            for name in scalars
        }


def law_input(points: LawPoints, driving: np.ndarray) -> np.ndarray:
    """What a mechanical law takes, from the strain or the deformation gradient, ``(n, k)``."""
    return driving.reshape(-1, 3, 3) if points.law.large else driving
