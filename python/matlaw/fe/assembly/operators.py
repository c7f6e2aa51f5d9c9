"""The matrices that take an element's displacements to strains or displacement gradients at its points.

Columns are ordered component by component. In RZ, x is the radius and y the axis, and the hoop direction is the third.
"""

from __future__ import annotations

import numpy as np

from matlaw.fe.assembly.points import SidePoints, Space, VolumePoints


def strain_operator(points: VolumePoints | SidePoints, space: Space) -> np.ndarray:
    r"""Small strain in Mandel components, :math:`\varepsilon = \mathrm{sym}\,\nabla u`.

    :returns: ``(n, n_points, 6, dim m)``
    """
    n, q, m, dim = space.gradients.shape
    b = np.zeros((n, q, 6, dim, m))
    half = np.sqrt(0.5)
    for axis in range(dim):
        b[:, :, axis, axis] = space.gradients[..., axis]
    for row, (i, j) in ((3, (1, 2)), (4, (0, 2)), (5, (0, 1))):
        if j < dim:
            b[:, :, row, i], b[:, :, row, j] = half * space.gradients[..., j], half * space.gradients[..., i]
    if points.radius is not None:
        b[:, :, 2, 0] = _hoop(points.radius, space)
    return b.reshape(n, q, 6, dim * m)


def gradient_operator(points: VolumePoints | SidePoints, space: Space) -> np.ndarray:
    r"""The displacement gradient, row by row, :math:`(\nabla u)_{ij} = \partial u_i / \partial X_j`.

    :returns: ``(n, n_points, 9, dim m)``
    """
    n, q, m, dim = space.gradients.shape
    b = np.zeros((n, q, 3, 3, dim, m))
    for i in range(dim):
        for j in range(dim):
            b[:, :, i, j, i] = space.gradients[..., j]
    if points.radius is not None:
        b[:, :, 2, 2, 0] = _hoop(points.radius, space)
    return b.reshape(n, q, 9, dim * m)


def _hoop(radius: np.ndarray, space: Space) -> np.ndarray:
    """Hoop strain of a radial displacement; zero on the axis, where sides have no area."""
    inverse = np.divide(1.0, radius, out=np.zeros_like(radius), where=radius > 0.0)
    return np.broadcast_to(space.shape, space.gradients.shape[:3]) * inverse[..., None]


def average_volumetric_part(b: np.ndarray, weights: np.ndarray) -> np.ndarray:
    r"""Replace the volumetric strain by its mean over the element (B-bar; Hughes 1980), against volumetric locking.

    :param b: a strain operator, ``(n_elements, n_points, 6, m)``
    :param weights: quadrature weight times Jacobian determinant, ``(n_elements, n_points)``
    """
    volumetric = b[:, :, :3, :].sum(axis=2)
    mean = np.einsum("eq,eqm->em", weights, volumetric) / weights.sum(axis=1)[:, None]
    result = b.copy()
    result[:, :, :3, :] += ((mean[:, None, :] - volumetric) / 3.0)[:, :, None, :]
    return result
