"""Compile a model to an artifact: plan, lower, check, write."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch

from matlaw.artifact.cache import Cache, NoCache, key_of
from matlaw.artifact.cpu import cpu_features, runs_here
from matlaw.artifact.fingerprint import code_digest, fingerprint
from matlaw.artifact.folder import building, write_file
from matlaw.artifact.listener import Counter, Listener
from matlaw.artifact.lookalikes import notes_of_lookalikes
from matlaw.artifact.lowering import FileReport, lower
from matlaw.artifact.metadata import is_sealed, metadata, sealed
from matlaw.artifact.plan import Plan, Planner, output_files
from matlaw.artifact.request import Leaf, Request
from matlaw.artifact.stub import render_stub
from matlaw.artifact.tolerances import warnings_of_tolerances
from matlaw.errors import CompileError
from matlaw.output_file import naming
from matlaw.state_pair import StatePair
from matlaw.tensors import to_public
from matlaw.trace.graphs import Graph

#: Seeds of the states at which the self-check compares, by how thorough it is.
_SEEDS: Final = {"none": (), "quick": (1,), "full": tuple(range(1, 9))}


@dataclass
class CompileReport:
    """What a compile did.

    :ivar artifact: the artifact folder
    :ivar stub: the stub, or ``None``
    :ivar up_to_date: True when the artifact on disk was this build already and nothing was compiled
    :ivar files: what was compiled, in order
    :ivar left_to_inductor: graphs without a native kernel, and the operation that has none
    :ivar verification: worst errors of the self-check by device, dtype and graph
    :ivar unchecked_targets: CPU targets whose code this machine does not run, so that nothing compared it with eager
    :ivar weights: files of the weights that stay outside the compiled code
    :ivar warnings: what is likely to go wrong with this artifact
    :ivar notes: what may be wrong with the input file
    :ivar inputs: the law's inputs and their types, by the names that callers see
    :ivar outputs: likewise its outputs
    :ivar state_pairs: likewise what a host carries from step to step
    """

    artifact: Path
    stub: Path | None
    up_to_date: bool = False
    files: list[FileReport] = field(default_factory=list)
    left_to_inductor: dict[str, str] = field(default_factory=dict)
    verification: dict[str, Any] = field(default_factory=dict)
    unchecked_targets: list[str] = field(default_factory=list)
    weights: list[FileReport] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    inputs: dict[str, str] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)
    state_pairs: list[StatePair] = field(default_factory=list)


def compile_model(
    path: str | Path,
    name: str,
    output_dir: str | Path = "aoti",
    derivatives: Sequence[str] = (),
    parameters: Sequence[str] = (),
    backend: str = "both",
    *,
    device: str | Sequence[str] = "cpu",
    dtype: str | Sequence[str] = "float64",
    cpu_target: str | Sequence[str] = "x86-64-v3",
    overrides: Sequence[str] = (),
    extensions: Sequence[str] = (),
    rename_inputs: Sequence[str] = (),
    rename_outputs: Sequence[str] = (),
    rename_parameters: Sequence[str] = (),
    stub: bool = True,
    jobs: int = 1,
    force: bool = False,
    verify: str = "quick",
    keep_source: bool = False,
    external_weights: Sequence[str] | None = None,
    cache: Cache | bool = True,
    progress: Listener | None = None,
) -> CompileReport:
    """Compile a model of an input file.

    Nothing appears in ``output_dir`` before all graphs agree with eager; then the artifact takes its place in one step.

    :param path: the input file
    :param name: the model in it
    :param output_dir: where ``<name>/`` and ``<name>_aoti.i`` are written
    :param derivatives: ``OUT:IN`` or ``OUT:PARAM`` requests; an omitted side stands for all outputs or all inputs
    :param parameters: qualified names of parameters that stay changeable
    :param backend: ``both``, ``inductor`` or ``native``
    :param device: one or both of ``cpu`` and ``cuda``
    :param dtype: one or both of ``float64`` and ``float32``; every device and dtype gets a folder of its own
    :param cpu_target: one or more of ``x86-64-v2``, ``x86-64-v3``, ``x86-64-v4`` and ``native``; whoever loads the
        artifact takes the best that the machine runs
    :param overrides: assignments such as ``Models/elasticity/E:=1``
    :param extensions: Python files or modules with further types
    :param rename_inputs: ``OLD=NEW``: callers of the artifact see the new name; every other argument uses the old one
    :param rename_outputs: likewise
    :param rename_parameters: likewise, of promoted parameters
    :param stub: also write the stub
    :param jobs: how many files are compiled at once
    :param force: compile although the artifact on disk is this build already
    :param verify: how thoroughly to compare with eager: ``none``, ``quick`` (200 states) or ``full`` (1600)
    :param keep_source: put the generated C++ into the artifact, below ``source/``
    :param external_weights: parameters, or models of which all parameters, stay out of the compiled code, in
        ``weights/``, and can be swapped while a host runs; an empty list stands for all that ``parameters`` does not
        name
    :param cache: where compiled graphs are kept and looked for; ``True`` is the user's, ``False`` none
    :param progress: told as files are compiled
    :raises FatalError: the input file, a name, or the model is wrong; or a compiled graph disagrees with eager
    """
    request = Request(
        Path(path),
        name,
        tuple(derivatives),
        tuple(parameters),
        backend,
        device if isinstance(device, str) else tuple(device),
        dtype if isinstance(dtype, str) else tuple(dtype),
        cpu_target if isinstance(cpu_target, str) else tuple(cpu_target),
        tuple(overrides),
        tuple(str(e) for e in extensions),
        tuple(rename_inputs),
        tuple(rename_outputs),
        tuple(rename_parameters),
        verify,
        keep_source,
        None if external_weights is None else tuple(external_weights),
    )
    output = Path(output_dir)
    planner = Planner(request)
    request.require_devices()
    digest = fingerprint(request, planner.source.render(), torch.__version__, planner.program.parameters)
    place = output / name
    stub_path = output / f"{name}_aoti.i" if stub else None
    report = _report(planner, place, stub_path)
    if not force and _is_current(place, digest):
        if stub_path is not None and not stub_path.is_file():
            write_file(stub_path, render_stub(planner.source.render(), name, request.path.name))
        report.up_to_date = True
        return report
    if verify != "none":
        _require_target_of_this_machine(request.cpu_targets)
    store = cache if isinstance(cache, Cache) else Cache() if cache else NoCache()
    plan = planner.plan()
    stub_text = render_stub(planner.source.render(), name, request.path.name)
    report.left_to_inductor = {
        graph.stem: plan.unsupported[graph.forward].operation
        for graph in plan.graphs
        if graph.forward is not None and graph.forward in plan.unsupported and not graph.native_only
    }
    report.unchecked_targets = [t for t in request.cpu_targets if verify == "none" or not runs_here(t)]
    counter = Counter(output_files(plan, stub), progress or Listener())
    with building(place) as folder:
        report.files = lower(plan, folder, jobs, store, counter)
        if not report.files:
            raise CompileError(f"model '{request.name}': there is nothing to compile")
        _write_weights(plan, folder, report, counter)
        _verify(plan, folder, report, store)
        entries = metadata(plan, folder, digest, report.verification)
        with naming(place / "metadata.json"):
            (folder / "metadata.json").write_text(sealed(entries), encoding="utf-8")
    counter.landed(f"{name}/metadata.json")
    if stub_path is not None:
        write_file(stub_path, stub_text)
        counter.landed(stub_path.name)
    if any(not file.cached for file in report.files):
        store.prune()
    return report


def _report(planner: Planner, place: Path, stub: Path | None) -> CompileReport:
    """What is known of the law before anything is compiled."""
    program, reported = planner.program, planner.aliases.reported
    names = {"state": "outputs", "force": "inputs"}
    return CompileReport(
        place,
        stub,
        warnings=warnings_of_tolerances(program, planner.request.leaves),
        notes=notes_of_lookalikes(planner.source, program),
        inputs={reported("inputs", name): v.type.__name__ for name, v in program.inputs.items()},
        outputs={reported("outputs", name): v.type.__name__ for name, v in program.outputs.items()},
        state_pairs=[
            StatePair(reported(names[p.role], p.current), reported("inputs", p.old), p.role, p.initial)
            for p in program.state_pairs
        ],
    )


def _write_weights(plan: Plan, folder: Path, report: CompileReport, counter: Counter) -> None:
    for file, content in plan.weight_files.items():
        path = folder / file
        path.parent.mkdir(exist_ok=True)
        with naming(path):
            path.write_bytes(content)
        report.weights.append(FileReport(f"{plan.request.name}/{file}", len(content)))
        counter.landed(f"{plan.request.name}/{file}")


def _is_current(place: Path, digest: str) -> bool:
    """True when the artifact on disk is complete and has this fingerprint."""
    try:
        if not (place / "metadata.json").is_file():  # a pipe would be waited for
            return False
        text = (place / "metadata.json").read_text(encoding="utf-8")
        entries = json.loads(text)
        files = entries["files"]
        if entries.get("fingerprint") != digest or not is_sealed(text):
            return False
        return all((place / file).stat().st_size == record["bytes"] for file, record in files.items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _verify(plan: Plan, folder: Path, report: CompileReport, cache: Cache) -> None:
    """Compare every compiled graph with eager, in every leaf, on every CPU target that this machine runs.

    What was found for the same function, the same files and the same states is not computed again.
    """
    from matlaw.artifact.memory import FEWEST, QUICK_SLICES, states_at_once
    from matlaw.artifact.selfcheck import check_graph

    request = plan.request
    seeds, most_slices = _SEEDS[request.verify], QUICK_SLICES if request.verify == "quick" else None
    parameters = {name: value.data[..., 0].numpy().astype(np.float64) for name, value in plan.parameters.items()}
    parameters |= {name: to_public(w, ()).numpy().astype(np.float64) for name, w in plan.weights.items()}
    for leaf, graph in ((leaf, graph) for leaf in request.leaves for graph in plan.graphs):
        files = [(f.backend, folder / f.path) for f in plan.files_of(graph, leaf) if runs_here(f.target)]
        if not files or not seeds:
            continue
        key = _verified_key(plan, leaf, graph, files, parameters)
        known = cache.get(key) if key else None
        if known is not None:
            report.verification[f"{leaf.folder}/{graph.stem}"] = json.loads(known)
            continue
        try:
            found = check_graph(graph, files, parameters, leaf.float32, seeds, leaf.device, most_slices)
        except (MemoryError, RuntimeError) as e:
            if not isinstance(e, MemoryError) and "allocate memory" not in str(e):
                raise
            rows = states_at_once(graph)
            raise CompileError(
                f"{graph.stem}: the self-check, which evaluates the law eagerly for {rows} rows at a time"
                f"{' and cannot do with fewer' if rows == FEWEST else ''}, ran out of memory. "
                "Compile on a machine with more, or leave the check out: --verify none."
            ) from e
        report.verification[f"{leaf.folder}/{graph.stem}"] = found
        if key:
            cache.put(key, json.dumps(found).encode())


def _verified_key(
    plan: Plan, leaf: Leaf, graph: Graph, files: Sequence[tuple[str, Path]], parameters: dict[str, np.ndarray]
) -> str | None:
    """The key of what a check found; ``None`` for a graph whose function has no digest."""
    program = plan.programs.get(graph.forward) if graph.forward else None
    if graph.forward is not None and program is None:
        return None
    return key_of(
        "verified",
        [torch.__version__, np.__version__, code_digest(), *cpu_features()],
        [plan.request.verify, leaf.folder, graph.kind, program.traced.digest if program else ""],
        [[slot.name, slot.shape, slot.shared] for slot in (*graph.inputs, *graph.outputs)],
        [[p.output, p.input, p.batch_independent] for p in graph.pairs],
        [graph.columns, [[s.name, s.shape] for s in (*graph.rows, *graph.column_slots)]],
        {name: hashlib.sha256(value.tobytes()).hexdigest() for name, value in parameters.items()},
        [[backend, hashlib.sha256(file.read_bytes()).hexdigest()] for backend, file in files],
    )


def _require_target_of_this_machine(targets: Sequence[str]) -> None:
    if not any(runs_here(target) for target in targets):
        raise CompileError(
            f"--cpu-target {' '.join(targets)}: this machine's CPU runs none of these, so the artifact cannot be "
            "checked against eager. Add a target that it runs, for instance native."
        )
