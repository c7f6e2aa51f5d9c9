"""A picture of the deformed mesh coloured by von Mises stress."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from matlaw.fe.auxiliary.invariants import von_mises
from matlaw.fe.mesh.hexmesh import SIDE_NODES
from matlaw.fe.problem import Problem

#: stops drawing meshes whose surface has more faces
MOST_FACES = 40000


def draw(problem: Problem, path: Path, title: str = "") -> bool:
    """Draw the deformed surface, enlarged where the displacement is small.

    :param path: PNG file
    :returns: False when there is no matplotlib or the surface is too large to draw
    """
    surface = problem.mesh.surface()
    if len(surface) > MOST_FACES:
        return False
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        return False
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    mesh = problem.mesh
    faces = np.take_along_axis(mesh.elements[surface[:, 0]], SIDE_NODES[surface[:, 1]], axis=1)
    displacement = problem.u.reshape(-1, 3)
    size = float(np.ptp(mesh.points, axis=0).max())
    largest = float(np.linalg.norm(displacement, axis=1).max())
    scale = _scale(0.06 * size / largest) if largest > 0.0 else 1.0
    points = mesh.points + scale * displacement
    stress = _nodal_mean(problem, von_mises(problem.tensor("stress")))

    low, high = float(stress.min()), float(stress.max())
    if high - low < 1e-9 * max(abs(high), 1.0):
        low, high = low - 0.5, high + 0.5
    colours = colormaps["turbo"]
    normalise = Normalize(low, high)
    polygons = points[faces]
    shade = _shade(polygons)
    rgba = colours(normalise(stress[faces].mean(axis=1)))
    rgba[:, :3] *= shade[:, None]

    figure = Figure(figsize=(9.0, 6.0), dpi=150)
    FigureCanvasAgg(figure)
    axes: Any = figure.add_axes((-0.05, -0.06, 0.9, 1.08), projection="3d", computed_zorder=False)
    collection = Poly3DCollection(polygons, facecolors=rgba, edgecolors=(0.0, 0.0, 0.0, 0.45), linewidths=0.35)
    axes.add_collection3d(collection)
    middle, extent = (points.max(axis=0) + points.min(axis=0)) / 2.0, np.ptp(points, axis=0)
    half = 0.5 * extent
    axes.set_xlim(middle[0] - half[0], middle[0] + half[0])
    axes.set_ylim(middle[1] - half[1], middle[1] + half[1])
    axes.set_zlim(middle[2] - half[2], middle[2] + half[2])
    axes.set_box_aspect(tuple(extent), zoom=1.25)
    axes.set_proj_type("persp", focal_length=0.6)
    axes.view_init(elev=22.0, azim=-58.0)
    axes.set_axis_off()
    bar = figure.colorbar(ScalarMappable(normalise, colours), cax=figure.add_axes((0.86, 0.2, 0.022, 0.6)))
    bar.set_label("von Mises stress")
    figure.text(0.04, 0.93, title or problem.root.location, fontsize=12, weight="bold")
    figure.text(0.04, 0.895, f"time {problem.time:g}, displacement x {scale:g}", fontsize=9, color="0.35")
    figure.savefig(path)
    return True


def _scale(largest: float) -> float:
    """A round factor for displacements: 1, 2, 5, 10 ..., at most ``largest`` and at least 1."""
    if largest <= 1.0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(largest))
    return float(max(step * power for step in (1.0, 2.0, 5.0) if step * power <= largest))


def _nodal_mean(problem: Problem, values: np.ndarray) -> np.ndarray:
    """Mean over the elements around each node, ``(n_elements, n_points)`` to ``(n_nodes,)``."""
    average = problem.discretisation.element_average(values)
    elements = problem.mesh.elements
    total = np.bincount(elements.ravel(), weights=np.repeat(average, 8), minlength=problem.mesh.n_nodes)
    return total / np.maximum(np.bincount(elements.ravel(), minlength=problem.mesh.n_nodes), 1)


def _shade(polygons: np.ndarray) -> np.ndarray:
    """Brightness of each face under a light from above left, ``(n,)``."""
    normal = np.cross(polygons[:, 2] - polygons[:, 0], polygons[:, 3] - polygons[:, 1])
    length = np.linalg.norm(normal, axis=1)
    light = np.array([-0.35, -0.6, 0.72])
    light /= np.linalg.norm(light)
    return 0.68 + 0.32 * np.clip(normal @ light / np.where(length > 0.0, length, 1.0), 0.0, 1.0)
