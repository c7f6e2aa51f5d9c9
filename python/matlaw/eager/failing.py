"""A run in which rows failed, kept so that it can be looked into when somebody asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch

from matlaw.eager.chain import Run
from matlaw.eager.given import Given
from matlaw.eager.implicit import runtime_core
from matlaw.eager.record import Detail
from matlaw.evaluation import Reason, Status
from matlaw.tensors import to_public

if TYPE_CHECKING:
    from matlaw._core import Failure
    from matlaw.eager.model import Evaluator

#: No more rows than these are looked at, as in the compiled runtime.
MAX_ROWS = 16
#: Rows whose norms tell what is typical.
_SAMPLE = 1024


class FailingRun:
    """The first failed rows of a run, and what they were evaluated with.

    :param name: of the model
    :param chain: what evaluates it
    :param given: what all rows were evaluated with
    :param run: what came of it
    :param outputs: names of the outputs, in order
    :param configs: settings of the nonlinear solves by implicit update
    """

    def __init__(
        self,
        name: str,
        chain: Evaluator,
        given: Given,
        run: Run,
        outputs: Sequence[str],
        configs: Mapping[str, Mapping[str, Any]],
    ) -> None:
        self.failed_rows = run.failed_rows
        self._rows = self.failed_rows[:MAX_ROWS]
        chosen = torch.tensor(self._rows, dtype=torch.int64, device=run.status.device)
        self._name, self._chain, self._n_rows = name, chain, run.rows
        self._outputs, self._configs = list(outputs), dict(configs)
        self._given = given.of_rows(chosen)
        self._status = run.status[chosen].tolist()
        self._typical = {n: _median_norm(t.data) for n, t in given.values.items()}
        self._found: Failure | None = None

    def look_into(self) -> Failure:
        """Run the rows again, recorded; done once.

        :raises FatalError: the compiled part of matlaw is not there
        """
        if self._found is None:
            count = len(self._rows)
            again = self._chain.run(self._given, Detail.NORMS)
            self._found = runtime_core().make_failure(
                self._name,
                self._n_rows,
                self.failed_rows,
                [self._row(i, again) for i in range(count)],
                {n: to_public(t, (count,)).cpu() for n, t in self._given.values.items()},
                self._typical,
                {
                    n: to_public(t, () if t.batch_size == 1 else (count,)).cpu()
                    for n, t in self._given.parameters.items()
                },
                [dict(config) for config in self._configs.values()],
            )
        return self._found

    def _row(self, i: int, again: Run) -> tuple[Any, ...]:
        """What ``_core.make_failure`` takes of a row."""
        reason, place = Reason(int(again.reason[i])), int(again.place[i])
        iterations, residuals, steps = int(again.iterations[i]), [], []
        if Reason.ITERATION_LIMIT <= reason <= Reason.SINGULAR_TANGENT:
            record = again.records[place]
            steps = [s for s in record.step[i].tolist() if s == s]
            iterations = len(steps)
            residuals = record.residual[i, : iterations + 1].tolist()
        name = list(self._configs)[place] if residuals and len(self._configs) > 1 else ""
        if reason is Reason.OUTPUT_NOT_FINITE:
            name = self._outputs[place]
        elif reason is Reason.TIME_DOES_NOT_ADVANCE:
            name = list(self._given.values)[place]
        elif self._status[i] == Status.BAD_INPUT:
            place, name = self._not_finite(i)
        return self._rows[i], self._status[i], int(reason), place, name, iterations, residuals, steps

    def _not_finite(self, row: int) -> tuple[int, str]:
        """The first input or parameter of a row that is not finite, counted over both."""
        for place, (name, tensor) in enumerate({**self._given.values, **self._given.parameters}.items()):
            data = tensor.data[..., row if tensor.batch_size > 1 or name in self._given.values else 0]
            if not bool(torch.isfinite(data).all()):
                return place, name
        return -1, "an input"


def _median_norm(data: torch.Tensor) -> float:
    """Of the rows, or of an even sample of them."""
    rows = data.shape[-1]
    if rows == 0:
        return 0.0
    count = min(rows, _SAMPLE)
    sample = data[..., torch.arange(count, device=data.device) * rows // count]
    return float(torch.linalg.vector_norm(sample.reshape(-1, count).double(), dim=0).median())
