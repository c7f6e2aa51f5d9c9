"""Plots of recorded histories."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import torch

from matlaw.drivers.components import component_suffixes
from matlaw.drivers.history import History
from matlaw.drivers.law import Law, inputs_of, outputs_of
from matlaw.errors import FatalError
from matlaw.input.suggestion import unknown_name

#: Most rows of a batch that a plot shows.
MAX_CURVES = 10


def plot(history: History, pairs: Sequence[str], path: Path, title: str = "") -> list[str]:
    """Draws components over one another, one panel per pair, one curve per row of the batch.

    :param pairs: ``x:y``, each a component such as ``strain_xx``, ``output.stress_xx`` or ``t``; the default is every
        output's component that varies most over the input's component that varies most
    :param path: of the PNG file
    :param title: above the panels
    :returns: the pairs that were drawn
    :raises FatalError: a component is not known, a pair is malformed, or the file cannot be written
    """
    table = _table(history)
    chosen = [_pair(text, table) for text in pairs] or _default(history, table)
    if not chosen:
        raise FatalError("nothing to plot: the history has no outputs")
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    across = min(len(chosen), 3)
    down = -(-len(chosen) // across)
    figure, axes = pyplot.subplots(
        down, across, figsize=(5.0 * across, 3.8 * down), squeeze=False, layout="constrained"
    )
    for panel, (x, y) in zip(axes.flat, chosen, strict=False):
        curves, hidden = _curves(table[x], table[y])
        for label, xs, ys in curves:
            panel.plot(xs, ys, marker=".", markersize=3, linewidth=1, label=label)
        panel.set_xlabel(x)
        panel.set_ylabel(y)
        panel.grid(alpha=0.3)
        panel.locator_params(axis="x", nbins=6)
        if len(curves) > 1:
            panel.legend(fontsize="small", title=f"{hidden} more rows" if hidden else None)
    for panel in axes.flat[len(chosen) :]:
        panel.set_visible(False)
    if title:
        figure.suptitle(title)
    try:
        figure.savefig(path, dpi=120)
    except (OSError, ValueError) as error:
        raise FatalError(f"{path}: cannot be written: {error}") from error
    finally:
        pyplot.close(figure)
    return [f"{x}:{y}" for x, y in chosen]


def check_pairs(pairs: Sequence[str], law: Law) -> None:
    """What :func:`plot` would refuse of the history of a law, before there is one.

    :raises FatalError: a component is not known, or a pair is malformed
    """
    variables = inputs_of(law) | outputs_of(law)
    known = {
        name + suffix: re.compile(re.escape(name) + r"(_\d+)*" + suffix)  # sites that the law does not declare
        for name, b in variables.items()
        for suffix in component_suffixes(b.kind, b.base_shape, len(b.base_shape))
    }
    for text in pairs:
        for name in _sides(text):
            own = name.removeprefix("output.").removeprefix("input.")
            if not any(pattern.fullmatch(own) for pattern in known.values()):
                raise FatalError(f"--plot: {unknown_name('component', own, known)}")


def _sides(text: str) -> tuple[str, str]:
    x, colon, y = text.partition(":")
    if not (x and colon and y):
        raise FatalError(f"--plot {text}: expected X:Y, such as strain_xx:stress_xx")
    return x, y


def _table(history: History) -> dict[str, torch.Tensor]:
    """Every component, ``(steps, *B)``, as ``output.<name>`` and ``input.<name>``."""
    return {f"{side}.{name}": v for side in ("output", "input") for name, v in history.components(side).items()}


def _pair(text: str, table: dict[str, torch.Tensor]) -> tuple[str, str]:
    x, y = _sides(text)
    return _component(x, table), _component(y, table)


def _component(name: str, table: dict[str, torch.Tensor]) -> str:
    for known in (name, f"output.{name}", f"input.{name}"):
        if known in table:
            return known
    raise FatalError(f"--plot: {unknown_name('component', name, [k.split('.', 1)[1] for k in table])}")


def _default(history: History, table: dict[str, torch.Tensor]) -> list[tuple[str, str]]:
    old = {name for name in history.names("input") if "~" in name}
    inputs = [n for n in history.names("input") if n not in old]
    # Time, a lone scalar, is what the others are drawn over only when nothing else varies.
    driven = [n for n in inputs if history.boundary[n].base_shape] or inputs
    xs = [c for n in driven for c in _components_of(history, "input", n)]
    if not xs:
        return []
    x = max(xs, key=lambda c: _range(table[c]))
    return [
        (x, max(_components_of(history, "output", n), key=lambda c: _range(table[c]))) for n in history.names("output")
    ]


def _components_of(history: History, side: str, name: str) -> list[str]:
    part = History(
        inputs=[{k: v for k, v in step.items() if k == name} for step in history.inputs],
        outputs=[{k: v for k, v in step.items() if k == name} for step in history.outputs],
        boundary=history.boundary,
    )
    return [f"{side}.{component}" for component in part.components(side)]


def _range(values: torch.Tensor) -> float:
    finite = values[torch.isfinite(values)]
    return float(finite.max() - finite.min()) if finite.numel() else 0.0


def _curves(x: torch.Tensor, y: torch.Tensor) -> tuple[list[tuple[str, torch.Tensor, torch.Tensor]], int]:
    """Label, abscissae and ordinates of each row that is shown, and how many are not."""
    batch = torch.broadcast_shapes(x.shape[1:], y.shape[1:])
    flat = [
        v.reshape(v.shape[0], *([1] * (len(batch) - v.ndim + 1)), *v.shape[1:]).expand(v.shape[0], *batch)
        for v in (x, y)
    ]
    xs, ys = (v.reshape(v.shape[0], -1) for v in flat)
    shown = min(xs.shape[1], MAX_CURVES)
    return [(f"row {i}", xs[:, i], ys[:, i]) for i in range(shown)], xs.shape[1] - shown
