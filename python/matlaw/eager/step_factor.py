"""How much harder or easier the host may step, judged by the Newton solve of each row."""

from __future__ import annotations

import torch

from matlaw.evaluation import Status


def step_factor(status: torch.Tensor, iterations: torch.Tensor, miters: int) -> torch.Tensor:
    """Suggested factor for the next time step, by the rule of the compiled runtime.

    1 for a row that converged within ``easy = max(4, miters / 3)`` iterations, falling linearly to 1/2 at ``miters``;
    1/2 for a row that ran out of iterations, 1/4 for one whose residual is not finite or whose Jacobian is singular.

    :param status: ``(B,)`` int8
    :param iterations: ``(B,)`` int32
    :param miters: largest number of iterations
    :returns: ``(B,)`` float64

    >>> step_factor(torch.tensor([0, 0, 1, 1]), torch.tensor([3, 25, 25, 7]), 25).tolist()
    [1.0, 0.5, 0.5, 0.25]
    """
    easy = max(4, miters // 3)
    count = iterations.to(torch.float64)
    converged = 1.0 - (count - easy).clamp(min=0.0) / (2.0 * max(miters - easy, 1))
    if miters <= easy:
        converged = torch.ones_like(count)
    failed = torch.where(iterations >= miters, 0.5, 0.25).to(torch.float64)
    return torch.where(status == int(Status.CONVERGED), converged, failed)
