"""The matrix that takes an element's displacements to the strain at its quadrature points."""

from __future__ import annotations

import numpy as np


def strain_operator(gradients: np.ndarray) -> np.ndarray:
    r"""Small strain in Mandel components, :math:`\varepsilon = \mathrm{sym}\,\nabla u`, as a matrix.

    :param gradients: gradients of the shape functions, ``(n_elements, n_points, n_nodes, 3)``
    :returns: ``(n_elements, n_points, 6, 3 n_nodes)``; an element's displacements are ordered node by node
    """
    n_elements, n_points, n_nodes, _ = gradients.shape
    b = np.zeros((n_elements, n_points, 6, n_nodes, 3))
    gx, gy, gz = (gradients[..., axis] for axis in range(3))
    half = np.sqrt(0.5)
    b[:, :, 0, :, 0] = gx
    b[:, :, 1, :, 1] = gy
    b[:, :, 2, :, 2] = gz
    b[:, :, 3, :, 1], b[:, :, 3, :, 2] = half * gz, half * gy
    b[:, :, 4, :, 0], b[:, :, 4, :, 2] = half * gz, half * gx
    b[:, :, 5, :, 0], b[:, :, 5, :, 1] = half * gy, half * gx
    return b.reshape(n_elements, n_points, 6, 3 * n_nodes)


def average_volumetric_part(b: np.ndarray, weights: np.ndarray) -> np.ndarray:
    r"""Replace the volumetric strain by its mean over the element (B-bar; Hughes 1980), against volumetric locking.

    :param b: ``(n_elements, n_points, 6, m)``
    :param weights: quadrature weight times Jacobian determinant, ``(n_elements, n_points)``
    """
    volumetric = b[:, :, :3, :].sum(axis=2)
    mean = np.einsum("eq,eqm->em", weights, volumetric) / weights.sum(axis=1)[:, None]
    result = b.copy()
    result[:, :, :3, :] += ((mean[:, None, :] - volumetric) / 3.0)[:, :, None, :]
    return result
