"""Which graphs and files an artifact has, worked out before anything is compiled."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from matlaw.artifact.aliases import BoundaryAliases, requested_aliases
from matlaw.artifact.memory import QUICK_SLICES, bytes_of_arrays, rows_that_fit
from matlaw.artifact.request import Leaf, Request, checked_parameters, checked_weights, requested_pairs
from matlaw.artifact.samples import STATES, sample, slices
from matlaw.artifact.substeps import moving_sources
from matlaw.artifact.unpaired import refuse_unpaired_old_values
from matlaw.artifact.weights import weight_file
from matlaw.errors import CompileError
from matlaw.ir.aten import UnsupportedOperation
from matlaw.ir.backward_error import backward_errors, too_large
from matlaw.ir.evaluate import evaluate
from matlaw.ir.program import Program as IrProgram
from matlaw.ir.program import positions, reachable
from matlaw.lower.native.programs import ForwardProgram, native_program, sparse_program
from matlaw.models.common import AOTIModel
from matlaw.trace import graphs as g
from matlaw.trace.dependence import Dependence
from matlaw.trace.forward import located
from matlaw.trace.graphs import Forward, Graph, Pair
from matlaw.trace.linear import LinearSolve, linear_solve
from matlaw.trace.program import leaves, models_of

if TYPE_CHECKING:
    from matlaw.input.input_file import InputFile


@dataclass
class SegmentPlan:
    """One segment and its graphs.

    :ivar kind: ``forward`` or ``implicit``
    :ivar segment: from :func:`matlaw.trace.partition`
    :ivar parameters: promoted parameters that it uses
    :ivar weights: weights outside the code that it uses
    :ivar graphs: by kind, in the order in which they are written
    :ivar forward: value function of a forward segment, residual of an implicit one
    :ivar linear: how the linear systems of an implicit segment's Newton steps are solved
    :ivar sensitivities: likewise those of its derivatives by ``input`` and by ``param``
    """

    kind: str
    segment: Any
    parameters: list[str]
    graphs: dict[str, Graph]
    forward: Forward
    linear: LinearSolve = field(default_factory=LinearSolve)
    sensitivities: dict[str, LinearSolve] = field(default_factory=dict)
    weights: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class GraphFile:
    """One compiled file of a graph.

    :ivar path: below the artifact folder
    :ivar backend: ``inductor`` or ``native``
    :ivar target: CPU target
    """

    path: str
    backend: str
    target: str


@dataclass
class Plan:
    """Everything that a compile will do.

    :ivar request: what was asked for
    :ivar source: the input file
    :ivar program: the partitioned model
    :ivar pairs: master derivative pairs, with their constant blocks' property
    :ivar parameters: promoted parameters, typed values by name
    :ivar parameter_pairs: ``(output, parameter, constant)`` of the derivatives by parameters
    :ivar aliases: names that callers see instead
    :ivar weights: what stays outside the compiled code, typed values by name
    :ivar segments: in order
    :ivar unsupported: forward functions without scalars, and why
    """

    request: Request
    source: InputFile
    program: Any
    pairs: list[tuple[str, str, bool]]
    parameters: dict[str, Any]
    segments: list[SegmentPlan]
    programs: dict[Forward, ForwardProgram] = field(default_factory=dict)
    unsupported: dict[Forward, UnsupportedOperation] = field(default_factory=dict)
    parameter_pairs: list[tuple[str, str, bool]] = field(default_factory=list)
    aliases: BoundaryAliases = field(default_factory=BoundaryAliases)
    weights: dict[str, Any] = field(default_factory=dict)

    @property
    def graphs(self) -> list[Graph]:
        """All graphs, in order."""
        return [graph for segment in self.segments for graph in segment.graphs.values()]

    def is_native(self, graph: Graph, leaf: Leaf) -> bool:
        """True when the graph gets a native kernel in this leaf."""
        kernels = self.request.backend != "inductor" and leaf.device == "cpu"
        if graph.native_only and leaf.float32:  # single precision cannot do without pivoting
            return False
        return kernels and graph.forward is not None and graph.forward in self.programs

    def runs_in_place(self, graph: Graph) -> bool:
        """True when a call may run the graph on the caller's own memory: it is all that there is to do."""
        return len(self.segments) == 1 and graph.kind in ("value", "jvp")

    def is_inductor(self, graph: Graph, leaf: Leaf) -> bool:
        """True when the graph gets a ``.pt2`` in this leaf.

        One that only substeps need takes long to compile. Where a native kernel serves it gets none, unless the input
        file allows substeps.
        """
        if self.request.backend == "native" or graph.native_only:
            return False
        return not graph.of_substeps or self._allows_substeps or not self.is_native(graph, leaf)

    @property
    def _allows_substeps(self) -> bool:
        updates = [part.segment.update for part in self.segments if part.kind == "implicit"]
        return any(update.max_substepping_level > 0 for update in updates)

    def files(self) -> list[str]:
        """Files below the artifact folder, except metadata.json, in the order in which they are written."""
        found = [file for leaf in self.request.leaves for file in self.files_of_leaf(leaf)]
        return found + list(self.weight_files)

    @cached_property
    def weight_files(self) -> dict[str, bytes]:
        """The files of weights, one for each dtype: their content by path below the artifact folder."""
        dtypes = dict.fromkeys(leaf.dtype for leaf in self.request.leaves) if self.weights else {}
        contents = [weight_file(self.weights, dtype) for dtype in dtypes]
        return {f"weights/{hashlib.sha256(x).hexdigest()}.safetensors": x for x in contents}

    def files_of_leaf(self, leaf: Leaf) -> list[str]:
        """The files of a device and dtype, in the order in which they are written."""
        found = [file.path for graph in self.graphs for file in self.files_of(graph, leaf)]
        if self.request.keep_source:
            found += [
                self.request.source_file(leaf, graph.stem) for graph in self.graphs if self.is_native(graph, leaf)
            ]
        return found

    def files_of(self, graph: Graph, leaf: Leaf) -> list[GraphFile]:
        """The compiled files of a graph in a leaf."""
        request, found = self.request, []
        for target in request.targets_of(leaf):
            if self.is_inductor(graph, leaf):
                found.append(GraphFile(request.inductor_file(leaf, graph.stem, target), "inductor", target))
            if self.is_native(graph, leaf):
                found.append(GraphFile(request.native_file(leaf, graph.stem, target), "native", target))
        return found


class Planner:
    """Works out the plan of a request.

    :param request: what was asked for
    :raises FatalError: the input file, a name, or the model is wrong
    """

    def __init__(self, request: Request) -> None:
        from matlaw.input.extensions import load_extensions
        from matlaw.input.input_file import InputFile
        from matlaw.trace import partition

        request.check()
        load_extensions(request.extensions)
        self.request = request
        self.source = InputFile(request.path, request.overrides)
        self.program = partition(self.source.model(request.name))
        self._refuse_compiled_models()
        self._refuse_row_mixing()
        self._refuse_batched_parameters()
        refuse_unpaired_old_values(self.source, self.program)
        self.programs: dict[Forward, ForwardProgram] = {}
        self.unsupported: dict[Forward, UnsupportedOperation] = {}
        self.dependences: dict[Forward, Dependence] = {}
        names = checked_parameters(request.parameters, self.program.slots)
        self.promoted = {name: self.program.parameters[name] for name in names}
        outside = checked_weights(request.external_weights, list(self.program.parameters), names)
        self.weights = {name: self.program.parameters[name] for name in outside}
        outputs, inputs = list(self.program.outputs), list(self.program.inputs)
        pairs = requested_pairs(request.derivatives, outputs, inputs, names, list(self.program.parameters))
        self.requested = [pair for pair in pairs if pair[1] in inputs]
        self.by_parameter = [pair for pair in pairs if pair[1] not in inputs]
        self.aliases = requested_aliases(
            {
                "inputs": request.rename_inputs,
                "outputs": request.rename_outputs,
                "parameters": request.rename_parameters,
            },
            {"inputs": inputs, "outputs": outputs, "parameters": names},
            list(self.program.parameters),
        )

    def _refuse_compiled_models(self) -> None:
        for model in (model for segment in self.program.segments for model in models_of(segment)):
            if isinstance(model, AOTIModel):
                raise CompileError(
                    f"{model.location}: '{model.name}' is compiled already: this is a stub, or takes a model from one. "
                    "Pass the input file that the stub was made from (its first line names it)"
                )

    def _refuse_row_mixing(self) -> None:
        for leaf in (leaf for segment in self.program.segments for leaf in leaves(segment)):
            if leaf.mixes_rows:
                raise CompileError(
                    f"{leaf.location}: {leaf.type_name} reduces the rows of a call, and those of a compiled law do not "
                    "depend on each other. Reduce sub-batch axes instead (SR2IntermediateMean, SR2IntermediateSum), or "
                    "run this law without compiling it"
                )

    def _refuse_batched_parameters(self) -> None:
        for name, slot in self.program.slots.items():
            if any(extent > 1 for extent in slot.batch_shape):
                raise CompileError(
                    f"parameter '{name}' has the batch shape {slot.batch_shape} in the input file; a compiled law "
                    f"holds one value of it. Write one value, promote it with -p {name}, and give the values of the "
                    "rows with set_parameter at run time"
                )

    def plan(self) -> Plan:
        """The plan."""
        segments = list(self.program.segments)
        parts = [self._forward(k, segment, len(segments) > 1) for k, segment in enumerate(segments)]
        self._record(parts)
        for part in parts:
            self._find_uncoupled(part)
        edges = self._edges(parts)
        direct = self._edges(parts, by_parameters=True)
        written = [list(part.segment.outputs) for part in parts]
        pairs: list[tuple[str, str, bool]] = []
        active: list[set[tuple[str, str]]] = [set() for _ in parts]
        for output, by in self.requested:
            found = _paths(edges, written, output, by)
            for k, edge in found:
                active[k].add(edge)
            constant = bool(found) and all(self._constant(parts[k], *edge) is not None for k, edge in found)
            pairs.append((output, by, constant and self._same_in_substeps(edges, written, output, by)))
        direct_active: list[set[tuple[str, str]]] = [set() for _ in parts]
        parameter_pairs: list[tuple[str, str, bool]] = []
        for output, parameter in self.by_parameter:
            through, first = _parameter_paths(edges, direct, written, output, parameter)
            for active_sets, found in ((active, through), (direct_active, first)):
                for k, edge in found:
                    active_sets[k].add(edge)
            on_way = [*through, *first]
            constant = bool(on_way) and all(self._constant(parts[k], *edge) is not None for k, edge in on_way)
            parameter_pairs.append((output, parameter, constant))
        if len(parts) == 1 and parts[0].kind == "forward":
            active[0] = set(self.requested)  # blocks that are zero for every row as well
            direct_active[0] = {pair for pair in self.by_parameter if pair[1] in parts[0].parameters}
            pairs = [(o, i, self._constant(parts[0], o, i) is not None) for o, i in self.requested]
        for part, wanted, by_parameter in zip(parts, active, direct_active, strict=True):
            self._add_derivatives(part, wanted)
            self._add_parameter_derivatives(part, by_parameter)
        self._add_substep_derivatives(parts, edges, direct, written)
        if self.request.backend != "inductor":
            for part in parts:
                self._add_sparse_solves(part)
        return Plan(
            self.request, self.source, self.program, pairs, self.promoted, parts, self.programs, self.unsupported,
            parameter_pairs, self.aliases, self.weights,
        )  # fmt: skip

    def _stem(self, k: int, several: bool) -> str:
        return f"{self.request.name}_seg{k}" if several else self.request.name

    def _forward(self, k: int, segment: Any, several: bool) -> SegmentPlan:
        stem = self._stem(k, several)
        used = [name for name in self.promoted if name in segment.parameters]
        parameters = {name: self.promoted[name] for name in used}
        outside = [name for name in self.weights if name in segment.parameters]
        weights = {name: self.weights[name] for name in outside}
        title = f"model '{self.request.name}', segment {k}"
        if not hasattr(segment, "unknowns"):
            forward = g.forward_of_segment(segment, parameters, title, weights)
            graphs = {"value": g.value_graph(stem, forward)}
            return SegmentPlan("forward", segment, used, graphs, forward, weights=outside)
        forward = g.residual_of_segment(segment, parameters, f"{title} (residual)", weights)
        update = segment.update
        linear = linear_solve(update.solver.linear_solver, update.system)
        graphs = {"residual": g.residual_graph(f"{stem}_residual", forward)}
        if linear.krylov is None:
            graphs["jacobian"] = g.jacobian_graph(f"{stem}_jacobian", forward)
            graphs["solve"] = g.solve_graph(f"{stem}_solve", forward, linear.primary)
        else:
            graphs["matvec"] = g.matvec_graph(f"{stem}_matvec", forward)
        if linear.preconditioner:
            blocks = linear.preconditioner
            graphs["precond_setup"] = g.precond_setup_graph(f"{stem}_precond_setup", forward, blocks)
            graphs["precond_apply"] = g.precond_apply_graph(f"{stem}_precond_apply", forward, blocks)
        predictor = g.predictor_of_segment(segment, parameters, f"{title} (predictor)", weights)
        if predictor is not None:
            graphs["predictor"] = g.value_graph(f"{stem}_predictor", predictor, "predictor")
        sensitivities = {
            "input": linear_solve(update.input_sensitivity, update.system),
            "param": linear_solve(update.param_sensitivity, update.system),
        }
        return SegmentPlan("implicit", segment, used, graphs, forward, linear, sensitivities, outside)

    def _find_uncoupled(self, part: SegmentPlan) -> None:
        """Lets direct solves take parts of a matrix or its primary block that do not touch one by one."""
        program = self.programs.get(part.forward)
        if program is None or part.kind != "implicit":
            return
        count = len(part.forward.outputs)
        first = g.offsets(part.forward.outputs)
        n = sum(slot.size for slot in part.forward.outputs)
        pattern = [[False] * n for _ in range(n)]
        for position in range(count):
            start = first[part.forward.outputs[position].name]
            block, sites = program.block(position), program.value.sites
            for e in block.entries:
                for site in range(sites):
                    row = e.row.component + site * e.row.stride
                    pattern[row][start + e.column.component + site * e.column.stride] = True
            for p in block.products:
                columns = positions((place for _, place in p.columns), sites)
                for row in positions((place for _, place in p.rows), sites):
                    for column in columns:
                        pattern[row][start + column] = True
        update = part.segment.update
        part.linear = linear_solve(update.solver.linear_solver, update.system, pattern)
        part.sensitivities = {
            "input": linear_solve(update.input_sensitivity, update.system, pattern),
            "param": linear_solve(update.param_sensitivity, update.system, pattern),
        }

    def _record(self, parts: Sequence[SegmentPlan]) -> None:
        for forward in dict.fromkeys(graph.forward for part in parts for graph in part.graphs.values()):
            if forward is None:
                continue
            try:
                self.programs[forward] = ForwardProgram(forward)
            except UnsupportedOperation as e:
                if self.request.backend == "native":
                    raise CompileError(
                        f"{located(forward.name, e.location)}: {e}; there is no native kernel for it. "
                        "Compile with --backend both or inductor."
                    ) from e
                self.unsupported[forward] = e
                self.dependences[forward] = Dependence(forward)

    def _edges(self, parts: Sequence[SegmentPlan], by_parameters: bool = False) -> list[set[tuple[str, str]]]:
        """Per segment the pairs ``(output, input or parameter)`` whose derivative is not structurally zero."""
        found = []
        for part in parts:
            outputs = [slot.name for slot in part.forward.outputs]
            inputs = list(part.segment.inputs if part.kind == "forward" else part.segment.givens)
            if by_parameters:
                inputs = part.parameters
            depends = {(o, i) for o in outputs for i in inputs if self._may_differ_from_zero(part, o, i)}
            if part.kind == "implicit":  # the solve couples all residuals
                depends = {(o, i) for o in outputs for i in inputs if any((r, i) in depends for r in outputs)}
            found.append(depends)
        return found

    def _may_differ_from_zero(self, part: SegmentPlan, output: str, by: str) -> bool:
        """Whether the derivative of a segment's function is not structurally zero."""
        program = self.programs.get(part.forward)
        if program is None:
            return self.dependences[part.forward].depends(_position(part.forward, output), self._key(part, by))
        return bool(program.block(self._key(part, by), output))

    def _key(self, part: SegmentPlan, name: str) -> int:
        """Position of a variable among the arguments of the segment's function; givens come after the unknowns."""
        if name in part.parameters:
            return part.forward.position(name)
        first = len(part.segment.unknowns) if part.kind == "implicit" else 0
        names = list(part.segment.givens if part.kind == "implicit" else part.segment.inputs)
        return first + names.index(name)

    def _constant(self, part: SegmentPlan, output: str, by: str) -> Any:
        """The block of a forward segment when no row has another; ``None`` else."""
        if part.kind == "implicit":
            return None
        program = self.programs.get(part.forward)
        if program is None:
            return self.dependences[part.forward].constant_block(_position(part.forward, output), self._key(part, by))
        derivatives = program.pair(output, by)
        if not derivatives.constant:
            return None
        column = part.forward.inputs[self._key(part, by)]
        block = np.zeros(part.segment.outputs[output].shape + column.shape)
        for value, place in derivatives.content(column.size).stores:
            block.flat[positions([place], program.value.sites)] = value.number
        return block

    def _same_in_substeps(
        self, edges: Sequence[set[tuple[str, str]]], written: Sequence[Sequence[str]], output: str, by: str
    ) -> bool:
        """Whether a derivative stays what it is for rows that take substeps: no way leads through what moves then."""
        if not self._takes_substeps:
            return True

        def depends(o: str, i: str) -> bool:
            return bool(_paths(edges, written, o, i))

        sources, _ = moving_sources([by], self.program.state_pairs, depends)
        return not any(depends(output, source) for source in sources if source != by)

    @property
    def _takes_substeps(self) -> bool:
        implicit = any(hasattr(segment, "unknowns") for segment in self.program.segments)
        return implicit and any(pair.role == "force" for pair in self.program.state_pairs)

    def _add_substep_derivatives(
        self,
        parts: Sequence[SegmentPlan],
        edges: Sequence[set[tuple[str, str]]],
        direct: Sequence[set[tuple[str, str]]],
        written: Sequence[Sequence[str]],
    ) -> None:
        """Graphs of their own with the blocks that the derivative of a chain of substeps needs.

        A segment whose usual graphs have all of them gets none.
        """
        if not self._takes_substeps:
            return
        through: list[set[tuple[str, str]]] = [set() for _ in parts]
        first: list[set[tuple[str, str]]] = [set() for _ in parts]

        def depends(output: str, by: str) -> bool:
            if by in self.promoted:
                return any(_parameter_paths(edges, direct, written, output, by))
            return bool(_paths(edges, written, output, by))

        for requested in (self.requested, self.by_parameter):
            sources, states = moving_sources({by for _, by in requested}, self.program.state_pairs, depends)
            for output in dict.fromkeys([o for o, _ in requested] + (states if requested else [])):
                for by in sources:
                    if by in self.promoted and requested is self.by_parameter:
                        ways = _parameter_paths(edges, direct, written, output, by)
                    else:
                        ways = (_paths(edges, written, output, by), [])
                    for found, edge_sets in zip(ways, (through, first), strict=True):
                        for k, edge in found:
                            edge_sets[k].add(edge)
        for part, wanted, by_parameter in zip(parts, through, first, strict=True):
            self._add_substep_graphs(part, wanted, by_parameter)

    def _add_substep_graphs(
        self, part: SegmentPlan, wanted: set[tuple[str, str]], by_parameter: set[tuple[str, str]]
    ) -> None:
        stem, forward = self._stem_of(part), part.forward
        if part.kind == "forward":
            for kind, edges, of_pairs in (
                ("jvp", wanted, g.jvp_graph),
                ("param_jvp", by_parameter, g.param_jvp_graph),
            ):
                usual = {(p.output, p.input) for p in part.graphs[kind].pairs} if kind in part.graphs else set()
                if not edges <= usual:
                    graph = of_pairs(f"{stem}_substep_{kind}", forward, self._pairs(part, edges))
                    part.graphs[f"substep_{kind}"] = replace(graph, of_substeps=True)
            return
        for kind, edges, names, of_columns in (
            ("jacobian_given", wanted, list(part.segment.givens), g.jacobian_given_graph),
            ("dr_dparam", by_parameter, part.parameters, g.dr_dparam_graph),
        ):
            columns = [name for name in names if any(by == name for _, by in edges)]
            if not set(columns) <= set(part.graphs[kind].columns if kind in part.graphs else ()):
                graph = of_columns(f"{stem}_substep_{kind}", forward, columns)
                if kind == "jacobian_given":
                    part.graphs.setdefault("jacobian", g.jacobian_graph(f"{stem}_jacobian", forward))
                part.graphs[f"substep_{kind}"] = replace(graph, of_substeps=True)

    def _stem_of(self, part: SegmentPlan) -> str:
        return next(iter(part.graphs.values())).stem.removesuffix("_residual")

    def _pairs(self, part: SegmentPlan, wanted: set[tuple[str, str]]) -> list[Pair]:
        """These pairs of a forward segment, in order."""
        by = [*part.segment.inputs, *part.parameters]
        return [Pair(o, i, self._constant(part, o, i)) for o in part.segment.outputs for i in by if (o, i) in wanted]

    def _add_derivatives(self, part: SegmentPlan, wanted: set[tuple[str, str]]) -> None:
        if not wanted:
            return
        stem = self._stem_of(part)
        if part.kind == "forward":
            part.graphs["jvp"] = g.jvp_graph(f"{stem}_jvp", part.forward, self._pairs(part, wanted))
            return
        givens = [i for i in part.segment.givens if any(by == i for _, by in wanted)]
        pairs = [Pair(o, i) for o in part.segment.unknowns for i in givens if (o, i) in wanted]
        part.graphs.setdefault("jacobian", g.jacobian_graph(f"{stem}_jacobian", part.forward))
        part.graphs["jacobian_given"] = g.jacobian_given_graph(f"{stem}_jacobian_given", part.forward, givens, pairs)
        if part.sensitivities["input"].krylov is None:
            primary = part.sensitivities["input"].primary
            part.graphs["solve_ift"] = g.solve_ift_graph(f"{stem}_solve_ift", part.forward, pairs, givens, primary)

    def _add_parameter_derivatives(self, part: SegmentPlan, wanted: set[tuple[str, str]]) -> None:
        if not wanted:
            return
        stem = self._stem_of(part)
        names = [p for p in part.parameters if any(by == p for _, by in wanted)]
        if part.kind == "forward":
            part.graphs["param_jvp"] = g.param_jvp_graph(f"{stem}_param_jvp", part.forward, self._pairs(part, wanted))
            return
        pairs = [Pair(o, p) for o in part.segment.unknowns for p in names if (o, p) in wanted]
        part.graphs["dr_dparam"] = g.dr_dparam_graph(f"{stem}_dr_dparam", part.forward, names, pairs)
        if part.sensitivities["param"].krylov is None:
            primary = part.sensitivities["param"].primary
            part.graphs["solve_param"] = g.solve_param_graph(f"{stem}_solve_param", part.forward, pairs, names, primary)

    def _add_sparse_solves(self, part: SegmentPlan) -> None:
        """Kernels that solve without a matrix, where that takes fewer operations than to form and factorise it."""
        program, stem = self.programs.get(part.forward), self._stem_of(part)
        if part.kind != "implicit" or program is None:
            return
        if part.weights or any(v.op == "dot" for v in reachable(program.outputs)):
            return  # sums over the whole of a layer: nothing is sparse
        n = sum(slot.size for slot in part.forward.outputs)
        kinds: list[tuple[str, LinearSolve, Graph]] = []
        kinds.append(("jacobian", part.linear, g.newton_step_graph(f"{stem}_newton_step", part.forward)))
        if "jacobian_given" in part.graphs:
            givens = part.graphs["jacobian_given"].columns
            graph = g.sensitivity_graph(f"{stem}_sensitivity", part.forward, givens)
            kinds.append(("jacobian_given", part.sensitivities["input"], graph))
        for replaced, solve, graph in kinds:
            if replaced not in part.graphs or solve.krylov is not None or solve.primary is not None:
                continue
            sparse = sparse_program(graph, program)
            columns = 1 if graph.kind == "newton_step" else graph.outputs[0].shape[1]
            # The operations of a dense solve, and what it moves to and fro.
            blocks = [len(rows) for rows, _ in solve.elimination] or [n]
            dense = sum(2 * k**3 // 3 + 2 * k**2 * columns + 2 * k * (k + columns) for k in blocks)
            dense += sum(native_program(part.graphs[kind], program).operation_count for kind in {"jacobian", replaced})
            if graph.kind == "newton_step":
                dense += WITHOUT_A_SOLVER
            if sparse is not None and sparse.operation_count < dense and self._is_accurate(graph, sparse, program):
                part.graphs[graph.kind] = graph

    def _is_accurate(self, graph: Graph, sparse: IrProgram, program: ForwardProgram) -> bool:
        """Whether elimination in a fixed order does well at the states that the self-check samples.

        It has to be sound at a good part of them, else it would be work in vain.
        """
        inputs = sample(graph, {name: value.data[..., 0].numpy() for name, value in self.promoted.items()}, False)
        n = graph.outputs[0].shape[0]
        dense, sign = g.dense_system(graph)
        formed = native_program(dense, program)
        values = sum(p.statement_count * p.sites for p in (sparse, formed))
        found: list[NDArray] = []
        most = min(STATES, rows_that_fit(8 * values + bytes_of_arrays(dense)))
        for part in islice(slices(graph, inputs, most), QUICK_SLICES):
            A, b = (x.reshape(n, -1, x.shape[-1]) for x in evaluate(formed, part))
            x, *_, sound = evaluate(sparse, part)
            errors = backward_errors(A, x.reshape(n, -1, x.shape[-1]), sign * b)
            found.append(errors[(sound == 1.0) & np.isfinite(errors)])
        compared = np.concatenate(found)
        return len(compared) >= min(STATES, QUICK_SLICES * most) // 10 and not too_large(compared, graph.kind)


def _position(forward: Forward, output: str) -> int:
    return [slot.name for slot in forward.outputs].index(output)


#: What the solver in a kernel of Newton steps spares each row and iteration, in statements: to write the linear system
#: to memory and to read it, to sort rows by whether they are done.
WITHOUT_A_SOLVER: Final = 100

Node = tuple[str, int]
Arc = tuple[Node, Node, int, tuple[str, str]]
#: Segment numbers of what no segment writes.
_MASTER_INPUT, _PARAMETER = -1, -2


def _arcs(edges: Sequence[set[tuple[str, str]]], written: Sequence[Sequence[str]]) -> tuple[list[Arc], dict[str, int]]:
    """The edges between nodes in order, and which segment wrote each name last.

    A node is a variable and the segment that wrote it (-1: a master input): a later segment that writes a name hides
    what was there.
    """
    writer: dict[str, int] = {}
    arcs: list[Arc] = []
    for k, (pairs, names) in enumerate(zip(edges, written, strict=True)):
        for o, i in sorted(pairs):
            arcs.append(((i, writer.get(i, _MASTER_INPUT)), (o, k), k, (o, i)))
        writer |= dict.fromkeys(names, k)
    return arcs, writer


def _between(arcs: Sequence[Arc], source: Node, target: Node) -> list[Arc]:
    """The arcs on a way from one node to another."""
    reached = {source}
    for tail, head, _, _ in arcs:
        if tail in reached:
            reached.add(head)
    needed = {target}
    found = []
    for arc in reversed(arcs):
        if arc[1] in needed and arc[0] in reached:
            needed.add(arc[0])
            found.append(arc)
    return found[::-1]


def _paths(
    edges: Sequence[set[tuple[str, str]]], written: Sequence[Sequence[str]], output: str, by: str
) -> list[tuple[int, tuple[str, str]]]:
    """The edges ``(segment, (output, input))`` on a path from a master input to a master output.

    :param edges: per segment the pairs whose derivative is not structurally zero
    :param written: per segment its outputs
    """
    arcs, writer = _arcs(edges, written)
    target = (output, writer.get(output, _MASTER_INPUT))
    return [(k, edge) for _, _, k, edge in _between(arcs, (by, _MASTER_INPUT), target)]


def _parameter_paths(
    edges: Sequence[set[tuple[str, str]]],
    direct: Sequence[set[tuple[str, str]]],
    written: Sequence[Sequence[str]],
    output: str,
    parameter: str,
) -> tuple[list[tuple[int, tuple[str, str]]], list[tuple[int, tuple[str, str]]]]:
    """The edges on the ways from a parameter to a master output: those between variables, and the first ones.

    :param edges: per segment the pairs ``(output, input)`` whose derivative is not structurally zero
    :param direct: per segment such pairs ``(output, parameter)``
    :param written: per segment its outputs
    """
    arcs, writer = _arcs(edges, written)
    source = (parameter, _PARAMETER)
    arcs += [(source, (o, k), k, (o, p)) for k, pairs in enumerate(direct) for o, p in sorted(pairs) if p == parameter]
    arcs.sort(key=lambda arc: arc[2])
    found = _between(arcs, source, (output, writer.get(output, _MASTER_INPUT)))
    through = [(k, edge) for tail, _, k, edge in found if tail != source]
    return through, [(k, edge) for tail, _, k, edge in found if tail == source]


def plan_export_artifacts(path: str | Path, name: str, *, stub: bool = True, **options: Any) -> list[str]:
    """All files that a compile writes, relative to the output directory, without compiling; needs no CUDA device.

    :param path: the input file
    :param name: the model in it
    :param stub: whether the stub is written
    :param options: further fields of :class:`~matlaw.artifact.request.Request`
    """
    plan = Planner(Request(Path(path), name, **options)).plan()
    return output_files(plan, stub)


def output_files(plan: Plan, stub: bool) -> list[str]:
    """All files of a plan, relative to the output directory."""
    name = plan.request.name
    return (
        [f"{name}/{file}" for file in plan.files()] + [f"{name}/metadata.json"] + ([f"{name}_aoti.i"] if stub else [])
    )
