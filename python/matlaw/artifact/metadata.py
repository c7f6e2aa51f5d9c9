"""metadata.json, as docs/architecture.md, section 5, describes it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import torch

from matlaw.artifact.cpu import cpu_features, runs_here
from matlaw.artifact.elf import glibc_floor
from matlaw.artifact.plan import Plan, SegmentPlan
from matlaw.artifact.request import Leaf, cuda_capability
from matlaw.artifact.weights import weight_entry
from matlaw.tensors import to_public
from matlaw.trace.derivatives import ift_places
from matlaw.trace.graphs import Graph, offsets, parameter_slots, slots_of
from matlaw.trace.linear import LinearSolve
from matlaw.version import __version__

SCHEMA_VERSION: Final = 13
_SEAL: Final = "0" * 64


def variable_entry(name: str, variable: Any) -> dict[str, Any]:
    """What metadata says of a variable."""
    return {
        "name": name,
        "type": variable.type.__name__,
        "base_shape": list(variable.type.base_shape),
        "sub_batch_shape": list(variable.sub_batch_shape),
        "size": variable.size,
    }


def parameter_entry(name: str, value: Any) -> dict[str, Any]:
    """What metadata says of a promoted parameter."""
    [slot] = parameter_slots({name: value})
    numbers = to_public(value, (1,)).reshape(-1).to(value.parameter_dtype)
    return {
        "name": name,
        "type": type(value).__name__,
        "param_base_shape": list(value.base_shape),
        "sub_batch_shape": list(value.sub_batch_shape),
        "size": slot.size,
        **({} if numbers.is_floating_point() else {"dtype": "int64"}),
        "value": numbers.tolist(),
    }


def graph_entry(graph: Graph) -> dict[str, Any]:
    """What metadata says of a graph."""
    entry: dict[str, Any] = {"stem": graph.stem}
    if graph.kind == "jvp":
        entry["pairs"] = [
            {"output": p.output, "input": p.input, "batch_independent": p.batch_independent} for p in graph.pairs
        ]
    elif graph.kind == "predictor":
        names = [slot.name for slot in graph.outputs]
        entry |= {"inputs": [], "outputs": names}
    elif graph.kind in ("jacobian_given", "sensitivity"):
        entry["givens"] = _slices(graph)
    elif graph.kind == "param_jvp":
        entry["pairs"] = [
            {"output": p.output, "parameter": p.input, "batch_independent": p.batch_independent} for p in graph.pairs
        ]
    elif graph.kind == "dr_dparam":
        entry["parameters"] = _slices(graph)
    if graph.kind in ("jacobian_given", "solve_ift", "dr_dparam", "solve_param"):
        by = "input" if graph.kind in ("jacobian_given", "solve_ift") else "parameter"
        entry["pairs"] = [
            {"output": p.output, by: p.input, "row_offset": row, "col_offset": column}
            for p, (row, _, column, _) in zip(graph.pairs, ift_places(graph), strict=True)
        ]
    return entry


def _slices(graph: Graph) -> list[dict[str, Any]]:
    """Where the columns of each name of a graph's ``columns`` start."""
    by_name = {slot.name: slot for slot in graph.inputs}
    slots = [by_name[name] for name in graph.columns]
    at = offsets(slots)
    return [{"name": s.name, "size": s.size, "offset": at[s.name]} for s in slots]


def segment_entry(part: SegmentPlan) -> dict[str, Any]:
    """What metadata says of a segment."""
    segment = part.segment
    entry: dict[str, Any] = {
        "kind": part.kind,
        "inputs": list(segment.inputs),
        "outputs": list(segment.outputs),
        "parameters": part.parameters,
    }
    if part.weights:
        entry["weights"] = part.weights
    if part.kind == "implicit":
        slots = slots_of(segment.unknowns)
        at = offsets(slots)
        entry |= {
            "update": segment.update.name,
            "size": sum(slot.size for slot in slots),
            "unknowns": [
                {"name": s.name, "size": s.size, "offset": at[s.name], "base_shape": list(v.type.base_shape)}
                for s, v in zip(slots, segment.unknowns.values(), strict=True)
            ],
            "givens": list(segment.givens),
            "linear_solver": _linear_entry(part.linear),
        }
        for by, solve in part.sensitivities.items():
            entry[f"{by}_sensitivity"] = _linear_entry(solve)
            if solve.krylov is not None:
                entry[f"{by}_sensitivity"]["krylov"] = solve.krylov
    entry["graphs"] = {kind: graph_entry(graph) for kind, graph in part.graphs.items()}
    if "predictor" in part.graphs:
        entry["graphs"]["predictor"]["inputs"] = list(segment.predictor.inputs)
    return entry


def _linear_entry(solve: LinearSolve) -> dict[str, Any]:
    """What metadata says of a linear solver, but the settings of an iterative one."""
    return {"kind": solve.kind, **solve.structure_entry()}


def solver_entry(part: SegmentPlan) -> dict[str, Any]:
    """The Newton settings of an implicit segment."""
    config = {k: v for k, v in part.segment.solver_config.items() if not k.endswith("_sensitivity")}
    return {**config, "solver_kind": part.linear.kind}


def build_entry(plan: Plan, leaf: Leaf, folder: Path) -> dict[str, Any]:
    """What metadata says of the graphs for one device and dtype."""
    request, targets = plan.request, list(plan.request.targets_of(leaf))
    native = any(plan.is_native(graph, leaf) for graph in plan.graphs)
    inductor = any(plan.is_inductor(graph, leaf) for graph in plan.graphs)
    build: dict[str, Any] = {
        "backends": ["inductor"] * inductor + ["native"] * native,
        "cpu_targets": targets if native else [],
        "glibc_floor": glibc_floor(folder / file for file in plan.files_of_leaf(leaf)),
        "verified_cpu_targets": [t for t in targets if request.verify != "none" and runs_here(t)],
    }
    if inductor:
        build["inductor_cpu_target"] = targets[0]
        build["inductor_cpu_targets"] = targets
    if "native" in targets:
        build["cpu_features"] = list(cpu_features())
    if leaf.device == "cuda":
        build["cuda_capability"] = cuda_capability()
    return build


def metadata(plan: Plan, folder: Path, fingerprint: str, verification: Mapping[str, Any]) -> dict[str, Any]:
    """Everything that metadata.json holds, but the seal.

    :param plan: what was compiled
    :param folder: the artifact folder with all other files in place
    :param fingerprint: of the request, see :func:`matlaw.artifact.fingerprint.fingerprint`
    :param verification: what the self-check found
    """
    program, request = plan.program, plan.request
    boundary = {**program.inputs, **program.outputs}
    inner: dict[str, Any] = {}
    for part in plan.segments:
        for name, variable in {**part.segment.inputs, **part.segment.outputs}.items():
            if name not in boundary:
                inner[name] = {k: v for k, v in variable_entry(name, variable).items() if k != "name"}
    text = plan.source.render()
    found: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "name": request.name,
        "matlaw_version": __version__,
        "torch_version": torch.__version__.split("+")[0],
        "inputs": [variable_entry(n, v) for n, v in program.inputs.items()],
        "outputs": [variable_entry(n, v) for n, v in program.outputs.items()],
        "parameters": [parameter_entry(n, v) for n, v in plan.parameters.items()],
        "derivatives": [{"output": o, "input": i, "batch_independent": c} for o, i, c in plan.pairs],
        "param_derivatives": [
            {"output": o, "parameter": p, "batch_independent": c} for o, p, c in plan.parameter_pairs
        ],
        "state_pairs": [
            {"current": p.current, "old": p.old, "role": p.role, "initial": [float(x) for x in p.initial]}
            for p in program.state_pairs
        ],
        "times": [{"current": current, "old": old} for current, old in program.times],
        "segments": [segment_entry(part) for part in plan.segments],
        "variables": inner,
        "builds": {leaf.folder: build_entry(plan, leaf, folder) for leaf in request.leaves},
        "files": {file: file_entry(folder / file) for file in plan.files()},
        "source": {"file": request.path.name, "text": text, "sha256": hashlib.sha256(text.encode()).hexdigest()},
        "fingerprint": fingerprint,
        "verification_level": request.verify,
        "verification": dict(verification),
    }
    if plan.weights:
        dtypes = dict.fromkeys(leaf.dtype for leaf in request.leaves)
        found["weights"] = [weight_entry(name, value) for name, value in plan.weights.items()]
        found["weight_files"] = dict(zip(dtypes, plan.weight_files, strict=True))
    aliases = plan.aliases.entry()
    if aliases:
        found["boundary_aliases"] = aliases
    solvers = [solver_entry(part) if part.kind == "implicit" else None for part in plan.segments]
    first = next((solver for solver in solvers if solver is not None), None)
    if first is not None:
        found["solver_config"] = first
    for entry, solver in zip(found["segments"], solvers, strict=True):
        if solver not in (None, first):
            entry["solver_config"] = solver
    return found


def file_entry(path: Path) -> dict[str, Any]:
    """Digest and size of a file."""
    data = path.read_bytes()
    return {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}


def sealed(entries: Mapping[str, Any]) -> str:
    """The text of metadata.json with its own digest in place: of the text with 64 zeros there."""
    text = json.dumps({**entries, "metadata_sha256": _SEAL}, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    return text.replace(f'"metadata_sha256": "{_SEAL}"', f'"metadata_sha256": "{_digest(text)}"')


def is_sealed(text: str) -> bool:
    """True when the digest in a metadata.json is the one of its text."""
    try:
        seal = json.loads(text)["metadata_sha256"]
    except (ValueError, KeyError, TypeError):
        return False
    return isinstance(seal, str) and _digest(text.replace(seal, _SEAL)) == seal


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
