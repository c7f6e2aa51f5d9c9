"""What is written down of the solves of a run, for who wants to know."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import torch

from matlaw.eager.implicit import System


class Detail(IntEnum):
    """How much is written down."""

    NOTHING = 0
    #: Norms and steps
    NORMS = 1
    #: The iterates, too
    ITERATES = 2


@dataclass
class SolveRecord:
    """What the Newton solves of an implicit segment did.

    :ivar unknown_names: the unknowns
    :ivar residual_names: the residual of each
    :ivar system: what was solved
    :ivar residual: ``(B, miters + 1)``, norm of the residual at each iterate, NaN past the last
    :ivar step: ``(B, miters)``, part of each Newton step that was taken, NaN past the last
    :ivar iterates: ``(B, miters + 1, n)``; empty when they were not wanted
    """

    unknown_names: list[str]
    residual_names: list[str]
    system: System
    residual: torch.Tensor
    step: torch.Tensor
    iterates: torch.Tensor

    def adopt(self, other: SolveRecord, rows: torch.Tensor) -> None:
        """Takes over what another record says of some rows.

        :param other: of these rows
        :param rows: where they are here
        """
        place = rows.to(self.residual.device)
        self.residual[place], self.step[place], self.iterates[place] = other.residual, other.step, other.iterates
        if len(self.residual) == len(rows):
            self.system = other.system

    def spread(self, rows: torch.Tensor, count: int) -> SolveRecord:
        """The record among more rows.

        :param rows: where its rows are
        :param count: number of rows
        """

        def among(part: torch.Tensor) -> torch.Tensor:
            whole = part.new_full((count, *part.shape[1:]), torch.nan)
            whole[rows.to(part.device)] = part
            return whole

        return SolveRecord(
            self.unknown_names, self.residual_names, self.system, among(self.residual), among(self.step),
            among(self.iterates),
        )  # fmt: skip
