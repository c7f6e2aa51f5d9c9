"""The parts of a mesh that a parameter lists."""

from __future__ import annotations

import numpy as np

from matlaw.fe.input.parameters import Values
from matlaw.fe.mesh.mesh import Mesh
from matlaw.input.suggestion import closest


def boundaries_of(values: Values, mesh: Mesh) -> list[str]:
    """Names of the boundaries that ``boundary`` lists by name or number.

    :raises InputFileError: there is no such boundary
    """
    names = []
    for text in values["boundary"]:
        name = mesh.boundary_name(text)
        if name is None:
            known = mesh.boundary_names()
            raise values.error(
                f"no boundary '{text}'; boundaries: {', '.join(known)}{closest(text, known)}", "boundary"
            )
        names.append(name)
    return names


def side_sets_of(values: Values, mesh: Mesh) -> list[str]:
    """:func:`boundaries_of` that have sides.

    :raises InputFileError: there is no such boundary, or it is a set of nodes only
    """
    names = boundaries_of(values, mesh)
    for name in names:
        if name not in mesh.sidesets:
            raise values.error(
                f"'{name}' is a set of nodes; a side set is needed: {', '.join(mesh.sidesets) or 'none'}", "boundary"
            )
    return names


def elements_of(values: Values, mesh: Mesh) -> np.ndarray:
    """Numbers of the elements of the blocks that ``block`` lists; all without it.

    :raises InputFileError: there is no such block
    """
    if not values.get("block"):
        return np.arange(mesh.n_elements)
    numbers = []
    for text in values["block"]:
        number = mesh.block_id(text)
        if number is None:
            blocks = mesh.blocks()
            raise values.error(f"no block '{text}'; blocks: {', '.join(blocks)}{closest(text, blocks)}", "block")
        numbers.append(number)
    return np.flatnonzero(np.isin(mesh.block_ids, numbers))


def nodes_of(values: Values, mesh: Mesh) -> np.ndarray:
    """Nodes of the boundaries that ``boundary`` lists; all without it."""
    if not values.get("boundary"):
        return np.arange(mesh.n_nodes)
    return np.unique(np.concatenate([mesh.boundary_nodes(name) for name in boundaries_of(values, mesh)]))
