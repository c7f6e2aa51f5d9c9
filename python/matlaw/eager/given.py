"""What a law is evaluated with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from matlaw.eager.sensitivity import Derivatives, same_for_all_rows
from matlaw.tensors import Tensor


@dataclass(frozen=True)
class Given:
    """The arguments of a number of rows.

    :ivar values: the inputs, batch extent ``rows``
    :ivar parameters: all parameters, batch extent ``rows`` or 1
    :ivar derivatives: those of inputs and parameters by the seeds
    :ivar rows: number of rows
    """

    values: Mapping[str, Tensor]
    parameters: Mapping[str, Tensor]
    derivatives: Derivatives
    rows: int

    def of_rows(self, rows: torch.Tensor) -> Given:
        """The arguments of some rows.

        :param rows: their numbers
        """
        return Given(
            {name: _select(value, rows) for name, value in self.values.items()},
            {name: p if p.batch_size == 1 else _select(p, rows) for name, p in self.parameters.items()},
            {n: {s: _of_rows(d, rows) for s, d in by.items()} for n, by in self.derivatives.items()},
            len(rows),
        )


def _of_rows(derivative: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    if same_for_all_rows(derivative):
        return derivative[..., :1].expand(*derivative.shape[:-1], len(rows))
    return derivative.index_select(-1, rows)


def _select(tensor: Tensor, rows: torch.Tensor) -> Tensor:
    return type(tensor)(tensor.data.index_select(-1, rows), tensor.sub_batch_ndim)
