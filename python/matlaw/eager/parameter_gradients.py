"""The adjoint of a law by its parameters, added up while the rows are computed, some at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch

from matlaw.eager.chain import Run
from matlaw.eager.given import Given
from matlaw.models import Variable

#: Derivatives of the outputs take no more than so many bytes at a time, or those of one row,
_BYTES = 16 << 20
#: and what it takes to compute them grows with the rows as well.
_ROWS = 4096


class ParameterGradients:
    """The derivative of ``sum(cotangent * output)`` over all outputs and rows by each parameter.

    :param cotangents: by output, ``(size, rows)``
    :param parameters: those that derivatives are by
    :param per_row: names of those that have values for some rows each; the others collect the sum over the rows
    :ivar sums: by parameter ``(size, rows)``, or ``(size, 1)`` where it collects the sum
    """

    def __init__(
        self,
        cotangents: Mapping[str, torch.Tensor],
        parameters: Mapping[str, Variable],
        per_row: frozenset[str],
        like: torch.Tensor,
        rows: int,
    ) -> None:
        """:param like: of the dtype and device of everything."""
        self._cotangents = cotangents
        self._per_row = per_row
        self.sums = {
            name: like.new_zeros(variable.size, rows if name in per_row else 1) for name, variable in parameters.items()
        }

    def add(self, first: int, run: Run) -> None:
        """Add the rows from ``first`` on that a run with a seed for each parameter has computed."""
        rows = slice(first, first + run.rows)
        for output, cotangent in self._cotangents.items():
            for name, block in run.derivatives.get(output, {}).items():
                if name in self._per_row:
                    self.sums[name][:, rows] += torch.einsum("ob,opb->pb", cotangent[:, rows], block)
                else:
                    self.sums[name] += torch.einsum("ob,opb->p", cotangent[:, rows], block).unsqueeze(-1)


def run_in_parts(given: Given, evaluate: Callable[[Given], Run], take: Callable[[int, Run], None], outputs: int) -> Run:
    """Evaluate all rows, some at a time, and give derivatives away as they come.

    :param given: all rows
    :param evaluate: evaluates some
    :param take: is given the number of the first row and what came of some
    :param outputs: how many components derivatives are of
    :returns: the verdicts of all rows; values and derivatives are gone
    """
    seeds = sum({seed: d.shape[1] for by in given.derivatives.values() for seed, d in by.items()}.values())
    bytes_of_row = max(next(iter(given.values.values())).data.element_size() * seeds * outputs, 1)
    most = min(max(_BYTES // bytes_of_row, 1), _ROWS)
    if given.rows <= most:
        run = evaluate(given)
        take(0, run)
        return run
    parts = []
    device = next(iter(given.values.values())).data.device
    for first in range(0, given.rows, most):
        part = evaluate(given.of_rows(torch.arange(first, min(first + most, given.rows), device=device)))
        take(first, part)
        part.values, part.derivatives = {}, {}
        parts.append(part)
    return Run(
        {},
        {},
        torch.cat([p.status for p in parts]),
        torch.cat([p.iterations for p in parts]),
        torch.cat([p.substeps for p in parts]),
        torch.cat([p.dt_factor for p in parts]),
        torch.cat([p.reason for p in parts]),
        torch.cat([p.place for p in parts]),
    )
