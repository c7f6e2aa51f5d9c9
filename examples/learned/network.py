"""The plastic flow of a J2 law as a network: how high the von Mises stress is after a step."""

from __future__ import annotations

import torch
from torch import nn

#: E = 200000 MPa, nu = 0.3, as in ../models/j2_plastic.i.
SHEAR, BULK = 200000.0 / 2.6, 200000.0 / 1.2


class RadialReturn(nn.Module):
    """Radial return whose flow stress at the end of a step is learned.

    The network takes the trial von Mises stress and the equivalent plastic strain at the beginning of the step; what
    follows from these is the geometry of J2 plasticity, see e.g. J. C. Simo and T. J. R. Hughes, Computational
    Inelasticity, Springer 1998, section 3.3.
    """

    def __init__(self) -> None:
        super().__init__()
        self.network = nn.Sequential(
            nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1)
        ).double()

    def flow_stress(self, trial: torch.Tensor, plastic: torch.Tensor) -> torch.Tensor:
        """MPa, ``(B,)``, from the trial von Mises stress and the old equivalent plastic strain, ``(B,)``."""
        features = torch.stack([trial / 1000.0, 20.0 * plastic], dim=-1)
        return 300.0 + 50.0 * self.network(features).squeeze(-1)

    def forward(
        self, strain: torch.Tensor, plastic_strain: torch.Tensor, equivalent_plastic_strain: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Stress and new plastic strains.

        :param strain: ``(B, 6)``, Mandel components
        :param plastic_strain: at the beginning of the step, ``(B, 6)``
        :param equivalent_plastic_strain: likewise, ``(B,)``
        """
        elastic = strain - plastic_strain
        mean = elastic[:, :3].sum(-1, keepdim=True) / 3.0
        spherical = torch.cat([mean.expand(-1, 3), torch.zeros_like(elastic[:, 3:])], dim=-1)
        trial = 2.0 * SHEAR * (elastic - spherical)
        size = torch.sqrt(1.5 * (trial * trial).sum(-1) + 1e-12)
        increment = torch.relu(size - self.flow_stress(size, equivalent_plastic_strain)) / (3.0 * SHEAR)
        flow = 1.5 * trial * (increment / size).unsqueeze(-1)
        stress = trial - 2.0 * SHEAR * flow + 3.0 * BULK * spherical
        return stress, plastic_strain + flow, equivalent_plastic_strain + increment
