"""A picture of the deformed mesh coloured by von Mises stress."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from matlaw.fe.auxiliary.invariants import von_mises
from matlaw.fe.problem import Problem

#: stops drawing meshes whose surface has more faces
MOST_FACES = 40000
_AZIMUTH, _ELEVATION = -62.0, 34.0


def draw(problem: Problem, path: Path, title: str = "") -> bool:
    """Draw the deformed surface, enlarged where the displacement is small.

    :param path: PNG file
    :returns: False when there is no matplotlib or the surface is too large to draw
    """
    mesh = problem.mesh
    if problem.mechanics is None:
        return False
    if mesh.dim == 2:
        faces = mesh.elements[:, : mesh.n_corners]
    else:
        surface = mesh.surface()
        faces = np.take_along_axis(mesh.elements[surface[:, 0]], mesh.type.sides[surface[:, 1]], axis=1)
    if len(faces) > MOST_FACES:
        return False
    try:
        from matplotlib import colormaps
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.cm import ScalarMappable
        from matplotlib.collections import PolyCollection
        from matplotlib.colors import Normalize
        from matplotlib.figure import Figure
    except ImportError:
        return False

    displacement = problem.displacement()
    size = float(np.ptp(mesh.points, axis=0).max())
    largest = float(np.linalg.norm(displacement, axis=1).max())
    scale = _scale(0.06 * size / largest) if largest > 0.0 else 1.0
    points = mesh.points + scale * displacement
    stress = _nodal_mean(problem, von_mises(problem.tensor("stress")))
    low, high = float(stress.min()), float(stress.max())
    if high - low < 1e-9 * max(abs(high), 1.0):
        low, high = low - 0.5, high + 0.5

    right, up, towards = _view(_AZIMUTH, _ELEVATION) if mesh.dim == 3 else np.eye(3)
    polygons = points[faces]
    normals = np.cross(polygons[:, 1] - polygons[:, 0], polygons[:, -1] - polygons[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    seen = np.flatnonzero(normals @ towards > 0.0)
    seen = seen[np.argsort(polygons[seen].mean(axis=1) @ towards)]  # far faces first
    light = 0.35 * right + 0.75 * up + 0.8 * towards
    shade = 0.74 + 0.26 * np.clip(normals[seen] @ light / np.linalg.norm(light), 0.0, 1.0)
    colours, normalise = colormaps["turbo"], Normalize(low, high)
    rgba = colours(normalise(stress[faces[seen]].mean(axis=1)))
    rgba[:, :3] *= shade[:, None]
    flat = np.stack([polygons[seen] @ right, polygons[seen] @ up], axis=-1)

    width, height = np.ptp(flat.reshape(-1, 2), axis=0)
    figure = Figure(figsize=(9.5, float(np.clip(1.4 + 7.2 * height / width, 3.4, 8.0))), dpi=150)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.03, 0.05, 0.81, 0.79))
    axes.add_collection(
        PolyCollection(list(flat), facecolors=rgba, edgecolors=(0.0, 0.0, 0.0, 0.4), linewidths=0.4, joinstyle="round")
    )
    axes.set_aspect("equal")
    axes.autoscale_view()
    axes.set_axis_off()
    bar = figure.colorbar(ScalarMappable(normalise, colours), cax=figure.add_axes((0.87, 0.17, 0.02, 0.62)))
    bar.set_label("von Mises stress")
    figure.text(0.035, 0.985, title or path.stem, fontsize=13, weight="bold", va="top")
    note = f"time {problem.time:g}; displacement enlarged {scale:g} times" if scale != 1.0 else f"time {problem.time:g}"
    figure.text(0.035, 0.985 - 0.3 / figure.get_figheight(), note, fontsize=9, color="0.35", va="top")
    figure.savefig(path)
    return True


def _view(azimuth: float, elevation: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Directions to the right, up and towards the viewer, who looks from an azimuth and elevation in degrees."""
    a, e = np.radians(azimuth), np.radians(elevation)
    towards = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
    right = np.array([-np.sin(a), np.cos(a), 0.0])
    return right, np.cross(towards, right), towards


def _scale(largest: float) -> float:
    """A round factor for displacements: 1, 2, 5, 10 ..., at most ``largest`` and at least 1."""
    if largest <= 1.0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(largest))
    return float(max(step * power for step in (1.0, 2.0, 5.0) if step * power <= largest))


def _nodal_mean(problem: Problem, values: np.ndarray) -> np.ndarray:
    """Mean over the elements around each node, ``(n_elements, n_points)`` to ``(n_nodes,)``."""
    average = problem.points.average(values)
    elements = problem.mesh.elements
    total = np.bincount(elements.ravel(), weights=np.repeat(average, elements.shape[1]), minlength=problem.mesh.n_nodes)
    return total / np.maximum(np.bincount(elements.ravel(), minlength=problem.mesh.n_nodes), 1)
