"""Networks of the law in learned.i: small, and with numbers that follow from one."""

from __future__ import annotations

import torch
from torch import nn


def _seeded(module: nn.Module, seed: int) -> nn.Module:
    generator = torch.Generator().manual_seed(seed)
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.4, generator=generator)
    return module


class Encoder(nn.Sequential):
    """A demand from a strain."""

    def __init__(self) -> None:
        super().__init__(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 12), nn.SiLU(), nn.Linear(12, 1))
        _seeded(self, 1)


class Balance(nn.Module):
    """The residual of ``x`` under a demand: it grows with ``x``."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(2, 8)
        self.out = nn.Linear(8, 1)
        _seeded(self, 2)

    def forward(self, joined: torch.Tensor) -> torch.Tensor:
        """``x`` and the demand side by side, ``(B, 2)``."""
        x, demand = joined[:, :1], joined[:, 1:]
        return 3.0 * x - demand + 0.1 * self.out(torch.tanh(self.hidden(joined)))


class Decoder(nn.Module):
    """A stress from a strain and ``x``."""

    def __init__(self) -> None:
        super().__init__()
        self.stiffness = nn.Linear(7, 6, bias=False)
        self.register_buffer("scale", torch.tensor(2.0))
        _seeded(self, 3)

    def forward(self, strain: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """``(B, 6)`` and ``(B,)`` to ``(B, 6)``."""
        return self.scale * self.stiffness(torch.cat([strain, x.unsqueeze(-1)], dim=-1))
