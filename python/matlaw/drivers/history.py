"""What a driver records: inputs and outputs of every step."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch

from matlaw.drivers.components import columns
from matlaw.drivers.law import Boundary


@dataclass
class History:
    """Inputs and outputs of every step, by name.

    Step 0 is the initial state: its inputs are the prescribed values and its outputs the initial conditions that were
    given; the law is evaluated from step 1 on.

    :ivar inputs: by step, then by name, ``(*B, *sub_batch, *base)``
    :ivar outputs: likewise
    :ivar boundary: what each variable is, by name
    """

    inputs: list[dict[str, torch.Tensor]] = field(default_factory=list)
    outputs: list[dict[str, torch.Tensor]] = field(default_factory=list)
    boundary: dict[str, Boundary] = field(default_factory=dict)

    @property
    def steps(self) -> int:
        """Number of steps, the initial state included."""
        return len(self.inputs)

    def flat(self) -> dict[str, torch.Tensor]:
        """Every value under ``input.<step>.<name>`` or ``output.<step>.<name>``."""
        found: dict[str, torch.Tensor] = {}
        for side, steps in (("input", self.inputs), ("output", self.outputs)):
            for i, values in enumerate(steps):
                found |= {f"{side}.{i}.{name}": value for name, value in values.items()}
        return found

    def get(self, side: str, step: int, name: str) -> torch.Tensor | None:
        """One value, or None when the step has none of that name.

        :param side: ``input`` or ``output``
        """
        steps = self.inputs if side == "input" else self.outputs
        return steps[step].get(name) if 0 <= step < len(steps) else None

    def names(self, side: str) -> list[str]:
        """Names of the inputs or outputs that some step has."""
        steps = self.inputs if side == "input" else self.outputs
        return list(dict.fromkeys(name for values in steps for name in values))

    def stacked(self, side: str, name: str) -> torch.Tensor:
        """All steps of a variable, ``(steps, *B, *sub_batch, *base)``; NaN where a step has none.

        :raises KeyError: there is no such variable
        """
        steps = self.inputs if side == "input" else self.outputs
        values = [step.get(name) for step in steps]
        known = [v for v in values if v is not None]
        if not known:
            raise KeyError(f"{side}.{name}")
        shape = torch.broadcast_shapes(*(v.shape for v in known))
        empty = torch.full(shape, torch.nan, dtype=known[0].dtype)
        return torch.stack([empty if v is None else v.expand(shape) for v in values])

    def components(self, side: str) -> dict[str, torch.Tensor]:
        """All steps of every component, ``(steps, *B)``, by ``<name><suffix>``."""
        found: dict[str, torch.Tensor] = {}
        for name in self.names(side):
            b = self.boundary[name]
            found |= columns(name, b.kind, self.stacked(side, name), len(b.trailing), len(b.base_shape))
        return found
