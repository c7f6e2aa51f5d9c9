"""What a call of a law returns: outputs and a verdict per row."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any


class Status(IntEnum):
    """Verdict on one row of a batch."""

    CONVERGED = 0
    NOT_CONVERGED = 1
    BAD_INPUT = 2


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
    """

    outputs: dict[str, Any]
    status: Any
    iterations: Any
    substeps: Any
    dt_factor: Any
    jacobian: dict[str, dict[str, Any]] = field(default_factory=dict)
    failed_rows: list[int] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """True when every row converged."""
        return not self.failed_rows
