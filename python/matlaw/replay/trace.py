"""What the Newton solves of one row do, iteration by iteration, evaluated eagerly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from matlaw.eager import EagerModel
from matlaw.eager.record import SolveRecord
from matlaw.evaluation import Status


@dataclass(frozen=True)
class Iteration:
    """One iterate of a Newton solve.

    :ivar norm: Euclidean norm of the residual
    :ivar residuals: norm of each residual variable
    :ivar unknowns: components of each unknown, row by row over ``(*base, *sub_batch)``
    :ivar condition: condition number (2-norm) of the Jacobian; infinite where it is singular, NaN where it is not
        finite
    :ivar step: part of the Newton step that was taken from here; None where none was
    """

    norm: float
    residuals: dict[str, float]
    unknowns: dict[str, list[float]]
    condition: float
    step: float | None

    @property
    def worst(self) -> str:
        """The residual variable with the largest norm; one that is not finite counts as the largest."""
        return max(self.residuals, key=lambda name: (not _finite(self.residuals[name]), self.residuals[name]))


@dataclass(frozen=True)
class SegmentTrace:
    """The solve of an implicit segment.

    :ivar iterations: the iterates, the initial guess first
    """

    iterations: list[Iteration]


@dataclass(frozen=True)
class RowTrace:
    """A row, run again.

    :ivar status: its verdict
    :ivar reason: ``NONE``, ``ITERATION_LIMIT`` ...
    :ivar text: the reason in words
    :ivar segments: the solves of the implicit segments, in order
    """

    status: Status
    reason: str
    text: str
    segments: list[SegmentTrace]


def trace_row(law: EagerModel, inputs: Mapping[str, torch.Tensor]) -> RowTrace:
    """Evaluate one row and look at every iterate.

    :param law: the law
    :param inputs: by name, each ``(1, *sub_batch, *base)``
    :raises FatalError: for a wrong call
    """
    run = law.record(inputs)
    failure = law.last_failure() if run.failed_rows else None
    reason, text = ("NONE", "converged") if failure is None else (failure.rows[0].reason.name, failure.rows[0].text)
    return RowTrace(Status(int(run.status[0])), reason, text, [_segment(record) for record in run.records])


def _segment(record: SolveRecord) -> SegmentTrace:
    first = torch.zeros(1, dtype=torch.int64)
    steps = record.step[0]
    count = int((~torch.isnan(steps)).sum())
    iterations = []
    for k in range(count + 1):
        u = record.iterates[0, k].unsqueeze(-1)
        if k == 0 and bool(torch.isnan(record.residual[0]).all()) and bool(torch.isnan(u).all()):
            break  # the row was given up before this segment
        A, b = record.system.jacobian(u, first)
        iterations.append(
            Iteration(
                float(torch.linalg.vector_norm(b)),
                {n: float(torch.linalg.vector_norm(part)) for n, part in _named(record, record.residual_names, b)},
                {n: part.reshape(-1).tolist() for n, part in _named(record, record.unknown_names, u)},
                _condition(A[..., 0]),
                float(steps[k]) if k < count else None,
            )
        )
    return SegmentTrace(iterations)


def _named(record: SolveRecord, names: list[str], values: torch.Tensor) -> list[tuple[str, torch.Tensor]]:
    """The parts of an array ``(n, 1)`` by name."""
    return list(zip(names, record.system.split(values), strict=True))


def _condition(A: torch.Tensor) -> float:
    if not bool(torch.isfinite(A).all()):
        return float("nan")
    return float(torch.linalg.cond(A))


def _finite(value: float) -> bool:
    return value - value == 0.0
