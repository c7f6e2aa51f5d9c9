"""Bodies that nothing holds: motions that no condition prevents and no equation resists."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix
from scipy.sparse.csgraph import connected_components

from matlaw.fe.problem import Problem

#: What is below this part of the terms that add up to it is rounding.
_ROUNDING: Final = 1e-9
_AXES: Final = "xyz"


@dataclass(frozen=True)
class FreeMotion:
    """Values that may be added to a solution as far as the prescribed ones are concerned.

    :ivar values: ``(n_dofs,)``
    :ivar variables: the variables that have them
    :ivar where: the blocks, in words
    :ivar what: the motion, in words
    """

    values: np.ndarray
    variables: tuple[str, ...]
    where: str
    what: str


def check_supports(problem: Problem, matrix: csr_matrix) -> None:
    """Every motion that the prescribed values leave free is resisted by an equation.

    :param matrix: the tangent of the free degrees of freedom
    :raises InputFileError: one is not, so that the equations have no unique solution
    """
    free = problem.constraints.free
    found = [motion for motion in free_motions(problem) if not _resists(matrix, motion, problem, free)]
    if found:
        bodies = dict.fromkeys(motion.where for motion in found)
        motions = "; ".join(
            f"{body} against {', '.join(dict.fromkeys(m.what for m in found if m.where == body))}" for body in bodies
        )
        place = problem.root.blocks.get("BCs", problem.root)
        raise place.error(
            f"nothing holds {motions}: the equations have no unique solution. Prescribe values there, for instance "
            "with a DirichletBC on a boundary or a node set, or restrict the variable to other blocks"
        )


def _resists(matrix: csr_matrix, motion: FreeMotion, problem: Problem, free: np.ndarray) -> bool:
    """Whether the equations of the variables that move do."""
    unknowns = problem.unknowns
    own = np.isin(free % unknowns.count, [unknowns.number(name) for name in motion.variables])
    rows, values = matrix[own], motion.values[free]
    return bool(np.linalg.norm(rows @ values) > _ROUNDING * np.linalg.norm(abs(rows) @ abs(values)))


def free_motions(problem: Problem) -> Iterator[FreeMotion]:
    """Rigid motions of connected elements, and the level of any other variable, as far as no value is prescribed."""
    mechanics = problem.mechanics
    displacements = tuple(mechanics.displacements) if mechanics is not None else ()
    if displacements:
        yield from _rigid_motions(problem, displacements)
    prescribed = np.zeros(problem.unknowns.n_dofs, bool)
    prescribed[problem.constraints.dofs] = True
    for name, variable in problem.unknowns.variables.items():
        if name in displacements:
            continue
        for nodes, where in _bodies(problem, variable.elements):
            dofs = _dofs(problem, name, nodes)
            if not prescribed[dofs].any():
                values = np.zeros(problem.unknowns.n_dofs)
                values[dofs] = 1.0
                yield FreeMotion(values, (name,), where, f"a change of '{name}' as a whole")


def _rigid_motions(problem: Problem, displacements: tuple[str, ...]) -> Iterator[FreeMotion]:
    elements = problem.unknowns.variables[displacements[0]].elements
    prescribed = np.zeros(problem.unknowns.n_dofs, bool)
    prescribed[problem.constraints.dofs] = True
    for nodes, where in _bodies(problem, elements):
        names, modes = _rigid_modes(problem, displacements, nodes)
        held = modes[prescribed]
        # Combinations of modes that vanish where values are prescribed.
        sizes, combinations = np.linalg.eigh(held.T @ held)
        combinations = combinations[:, sizes <= 1e-10 * max(len(held), 1)].T
        for values, what in _named(combinations, names, modes):
            yield FreeMotion(values, displacements, where, what)


def _named(combinations: np.ndarray, names: list[str], modes: np.ndarray) -> Iterator[tuple[np.ndarray, str]]:
    """Free combinations of modes, in words: those that are one mode by themselves, then what is left."""
    space = combinations
    for number, name in enumerate(names):
        alone = np.eye(len(names))[number]
        if len(space) and np.linalg.norm(space.T @ (space @ alone) - alone) < 1e-6:
            yield modes[:, number], name
            # The others, without this one.
            rest = space - np.outer(space @ alone, alone)
            _, sizes, right = np.linalg.svd(rest)
            space = right[: int((sizes > 1e-6).sum())]
    turns = [
        n for n, parts in zip(names, space.T, strict=True) if "rotation" in n and np.abs(parts).max(initial=0.0) > 1e-3
    ]
    for number, combination in enumerate(space):
        # As many as there are axes: about each of them, through a point that is held.
        yield modes @ combination, turns[number] if len(turns) == len(space) else " with ".join(turns or names)


def _rigid_modes(problem: Problem, displacements: tuple[str, ...], nodes: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Names and values, ``(n_dofs, modes)``, of the motions without strain. About an axis of symmetry there is one."""
    unknowns, dim = problem.unknowns, len(displacements)
    x = problem.mesh.points[nodes] - problem.mesh.points[nodes].mean(axis=0)
    x = x / max(float(np.abs(x).max()), 1e-300)
    names, modes = [], []
    for axis in range(dim):
        if problem.axisymmetric and axis == 0:
            continue
        mode = np.zeros(unknowns.n_dofs)
        mode[_dofs(problem, displacements[axis], nodes)] = 1.0
        names.append(f"translation along {_AXES[axis]} ({displacements[axis]})")
        modes.append(mode)
    turns = [] if problem.axisymmetric or dim == 1 else [(0, 1)] if dim == 2 else [(1, 2), (2, 0), (0, 1)]
    for a, b in turns:
        mode = np.zeros(unknowns.n_dofs)
        for component, part in ((a, -x[:, b]), (b, x[:, a])):
            full = np.zeros(problem.mesh.n_nodes)
            full[nodes] = part
            dofs = _dofs(problem, displacements[component], nodes)
            mode[dofs] = full[dofs // unknowns.count]
        names.append(f"rotation about {_AXES[3 - a - b]}")
        modes.append(mode)
    return names, np.stack(modes, axis=1)


def _dofs(problem: Problem, name: str, nodes: np.ndarray) -> np.ndarray:
    """Degrees of freedom of a variable at those of the nodes that have it."""
    dofs = problem.unknowns.count * nodes + problem.unknowns.number(name)
    return np.asarray(dofs[problem.unknowns.present[dofs]])


def _bodies(problem: Problem, elements: np.ndarray) -> Iterator[tuple[np.ndarray, str]]:
    """Nodes of each set of connected elements, and the set in words."""
    mesh = problem.mesh
    nodes = mesh.elements[elements]
    # Elements and nodes are what is connected.
    rows = np.repeat(np.arange(len(nodes)), nodes.shape[1])
    size = len(nodes) + mesh.n_nodes
    graph = coo_matrix((np.ones(rows.size, bool), (rows, len(nodes) + nodes.ravel())), shape=(size, size))
    _, labels = connected_components(graph, directed=False)
    bodies = np.unique(labels[: len(nodes)])
    for body in bodies:
        own = labels[: len(nodes)] == body
        blocks = [mesh.block_name(int(number)) for number in np.unique(mesh.block_ids[elements[own]])]
        where = f"block{'s' if len(blocks) > 1 else ''} {', '.join(map(repr, blocks))}"
        members = np.unique(nodes[own])
        if len(bodies) > 1:
            middle = ", ".join(f"{c:.3g}" for c in mesh.points[members].mean(axis=0))
            where += f" (the part around {middle})"
        yield members, where
