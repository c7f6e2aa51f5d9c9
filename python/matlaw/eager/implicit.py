"""Implicit segments: the Newton solve and the implicit function theorem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from matlaw.errors import FatalError
from matlaw.trace.derivatives import dense_jacobian, diagonal_blocks, jacobian_product, stacked
from matlaw.trace.graphs import Forward
from matlaw.trace.linear import LinearSolve


@dataclass
class Solution:
    """What a Newton solve gives.

    :ivar u: ``(n, B)``
    :ivar status: ``(B,)`` int8, values of :class:`matlaw.Status`
    :ivar iterations: ``(B,)`` int32
    :ivar dt_factor: ``(B,)`` float64
    :ivar reason: ``(B,)`` int8, values of :class:`matlaw.Reason`
    :ivar record: norms, steps and iterates, where they were asked for
    """

    u: torch.Tensor
    status: torch.Tensor
    iterations: torch.Tensor
    dt_factor: torch.Tensor
    reason: torch.Tensor
    record: tuple[torch.Tensor, ...] = ()


class System:
    """The residual of an implicit segment and its Jacobian for the rows that the Newton solver still works on.

    :param forward: the residual, ``(u, g, p, w) -> r``
    :param arguments: givens, parameters and weights, each ``(*shape, B)`` or with batch extent 1
    """

    def __init__(self, forward: Forward, arguments: Sequence[torch.Tensor]) -> None:
        self._forward = forward
        self._all = list(arguments)
        self._rows: torch.Tensor | None = None
        self._selected = self._all
        self._unknowns = forward.outputs

    @property
    def unknown_names(self) -> list[str]:
        """Names of the unknowns among the arguments of the residual."""
        return [slot.name for slot in self._forward.inputs[: len(self._unknowns)]]

    def residual(self, u: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        """``b = -r``, ``(n, b)``"""
        arguments = self._arguments(u, rows)
        with torch.no_grad():
            return -stacked(self._forward, arguments, u.shape[-1]).to("cpu")

    def jacobian(self, u: torch.Tensor, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """``A = dr/du``, ``(n, n, b)``, and ``b = -r``, ``(n, b)``"""
        value, blocks = dense_jacobian(self._forward, self._arguments(u, rows), self.unknown_names)
        return torch.cat(blocks, dim=1).detach().to("cpu"), -value.detach().to("cpu")

    def multiply(self, u: torch.Tensor, v: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        """``(dr/du) v``, ``(n, b)``"""
        arguments = self._arguments(u, rows)
        full = [
            a if slot.shared else a.expand(*a.shape[:-1], u.shape[-1])
            for slot, a in zip(self._forward.inputs, arguments, strict=True)
        ]
        product = jacobian_product(self._forward, full, self.unknown_names, v.to(full[0].device))
        return product.detach().to("cpu")

    def preconditioner(self, u: torch.Tensor, rows: torch.Tensor, blocks: Sequence[tuple[int, int]]) -> torch.Tensor:
        """The diagonal blocks of ``dr/du`` one after the other, ``(entries, b)``"""
        return diagonal_blocks(self.jacobian(u, rows)[0], blocks)

    def split(self, u: torch.Tensor) -> list[torch.Tensor]:
        """The unknowns from one array ``(n, b)``."""
        parts = torch.split(u, [slot.size for slot in self._unknowns])
        return [p.reshape(*slot.shape, u.shape[-1]) for p, slot in zip(parts, self._unknowns, strict=True)]

    def _arguments(self, u: torch.Tensor, rows: torch.Tensor) -> list[torch.Tensor]:
        if self._rows is None or not torch.equal(rows, self._rows):
            self._rows = rows.clone()
            self._selected = [a if a.shape[-1] == 1 else a.index_select(-1, rows.to(a.device)) for a in self._all]
        device = self._all[0].device if self._all else u.device
        return [*self.split(u.to(device)), *self._selected]


def solve(
    system: System,
    guess: torch.Tensor,
    config: Mapping[str, Any],
    linear: LinearSolve,
    record: bool = False,
    keep_iterates: bool = False,
) -> Solution:
    """Runs the Newton solver of the C++ runtime on all rows.

    :param guess: ``(n, B)``
    :param config: its settings
    :param linear: how linear systems are taken apart
    :param record: write down what it does
    :param keep_iterates: with all iterates
    :raises FatalError: when the C++ library of matlaw is not there
    """
    core = runtime_core()
    start = guess.detach().to("cpu").contiguous()
    u, status, iterations, reason, factor, *written = core.newton(
        system.residual,
        system.jacobian,
        start,
        elimination=linear.elimination,
        multiply=system.multiply,
        preconditioner=lambda u, rows: system.preconditioner(u, rows, linear.preconditioner),
        preconditioner_blocks=linear.preconditioner,
        **config,
        record=record,
        keep_iterates=keep_iterates,
    )
    device = guess.device
    return Solution(
        u.to(device), status.to(device), iterations.to(device), factor.to(device), reason.to(device), tuple(written)
    )


def sensitivities(A: torch.Tensor, right: torch.Tensor, linear: LinearSolve) -> tuple[torch.Tensor, torch.Tensor]:
    """``-A^{-1} right`` row by row.

    :param A: ``(n, n, B)``
    :param right: ``(n, m, B)``
    :param linear: how it is solved
    :returns: ``(n, m, B)``, and ``(B,)`` booleans: where there is no solution
    """
    solution, failed = runtime_core().solve_linear(A.to("cpu"), right.to("cpu"), **linear.as_options())
    return -solution.to(A.device), failed.to(A.device)


def runtime_core() -> Any:
    """The C++ side of matlaw.

    :raises FatalError: when it is not there
    """
    try:
        from matlaw import _core as core
    except ImportError as error:
        raise FatalError(
            "the compiled part of matlaw (matlaw._core) is not there, and the Newton solver is part of it; install the "
            f"package with `pip install .` ({error})"
        ) from error
    return core
