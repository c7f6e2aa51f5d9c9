"""Runs the segments of a program in order, with derivatives when there are seeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import torch

from matlaw.eager.given import Given
from matlaw.eager.implicit import System, sensitivities, solve
from matlaw.eager.record import Detail, SolveRecord
from matlaw.eager.row_mixing import RowMixing, push_across_rows
from matlaw.eager.sensitivity import Derivatives, push
from matlaw.eager.substeps import Substeps
from matlaw.evaluation import Reason, Status
from matlaw.tensors import Tensor, to_public
from matlaw.trace import ForwardSegment, ImplicitSegment, Program
from matlaw.trace.derivatives import dense_jacobian
from matlaw.trace.graphs import Forward, forward_of_segment, residual_of_segment
from matlaw.trace.linear import linear_solve


@dataclass
class Run:
    """What a run of the chain gives.

    :ivar values: by name, ``(*shape, B)``
    :ivar derivatives: by name, then by seed, ``(size, seed_size, B)``
    :ivar status: ``(B,)`` int8
    :ivar iterations: ``(B,)`` int32, the largest over the implicit segments
    :ivar substeps: ``(B,)`` int32, 1 where the increment was not cut
    :ivar dt_factor: ``(B,)`` float64, the smallest
    :ivar reason: ``(B,)`` int8, values of :class:`matlaw.Reason`: why a row failed
    :ivar place: ``(B,)`` int32, the implicit segment, output or input that the reason is about, -1: nothing
    :ivar records: what the solves did, one for each implicit segment, where it was asked for
    :ivar failing: the :class:`matlaw.eager.failing.FailingRun` of a run in which rows failed
    """

    values: dict[str, torch.Tensor]
    derivatives: Derivatives
    status: torch.Tensor
    iterations: torch.Tensor
    substeps: torch.Tensor
    dt_factor: torch.Tensor
    reason: torch.Tensor
    place: torch.Tensor
    records: list[SolveRecord] = field(default_factory=list)
    failing: Any = None

    def fail(self, rows: torch.Tensor, reason: torch.Tensor | Reason, place: int) -> None:
        """Says why rows fail, of those for which that is not said yet.

        :param rows: ``(B,)`` booleans
        :param reason: one for all, or ``(B,)``
        """
        new = rows & (self.reason == int(Reason.NONE))
        why = reason if isinstance(reason, torch.Tensor) else int(reason)
        self.reason = torch.where(new, why, self.reason).to(torch.int8)
        self.place = torch.where(new, place, self.place).to(torch.int32)

    def adopt(self, other: Run, rows: torch.Tensor) -> None:
        """Takes over what another run says of why rows failed and what their solves did.

        :param other: of these rows
        :param rows: where they are here
        """
        self.reason[rows] = other.reason
        self.place[rows] = other.place
        for mine, fresh in zip(self.records, other.records, strict=True):
            mine.adopt(fresh, rows)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.status.shape[0]

    @property
    def failed_rows(self) -> list[int]:
        """Rows whose status is not CONVERGED, ascending."""
        return torch.nonzero(self.status != int(Status.CONVERGED)).flatten().tolist()


class Chain:
    """The segments of a program.

    :param program: the program
    :param dtype: of everything
    :param device: of everything
    :param settings: of the nonlinear solves by implicit update, in place of those of the input file; looked at in every
        run
    :ivar mixing: the models whose rows depend on each other
    """

    def __init__(
        self,
        program: Program,
        dtype: torch.dtype,
        device: torch.device,
        settings: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self._program = program
        self._dtype = dtype
        self._device = device
        self._settings = {} if settings is None else settings
        self._substeps = Substeps(program)
        self.mixing = RowMixing(program)

    def run(self, given: Given, detail: Detail = Detail.NOTHING) -> Run:
        """Evaluates every row whose inputs and parameters are finite.

        :param given: the rows
        :param detail: what is written down of the solves
        """
        finite = torch.ones(given.rows, dtype=torch.bool, device=self._device)
        for tensor in (*given.values.values(), *given.parameters.values()):
            finite &= _all_but_last(torch.isfinite(tensor.data))
        if bool(finite.all()):
            return self._run_finite(given, detail)
        good = torch.nonzero(finite).flatten()
        return self._scattered(self._run_finite(given.of_rows(good), detail), good, given.rows)

    def _scattered(self, inner: Run, good: torch.Tensor, rows: int) -> Run:
        """The results of some rows among all; the others are NaN with status BAD_INPUT."""

        def spread(part: torch.Tensor, fill: float) -> torch.Tensor:
            whole = part.new_full((*part.shape[:-1], rows), fill)
            whole[..., good] = part
            return whole

        return Run(
            {n: spread(v, torch.nan) for n, v in inner.values.items()},
            {n: {s: spread(d, torch.nan) for s, d in by.items()} for n, by in inner.derivatives.items()},
            spread(inner.status, int(Status.BAD_INPUT)),
            spread(inner.iterations, 0),
            spread(inner.substeps, 0),
            spread(inner.dt_factor, 0.5),
            spread(inner.reason, int(Reason.INPUT_NOT_FINITE)),
            spread(inner.place, -1),
            [record.spread(good, rows) for record in inner.records],
        )

    def _run_finite(self, given: Given, detail: Detail) -> Run:
        run = self._run_at_once(given, detail)
        configs = [self._config(s) for s in self._program.segments if isinstance(s, ImplicitSegment)]
        if configs:
            config = max(configs, key=lambda c: c["max_substepping_level"])
            self._substeps.take(run, partial(self._run_at_once, detail=detail), given, config)
        return run

    def _config(self, segment: ImplicitSegment) -> dict[str, Any]:
        """The settings of a segment's solves."""
        return segment.solver_config | dict(self._settings.get(segment.update.name, {}))

    def _run_at_once(self, given: Given, detail: Detail) -> Run:
        rows = given.rows
        run = Run(
            {n: t.data for n, t in given.values.items()},
            {n: dict(by) for n, by in given.derivatives.items()},
            torch.full((rows,), int(Status.CONVERGED), dtype=torch.int8, device=self._device),
            torch.zeros(rows, dtype=torch.int32, device=self._device),
            torch.ones(rows, dtype=torch.int32, device=self._device),
            torch.ones(rows, dtype=torch.float64, device=self._device),
            torch.zeros(rows, dtype=torch.int8, device=self._device),
            torch.full((rows,), -1, dtype=torch.int32, device=self._device),
        )
        solves = 0
        for segment in self._program.segments:
            used = {name: given.parameters[name] for name in segment.parameters}
            if isinstance(segment, ImplicitSegment):
                self._implicit(segment, used, run, solves, detail)
                solves += 1
            else:
                self._forward(segment, used, run)
        self._fail_non_finite(run)
        self._blame_time(run)
        failed = run.status != int(Status.CONVERGED)
        if bool(failed.any()):
            run.substeps[failed] = 0
            for name in self._program.outputs:
                run.values[name] = torch.where(failed, torch.nan, run.values[name])
                run.derivatives[name] = {
                    seed: torch.where(failed, torch.nan, d) for seed, d in run.derivatives.get(name, {}).items()
                }
        return run

    def _fail_non_finite(self, run: Run) -> None:
        """An output that is not finite is a failure too, whatever the solves say."""
        for place, name in enumerate(self._program.outputs):
            wrong = ~_all_but_last(torch.isfinite(run.values[name])) & (run.status == int(Status.CONVERGED))
            run.fail(wrong, Reason.OUTPUT_NOT_FINITE, place)
            run.status = torch.where(wrong, int(Status.NOT_CONVERGED), run.status).to(torch.int8)
            run.dt_factor = torch.where(wrong, run.dt_factor.clamp(max=0.25), run.dt_factor)

    def _blame_time(self, run: Run) -> None:
        """A row that failed while its time does not advance: no smaller step will do."""
        if not bool((run.status == int(Status.NOT_CONVERGED)).any()):
            return
        names = list(self._program.inputs)
        for current, old in self._program.times:
            still = ~_all_but_last(run.values[current] > run.values[old]) & (run.status == int(Status.NOT_CONVERGED))
            run.status = torch.where(still, int(Status.BAD_INPUT), run.status).to(torch.int8)
            run.reason = torch.where(still, int(Reason.TIME_DOES_NOT_ADVANCE), run.reason).to(torch.int8)
            run.place = torch.where(still, names.index(current), run.place).to(torch.int32)

    def _forward(self, segment: ForwardSegment, parameters: Mapping[str, Tensor], run: Run) -> None:
        own, weights = _without_weights(segment, parameters)
        forward = forward_of_segment(segment, own, self._program.name, weights)
        arguments = [*(run.values[n] for n in segment.inputs), *_constants(own, weights)]
        by = _varying(forward, 0, run)
        with torch.no_grad():
            results = forward.function(*arguments)
        for slot, result in zip(forward.outputs, results, strict=True):
            run.values[slot.name] = result.expand(*slot.shape, run.rows)
        if by and self.mixing.of_segment(segment):
            full = _spread(forward, arguments, run.rows)
            _store(push_across_rows(forward, full, by, run.derivatives, run.rows), forward, run)
        elif by:
            blocks = _blocks(forward, arguments, by, run.rows)
            pushed = push(dict(zip(by, blocks, strict=True)), run.derivatives)
            _store(pushed, forward, run)

    def _implicit(
        self, segment: ImplicitSegment, parameters: Mapping[str, Tensor], run: Run, place: int, detail: Detail
    ) -> None:
        name = self._program.name
        typed = {n: v.type(run.values[n], v.sub_batch_ndim) for n, v in segment.inputs.items()}
        with torch.no_grad():
            guesses = segment.predict(typed, parameters)
        shapes = {n: v for n, v in segment.unknowns.items()}
        guess = torch.cat(
            [guesses[n].data.expand(*v.shape, run.rows).reshape(v.size, run.rows) for n, v in shapes.items()]
        )
        own, weights = _without_weights(segment, parameters)
        forward = residual_of_segment(segment, own, name, weights)
        arguments = [*(run.values[n] for n in segment.givens), *_constants(own, weights)]
        system = System(forward, arguments)
        config = self._config(segment)
        linear = linear_solve(segment.solver.linear_solver, segment.update.system)
        solution = solve(system, guess, config, linear, detail > Detail.NOTHING, detail == Detail.ITERATES)
        if solution.record:
            names = segment.update.system.residuals
            run.records.append(SolveRecord(list(segment.unknowns), list(names), system, *solution.record))
        failed = solution.status != int(Status.CONVERGED)
        run.fail(failed, solution.reason, place)
        run.status = torch.maximum(run.status, solution.status)
        run.iterations = torch.maximum(run.iterations, solution.iterations)
        run.dt_factor = torch.minimum(run.dt_factor, solution.dt_factor)
        u = torch.where(failed, torch.nan, solution.u)
        unknowns = system.split(u)
        for n, part in zip(shapes, unknowns, strict=True):
            run.values[n] = part
        self._implicit_derivatives(segment, forward, [*unknowns, *arguments], run, place)

    def _implicit_derivatives(
        self, segment: ImplicitSegment, forward: Forward, arguments: list[torch.Tensor], run: Run, place: int
    ) -> None:
        """``du/dm = -A^{-1} sum_g (dr/dg) (dg/dm)``, with one solve for all seeds ``m`` of a kind."""
        count = len(forward.outputs)
        by = _varying(forward, count, run)
        if not by:
            return
        unknowns = [slot.name for slot in forward.inputs[:count]]
        blocks = _blocks(forward, arguments, [*unknowns, *by], run.rows)
        A = torch.cat(blocks[:count], dim=1)
        right = push(dict(zip(by, blocks[count:], strict=True)), run.derivatives)
        update, config = segment.update, self._config(segment)
        found: dict[str, torch.Tensor] = {}
        singular = torch.zeros(run.rows, dtype=torch.bool, device=self._device)
        for kind, solver in (("input", update.input_sensitivity), ("param", update.param_sensitivity)):
            seeds = [seed for seed in right if (seed in self._program.parameters) == (kind == "param")]
            if not seeds:
                continue
            together = torch.cat([right[seed] for seed in seeds], dim=1)
            linear = replace(linear_solve(solver, update.system), krylov=config.get(f"{kind}_sensitivity"))
            solved, unsolved = sensitivities(A, together, linear)
            singular |= unsolved
            parts = torch.split(solved, [right[seed].shape[1] for seed in seeds], dim=1)
            found.update(zip(seeds, parts, strict=True))
        _store({seed: found[seed] for seed in right}, forward, run)
        # A row without a tangent is of no use to a host that asked for one.
        lost = singular & (run.status == int(Status.CONVERGED))
        run.fail(lost, Reason.SINGULAR_TANGENT, place)
        run.status = torch.where(lost, int(Status.NOT_CONVERGED), run.status).to(torch.int8)
        run.dt_factor = torch.where(lost, run.dt_factor.clamp(max=0.25), run.dt_factor)


def _without_weights(
    segment: ForwardSegment | ImplicitSegment, parameters: Mapping[str, Tensor]
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Parameters, and those of them that always have one value for all rows."""
    weights = {name: p for name, p in parameters.items() if segment.slots[name].shared}
    return {name: p for name, p in parameters.items() if name not in weights}, weights


def _constants(parameters: Mapping[str, Tensor], weights: Mapping[str, Tensor]) -> list[torch.Tensor]:
    """What a segment's function takes behind its variables."""
    return [*(p.data for p in parameters.values()), *(to_public(w, ()).unsqueeze(-1) for w in weights.values())]


def _all_but_last(flags: torch.Tensor) -> torch.Tensor:
    """For each row whether all components are true."""
    return flags.unsqueeze(0).flatten(0, -2).all(0)


def _varying(forward: Forward, first: int, run: Run) -> list[str]:
    """Arguments, from the given position on, that depend on a seed."""
    return [slot.name for slot in forward.inputs[first:] if run.derivatives.get(slot.name)]


def _blocks(forward: Forward, arguments: list[torch.Tensor], by: list[str], rows: int) -> list[torch.Tensor]:
    """Derivatives ``(n, size, B)``; an argument with batch extent 1 is spread first, as a block has the full batch."""
    return [b.detach() for b in dense_jacobian(forward, _spread(forward, arguments, rows), by)[1]]


def _spread(forward: Forward, arguments: list[torch.Tensor], rows: int) -> list[torch.Tensor]:
    """The arguments with the full batch, but for those without one."""
    return [
        a if slot.shared else a.expand(*a.shape[:-1], rows) for slot, a in zip(forward.inputs, arguments, strict=True)
    ]


def _store(pushed: Mapping[str, torch.Tensor], forward: Forward, run: Run) -> None:
    """Cuts derivatives ``(n, seed_size, B)`` of all outputs into those of each."""
    sizes = [slot.size for slot in forward.outputs]
    for slot in forward.outputs:
        run.derivatives[slot.name] = {}
    for seed, block in pushed.items():
        for slot, part in zip(forward.outputs, torch.split(block, sizes), strict=True):
            run.derivatives[slot.name][seed] = part
