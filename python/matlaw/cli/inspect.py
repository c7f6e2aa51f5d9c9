"""``matlaw-inspect``: what a compiled law, an input file or a model in it holds."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matlaw.cli.arguments import add_extensions, add_overrides, extensions_of, parse
from matlaw.cli.command import command


def parser() -> argparse.ArgumentParser:
    """The options."""
    p = argparse.ArgumentParser(
        prog="matlaw-inspect",
        description="Describe a compiled law (artifact folder, metadata.json or stub), an input file or a model of it.",
        epilog="exit code: 0 ok, 1 an artifact is damaged, 2 wrong input",
    )
    p.add_argument("path", type=Path, help="artifact folder, its metadata.json, the folder above, stub, or input file")
    p.add_argument("model", nargs="?", help="the model of the file, or of the folder, to describe")
    add_overrides(p)
    p.add_argument("--json", action="store_true", help="print JSON")
    add_extensions(p)
    return p


@command("matlaw-inspect", "nothing is written")
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    options = parse(parser(), arguments)
    from matlaw.inspection.artifact import DamagedArtifactError

    try:
        found = _describe(options.path, options.model, options.overrides, extensions_of(options))
    except DamagedArtifactError as error:
        print(f"matlaw-inspect: error: {error}", file=sys.stderr)
        return 1
    try:
        print(json.dumps(found, indent=1) if options.json else "\n".join(render(found)))
    except BrokenPipeError:
        sys.stderr.close()  # the reader has seen enough
    return 1 if found.get("problems") else 0


def _describe(path: Path, model: str | None, overrides: list[str], extensions: list[str]) -> dict[str, Any]:
    """The description that fits the path. A compiled law is described without importing torch.

    :raises MatlawError: the path or the model is wrong
    """
    from matlaw.errors import FatalError
    from matlaw.inspection.artifact import describe_artifact
    from matlaw.inspection.locate import artifact_folder, artifacts_of

    if path.name == "metadata.json":
        path = path.parent
    if path.is_dir():
        return describe_artifact(artifact_folder(path, model or ""))
    if not path.exists():
        raise FatalError(f"there is no file or folder {path}")
    if not path.is_file():
        raise FatalError(f"{path} is neither a regular file nor a folder")
    compiled = artifacts_of(path)
    if model in compiled:
        return describe_artifact(compiled[model])
    if model is None and len(compiled) == 1:
        return describe_artifact(next(iter(compiled.values())))
    from matlaw.input import load_extensions
    from matlaw.inspection.input_file import describe_file, describe_model

    load_extensions(extensions)
    return describe_file(path, overrides) if model is None else describe_model(path, model, overrides)


def render(found: dict[str, Any]) -> list[str]:
    """A description as lines of text."""
    if found["kind"] == "input file":
        lines = [found["path"]]
        for section, blocks in found["sections"].items():
            lines += ["", f"[{section}]", *_table([[name, kind] for name, kind in blocks.items()])]
        return [*lines, "", "describe a model: matlaw-inspect FILE MODEL"]
    lines = [f"{found['name']}  ({found['kind']} {found['path']})"]
    if found["kind"] == "artifact":
        source = found["source"].get("file", "")
        lines.append(
            f"  written by matlaw {found['matlaw_version']} with torch {found['torch_version']}, "
            f"schema {found['schema_version']}" + (f", from {source}" if source else "")
        )
    for key in ("inputs", "outputs"):
        lines += ["", f"{key}:", *_table([[v["name"], v["type"], _shape(v)] for v in found[key]])]
    if found["parameters"]:
        rows = [
            [
                p["name"],
                p["type"] + (f" ({p['dtype']})" if "dtype" in p else ""),
                _numbers(p["value"]),
                p.get("option", ""),
            ]
            for p in found["parameters"]
        ]
        lines += ["", "parameters:", *_table(rows)]
    if found.get("derivatives"):
        rows = [
            [f"{d['output']} : {d['input']}", "the same for all rows" if d.get("batch_independent") else ""]
            for d in found["derivatives"]
        ]
        lines += ["", "derivatives:", *_table(rows)]
    if found["state_pairs"]:
        rows = [[f"{p['current']} -> {p['old']}", p["role"], _initial(p)] for p in found["state_pairs"]]
        lines += ["", "from one step to the next:", *_table(rows)]
    if found.get("times"):
        lines += ["", "time: " + ", ".join(f"{t['current']} after {t['old']}" for t in found["times"])]
    for i, segment in enumerate(found["segments"]):
        lines += ["", *_segment(i, segment)]
    if found.get("solver_config"):
        lines += ["", "solver: " + ", ".join(f"{k} {v}" for k, v in found["solver_config"].items())]
    if found["kind"] == "artifact":
        lines += _files(found)
    return lines


def _files(found: dict[str, Any]) -> list[str]:
    lines = []
    for build, entry in found["builds"].items():
        parts = [f"{k} {' '.join(v) if isinstance(v, list) else v}" for k, v in entry.items() if v]
        lines += ["", f"build {build}: " + ", ".join(parts)]
        rows = [[f, f"{size / 1024:.1f} KiB"] for f, size in found["files"].items() if f.startswith(f"{build}/")]
        lines += _table(rows)
    lines += ["", f"size: {found['bytes'] / 1024:.1f} KiB in {len(found['files'])} files"]
    rows = [[name, _checks(value)] for name, value in found["verification"].items()]
    if rows:
        lines += ["", "verification (largest relative difference from eager):", *_table(rows)]
    if found["problems"]:
        lines += ["", "DAMAGED:", *(f"  {problem}" for problem in found["problems"])]
    else:
        lines += ["", "seal and digests fit"]
    return lines


def _segment(i: int, segment: dict[str, Any]) -> list[str]:
    size = f", {segment['size']} unknowns" if "size" in segment else ""
    lines = [f"segment {i}: {segment['kind']}{size}"]
    for key in ("inputs", "outputs", "parameters", "models", "givens"):
        if segment.get(key):
            lines.append(f"  {key + ':':<11} {' '.join(segment[key])}")
    if segment.get("unknowns"):
        lines.append(f"  {'unknowns:':<11} " + " ".join(f"{u['name']}({u['size']})" for u in segment["unknowns"]))
    if segment.get("predictor"):
        lines.append(f"  {'predictor:':<11} {segment['predictor']}")
    if segment.get("graphs"):
        lines.append(f"  {'graphs:':<11} " + " ".join(segment["graphs"]))
    return lines


def _table(rows: list[list[str]]) -> list[str]:
    if not rows:
        return ["  none"]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  " + "  ".join(f"{c:<{w}}" for c, w in zip(row, widths, strict=True)).rstrip() for row in rows]


def _shape(variable: dict[str, Any]) -> str:
    sub = [str(n) for n in variable["sub_batch_shape"]]
    return "(" + ", ".join(["*B", *sub, *(str(n) for n in variable["base_shape"])]) + ")"


def _initial(pair: dict[str, Any]) -> str:
    values = pair.get("initial", [])
    return f"starts from {_numbers(values)}" if any(values) else "starts from zero"


def _numbers(values: list[float]) -> str:
    shown = " ".join(f"{v:g}" for v in values[:9])
    return shown if len(values) <= 9 else f"{shown} ... ({len(values)})"


def _checks(found: dict[str, Any]) -> str:
    parts = [f"{what} {error:.1e}" for what, error in found.items() if what != "outputs"]
    parts += [f"{name} {x['error']:.1e} among {x['rows']} rows" for name, x in found.get("outputs", {}).items()]
    return ", ".join(parts)


if __name__ == "__main__":
    sys.exit(main())
