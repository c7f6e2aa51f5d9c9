"""Draw and tabulate the results of speed.py.

    python benchmarks/speed/plot.py results.json docs/images

Writes ``speed-batch.png`` (cost of a point against batch size, log-log, law by law), ``speed-size.png`` (against the
number of unknowns) and prints a table in Markdown: cost of a point at 8192 rows, and what the other programs take.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

STYLES = {"matlaw": "o-", "eager": "s:", "peer": "^--", "limit": "d-."}
NAMES = {"matlaw": "matlaw", "eager": "matlaw, eager", "peer": "neml2", "limit": "C++ by hand"}
#: Unknowns of the implicit laws.
UNKNOWNS = {
    "radial return": 1, "single crystal, decoupled": 7, "J2, viscoplastic": 7, "J2, rate independent": 8, "Gurson": 9,
    "single crystal, coupled": 10, "Chaboche, 2 back stresses": 19, "Chaboche, 4 back stresses": 31,
    "Chaboche, 6 back stresses": 43,
}  # fmt: skip


def main() -> None:
    """Draw and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path)
    parser.add_argument("folder", type=Path, help="for the images")
    options = parser.parse_args()
    results = json.loads(options.results.read_text())["results"]
    options.folder.mkdir(parents=True, exist_ok=True)
    against_batch(results, options.folder / "speed-batch.png")
    against_size(results, options.folder / "speed-size.png")
    print(table(results))


def against_batch(results: list[dict[str, Any]], file: Path) -> None:
    """Values and tangents of one thread, a panel for each law."""
    laws = list(dict.fromkeys(r["law"] for r in results))
    columns = 4
    rows = -(-len(laws) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(4 * columns, 3 * rows), squeeze=False, sharex=True)
    for law, axis in zip(laws, axes.flat, strict=False):
        chosen = [r for r in results if r["law"] == law and r["what"] == "tangent" and r["threads"] == 1]
        for kind, style in STYLES.items():
            points = [(r["rows"], r["us_per_point"][kind]) for r in chosen if kind in r["us_per_point"]]
            if points:
                axis.loglog(*zip(*points, strict=True), style, label=NAMES[kind], markersize=4)
        axis.set_title(law, fontsize=10)
        axis.grid(True, which="both", alpha=0.3)
    for axis in axes.flat[len(laws) :]:
        axis.set_visible(False)
    for axis in axes[-1]:
        axis.set_xlabel("points in a batch")
    for axis in axes[:, 0]:
        axis.set_ylabel("us a point, with tangent")
    axes.flat[0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(file, dpi=90)


def against_size(results: list[dict[str, Any]], file: Path) -> None:
    """Cost of a point at the largest common batch against the number of unknowns."""
    figure, axis = plt.subplots(figsize=(5, 4))
    for kind, style in STYLES.items():
        points = sorted(
            (UNKNOWNS[r["law"]], r["us_per_point"][kind])
            for r in results
            if r["law"] in UNKNOWNS
            and (r["rows"], r["what"], r["threads"]) == (8192, "tangent", 1)
            and kind in r["us_per_point"]
        )
        if points:
            axis.loglog(*zip(*points, strict=True), style[0], label=NAMES[kind])
    axis.set_xlabel("unknowns")
    axis.set_ylabel("us a point at 8192 points, with tangent")
    axis.grid(True, which="both", alpha=0.3)
    axis.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(file, dpi=90)


def table(results: list[dict[str, Any]]) -> str:
    """Ratios to the others, at 8192 points and at one."""
    lines = [
        "| law | us a point | neml2 / matlaw | 2 threads | neml2 / matlaw, 2 threads | neml2 / matlaw, one point "
        "| C++ by hand / matlaw |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for law in dict.fromkeys(r["law"] for r in results):
        cells = [law]
        found = {(r["rows"], r["threads"]): r for r in results if r["law"] == law and r["what"] == "value"}
        for rows, threads, kind in (
            (8192, 1, "us"), (8192, 1, "peer"), (8192, 2, "us"), (8192, 2, "peer"), (1, 1, "peer"), (8192, 1, "limit")
        ):  # fmt: skip
            r = found.get((rows, threads))
            if r is None or (kind != "us" and kind not in r["ratio"]):
                cells.append("")
            elif kind == "us":
                cells.append(f"{r['us_per_point']['matlaw']:.3g}")
            else:
                cells.append(f"{r['ratio'][kind]:.3g}")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
