"""What a call of a law returns: outputs and a verdict per row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from matlaw.errors import FatalError


class Status(IntEnum):
    """Verdict on one row of a batch."""

    CONVERGED = 0
    NOT_CONVERGED = 1
    BAD_INPUT = 2


class Reason(IntEnum):
    """Why a row failed; :attr:`matlaw._core.FailedRow.text` says it in words."""

    NONE = 0
    ITERATION_LIMIT = 1
    RESIDUAL_NOT_FINITE = 2
    SINGULAR_JACOBIAN = 3
    LINEAR_SOLVER = 4
    SINGULAR_TANGENT = 5
    OUTPUT_NOT_FINITE = 6
    INPUT_NOT_FINITE = 7
    TIME_DOES_NOT_ADVANCE = 8


@dataclass(frozen=True)
class SegmentHistory:
    """What the Newton solves of one implicit segment did; of a row that took substeps, the last of them.

    :ivar unknowns: their names
    :ivar residual: ``(*B, miters + 1)`` float64, norm of the residual at each iterate, NaN past the last
    :ivar step: ``(*B, miters)`` float64, part of each Newton step that was taken, NaN past the last
    """

    unknowns: list[str]
    residual: Any
    step: Any


class MissingResultError(KeyError):
    """There is no result of that name; the message says what there is."""

    def __str__(self) -> str:
        return str(self.args[0])


class Results(dict[str, Any]):
    """Results by name. Asking for another raises :class:`MissingResultError`.

    :param values: the results
    :param missing: what to say of a name
    """

    def __init__(self, values: Mapping[str, Any], missing: Callable[[str], str]) -> None:
        super().__init__(values)
        self._missing = missing

    def __missing__(self, name: str) -> Any:
        raise MissingResultError(self._missing(name))

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


def _named(values: Mapping[str, Any]) -> Results:
    return Results(values, lambda name: f"the law has no output '{name}'; it has {_list(values)}")


def _derivatives_of(output: str, blocks: Mapping[str, Any]) -> Results:
    return Results(
        blocks,
        lambda name: (
            f"there is no derivative of '{output}' by '{name}' here, there is one by {_list(blocks)}; a compiled "
            f"law has those that it was compiled with: matlaw-compile -d {output}:{name}"
        ),
    )


def _derivatives(jacobian: Mapping[str, Mapping[str, Any]]) -> Results:
    def missing(name: str) -> str:
        if not jacobian:
            return f"there are no derivatives here: evaluate(..., jacobian=True) computes those of '{name}'"
        return (
            f"there is no derivative of '{name}' here, there are those of {_list(jacobian)}; a compiled law "
            f"has those that it was compiled with: matlaw-compile -d {name}:"
        )

    return Results({output: _derivatives_of(output, blocks) for output, blocks in jacobian.items()}, missing)


def _list(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names) or "none"


@dataclass(frozen=True)
class Evaluation:
    """Outputs and the verdict per row.

    Arrays are torch tensors, or NumPy arrays when the inputs were. Rows that failed are NaN in every output.

    :ivar outputs: by name, each ``(*B, *sub_batch, *base)``
    :ivar jacobian: ``jacobian[output][input]``, each
        ``(*B, *out_sub_batch, *out_base, *in_sub_batch, *in_base)``, or without ``*B`` for a block that does not
        depend on the batch
    :ivar status: ``(*B)`` int8, values of :class:`Status`
    :ivar iterations: ``(*B)`` int32, Newton iterations used, in all substeps together
    :ivar substeps: ``(*B)`` int32, substeps into which the increment was cut, 1 where it was not; of a row that failed,
        those it had completed
    :ivar dt_factor: ``(*B)`` float64, suggested factor for the next time step
    :ivar failed_rows: rows of the flattened batch that did not converge, ascending
    :ivar history: one for each implicit segment, where ``evaluate(..., history=True)`` asked for it
    :ivar reason: ``(*B)`` int8, values of :class:`Reason`, where history was asked for
    :ivar place: ``(*B)`` int32, what the reason is about, where history was asked for: the implicit segment that
        failed, or the output or input, each counted from 0; -1: nothing
    :ivar weights_version: of the weights that all rows were evaluated with; 0 for a law without (docs/weights.md)
    """

    outputs: dict[str, Any]
    status: Any
    iterations: Any
    substeps: Any
    dt_factor: Any
    jacobian: dict[str, dict[str, Any]] = field(default_factory=dict)
    failed_rows: list[int] = field(default_factory=list)
    history: list[SegmentHistory] = field(default_factory=list)
    reason: Any = None
    place: Any = None
    weights_version: int = 0

    def __post_init__(self) -> None:
        """Lets a name that is not there be answered by those that are."""
        object.__setattr__(self, "outputs", _named(self.outputs))
        object.__setattr__(self, "jacobian", _derivatives(self.jacobian))

    @property
    def ok(self) -> bool:
        """True when every row converged."""
        return not self.failed_rows


def checked_pairs(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the derivatives that a caller asks for, once each is two names.

    :raises FatalError: one is something else, such as ``"stress:strain"``
    """
    asked = list(pairs)
    for pair in asked:
        if not isinstance(pair, Sequence) or len(pair) != 2 or not all(isinstance(name, str) for name in pair):
            raise FatalError(f"pairs: expected (output, input) for each, such as ('stress', 'strain'); got {pair!r}")
    return [(output, given) for output, given in asked]
