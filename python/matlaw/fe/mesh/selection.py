"""The parts of a mesh that a parameter lists."""

from __future__ import annotations

from matlaw.fe.input.parameters import Values
from matlaw.fe.mesh.hexmesh import HexMesh
from matlaw.input.suggestion import closest


def boundaries_of(values: Values, mesh: HexMesh) -> list[str]:
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


def side_sets_of(values: Values, mesh: HexMesh) -> list[str]:
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
