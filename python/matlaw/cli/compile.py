"""``matlaw-compile``: from an input file to an artifact."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING

from matlaw.cli.command import command

if TYPE_CHECKING:
    from matlaw.artifact.compile import CompileReport


def parser() -> argparse.ArgumentParser:
    """The options."""
    p = argparse.ArgumentParser(
        prog="matlaw-compile",
        description="Compile a model of an input file ahead of time. Writes <output-dir>/<name>/ and the stub "
        "<output-dir>/<name>_aoti.i, which stands for the model wherever an input file is expected.",
    )
    p.add_argument("input", help="the input file (.i)")
    p.add_argument("--model", required=True, metavar="NAME", help="the model in it")
    p.add_argument("-o", "--output-dir", default="aoti", metavar="DIR", help="where the artifact goes (default: aoti)")
    p.add_argument(
        "--device",
        nargs="+",
        default=["cpu"],
        metavar="DEVICE",
        help="cpu (default), cuda, or both, each a folder",
    )
    p.add_argument(
        "--dtype", nargs="+", default=["float64"], metavar="DTYPE",
        help="float64 (default), float32, or both; each gets a folder below the device's",
    )  # fmt: skip
    p.add_argument(
        "-p", "--parameter", action="append", nargs="+", default=[], metavar="NAME",
        help="a parameter that stays changeable, for instance elasticity.E",
    )  # fmt: skip
    p.add_argument(
        "-d", "--derivative", action="append", nargs="+", default=[], metavar="OUT:IN",
        help="a derivative to compile; an omitted side stands for all outputs or all inputs, and IN may be a parameter "
        "that -p names",
    )  # fmt: skip
    p.add_argument(
        "--external-weights", nargs="*", default=None, metavar="NAME",
        help="keep these parameters, or all of these models (without NAME: all but those of -p), out of the compiled "
        "code, in <name>/weights/, so that they can be swapped while a host runs",
    )  # fmt: skip
    for kind in ("input", "output", "parameter"):
        p.add_argument(
            f"--rename-{kind}", action="append", nargs="+", default=[], metavar="OLD=NEW",
            help=f"call the {kind} NEW at the artifact's boundary; -d and -p keep to OLD",
        )  # fmt: skip
    p.add_argument("--no-stub", action="store_true", help="do not write <name>_aoti.i")
    p.add_argument("-j", "--jobs", type=int, default=1, metavar="N", help="compile N graphs at once (default: 1)")
    p.add_argument("-q", "--quiet", action="store_true", help="print errors only")
    p.add_argument(
        "--backend", default="both", choices=("both", "inductor", "native"),
        help=".pt2 graphs for any runtime (inductor), kernels for CPUs (native: seconds), or both (default)",
    )  # fmt: skip
    p.add_argument(
        "--cpu-target", nargs="+", default=["x86-64-v3"], metavar="TARGET",
        help="what CPU code is for: any of x86-64-v2, x86-64-v3 (default), x86-64-v4 and native (this machine); "
        "a machine takes the best that it runs",
    )  # fmt: skip
    p.add_argument(
        "--load", action="append", nargs="+", default=[], metavar="EXT",
        help="a Python file, package or module with further models",
    )  # fmt: skip
    p.add_argument(
        "--verify", default="quick", choices=("none", "quick", "full"),
        help="how thoroughly to compare every graph with eager before anything is written (default: quick)",
    )  # fmt: skip
    p.add_argument("--keep-source", action="store_true", help="put the generated C++ into the artifact, below source/")
    p.add_argument("--no-cache", action="store_true", help="neither use nor keep graphs of other compiles")
    p.add_argument("--force", action="store_true", help="compile although the artifact is up to date")
    p.add_argument("overrides", nargs="*", metavar="override", help="for instance Models/elasticity/E:=1")
    return p


@command("matlaw-compile", "what was there before is as it was")
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code: 0, or 2 when something was wrong and nothing was written."""
    p = parser()
    options = p.parse_intermixed_args(arguments) if _has_overrides(arguments) else p.parse_args(arguments)
    lists = (
        options.derivative,
        options.parameter,
        options.load,
        options.rename_input,
        options.rename_output,
        options.rename_parameter,
    )
    flat = [[x for group in groups for x in group] for groups in lists]
    derivatives, parameters, extensions, rename_inputs, rename_outputs, rename_parameters = flat
    overrides = list(options.overrides)
    for group in (*flat, options.device, options.dtype, options.cpu_target, options.external_weights or []):
        overrides += [x for x in group if ":=" in x]
        group[:] = [x for x in group if ":=" not in x]
    if options.jobs < 1:
        p.error(f"-j {options.jobs}: expected a positive number")
    started = time.perf_counter()
    try:
        from matlaw.artifact.compile import compile_model
        from matlaw.cli.progress import listener

        with nullcontext() if options.quiet else listener() as progress:
            report = compile_model(
                options.input,
                options.model,
                options.output_dir,
                derivatives,
                parameters,
                options.backend,
                device=options.device,
                dtype=options.dtype,
                cpu_target=options.cpu_target,
                overrides=overrides,
                extensions=extensions,
                rename_inputs=rename_inputs,
                rename_outputs=rename_outputs,
                rename_parameters=rename_parameters,
                stub=not options.no_stub,
                jobs=options.jobs,
                force=options.force,
                verify=options.verify,
                keep_source=options.keep_source,
                external_weights=options.external_weights,
                cache=not options.no_cache,
                progress=progress,
            )
    except OSError as e:
        print(f"matlaw-compile: error: {options.output_dir}: {e}", file=sys.stderr)
        return 2
    for warning in report.warnings:
        print(f"matlaw-compile: warning: {warning}", file=sys.stderr)
    if not options.quiet:
        for note in report.notes:
            print(f"matlaw-compile: note: {note}", file=sys.stderr)
        _summarise(report, time.perf_counter() - started)
    return 0


def _has_overrides(arguments: Sequence[str] | None) -> bool:
    return any(":=" in a for a in (sys.argv[1:] if arguments is None else arguments))


def _boundary(report: CompileReport) -> list[str]:
    """What goes into the law and comes out of it, a line each; an old value stands beside its variable."""
    old = {(pair.role, pair.current): pair.old for pair in report.state_pairs}
    beside = set(old.values())
    rows = []
    for kind, role, carried, variables in (
        ("input", "force", "and {}, its value at the last step", report.inputs),
        ("output", "state", "state, {} at the next step", report.outputs),
    ):
        for name, type_name in variables.items():
            if kind == "output" or name not in beside:
                note = carried.format(old[role, name]) if (role, name) in old else ""
                rows.append((kind, name, type_name, note))
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    return ["  " + "  ".join(f"{c:<{w}}" for c, w in zip(row, [*widths, 0], strict=True)).rstrip() for row in rows]


def _worst_differences(report: CompileReport) -> list[str]:
    """A line for each output and derivative: the graph and the number of rows where it differs most."""
    worst: dict[str, tuple[float, int, str]] = {}
    for graph, found in report.verification.items():
        # A graph that solves without a matrix is judged by what its solution leaves of the equations, not by outputs.
        outputs = found.get("outputs")
        if outputs is None:
            outputs = {"solution of a linear system": {"error": max(found.values(), default=0.0), "rows": 0}}
        for name, x in outputs.items():
            here = x["error"], x["rows"], graph.rpartition("/")[2]
            worst[name] = max(worst.get(name, here), here)
    width = max(map(len, worst), default=0)
    return [
        f"  {name:<{width}}  {error:.1e}" + (f"  {rows:4} rows" if rows else " " * 11) + f"  {stem}"
        for name, (error, rows, stem) in worst.items()
    ]


def _summarise(report: CompileReport, seconds: float) -> None:
    if report.up_to_date:
        print(f"{report.artifact}: up to date, nothing to do (--force compiles again)")
        return
    print("\n".join(_boundary(report)))
    width = max(len(f.path) for f in report.files)
    for f in report.files:
        statements = f"  {f.statements} statements per row" if f.statements else ""
        print(f"  {f.path:<{width}}  {f.bytes / 1024:8.1f} KiB{statements}")
    for f in report.weights:
        print(f"  {f.path}  {f.bytes / 1024:.1f} KiB of weights")
    for stem, operation in report.left_to_inductor.items():
        print(f"  {stem}: no native kernel, left to Inductor ({operation} has no scalar form)")
    kibibytes = sum(f.bytes for f in report.files) / 1024
    cached, total = sum(f.cached for f in report.files), sum(f.statements for f in report.files)
    in_all = f"{len(report.files)} graph files, {kibibytes:.1f} KiB, {total} statements per row in all"
    print(f"  {in_all}, {cached} from the cache")
    if not report.verification:
        print(f"self-check: skipped (--verify none); wrote {report.artifact} unchecked in {seconds:.1f} s")
        return
    for target in report.unchecked_targets:
        print(f"  {target}: not checked, this machine's CPU does not run it")
    print("self-check: every graph agrees with eager; largest relative differences:")
    print("\n".join(_worst_differences(report)))
    print(f"wrote {report.artifact}" + (f" and {report.stub}" if report.stub else "") + f" in {seconds:.1f} s")


if __name__ == "__main__":
    sys.exit(main())
