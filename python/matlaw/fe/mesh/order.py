"""Second-order meshes from first-order ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from matlaw.fe.mesh.elements import ELEMENT_TYPES, ElementType
from matlaw.fe.mesh.mesh import Mesh


def raise_order(mesh: Mesh, kind: ElementType) -> Mesh:
    """The same elements with nodes on edges (faces, and inside, as ``kind`` has them), halfway between the corners.

    :param kind: a type with the corners of the mesh's
    """
    if kind is mesh.type:
        return mesh
    corner = ELEMENT_TYPES[kind.corner]
    shape, _ = corner.shape(kind.nodes[corner.n_nodes :])
    points, columns, count = [mesh.points], [mesh.elements], mesh.n_nodes
    for size in sorted({int(np.count_nonzero(row > 1e-12)) for row in shape}):
        rows = [np.flatnonzero(row > 1e-12) for row in shape if np.count_nonzero(row > 1e-12) == size]
        groups = np.sort(mesh.elements[:, np.array(rows)], axis=2)
        unique, inverse = np.unique(groups.reshape(-1, size), axis=0, return_inverse=True)
        points.append(mesh.points[unique].mean(axis=1))
        columns.append(count + inverse.reshape(mesh.n_elements, len(rows)))
        count += len(unique)
    return replace(mesh, type=kind, points=np.concatenate(points), elements=np.concatenate(columns, axis=1))
