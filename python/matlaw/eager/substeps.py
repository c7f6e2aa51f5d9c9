"""Rows that did not converge try again in substeps; the driver is the one of the compiled runtime."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import torch

from matlaw.eager.given import Given
from matlaw.eager.implicit import runtime_core
from matlaw.eager.sensitivity import Derivatives
from matlaw.evaluation import Status
from matlaw.models import Variable
from matlaw.trace import Program

if TYPE_CHECKING:
    from matlaw.eager.chain import Run

#: Evaluates rows at once.
Step = Callable[[Given], "Run"]


class Substeps:
    """How the inputs of a program move over an increment.

    Forces are ramped, old values are carried from substep to substep, other inputs are held.

    :param program: the program
    """

    def __init__(self, program: Program) -> None:
        self._inputs, self._outputs = program.inputs, program.outputs
        pairs = program.state_pairs
        first_in, first_out = _offsets(program.inputs), _offsets(program.outputs)
        old_values = {pair.old for pair in pairs}
        self._ramps: list[tuple[int, int, int]] = []
        self._carries: list[tuple[int, bool, int, int]] = []
        for pair in pairs:
            size, is_state = program.inputs[pair.old].size, pair.role == "state"
            current = first_out[pair.current] if is_state else first_in[pair.current]
            self._carries.append((first_in[pair.old], is_state, current, size))
            if not is_state and pair.current not in old_values:
                self._ramps.append((current, first_in[pair.old], size))
        self._moving = {name for pair in pairs for name in (pair.current, pair.old)}

    def take(self, run: Run, step: Step, given: Given, config: Mapping[str, Any]) -> None:
        """Put what substeps give in the place of what a run says of its failed rows.

        :param run: of all rows; changed
        :param step: what made it
        :param given: what it was made from
        :param config: settings of the solver
        """
        failed = torch.nonzero(run.status == int(Status.NOT_CONVERGED)).flatten()
        if not self._ramps or not config["max_substepping_level"] or not failed.numel():
            return
        of_failed = given.of_rows(failed)
        seeds = {seed: d.shape[1] for by in given.derivatives.values() for seed, d in by.items()}
        carried = [name for name in self._inputs if name in self._moving or given.derivatives.get(name)]

        def one_step(rows: torch.Tensor, inputs: torch.Tensor, moved: torch.Tensor | None) -> tuple[Any, ...]:
            at = self._of_inputs(inputs.to(failed.device))
            chosen = of_failed.of_rows(rows.to(failed.device))
            derivatives = {n: by for n, by in chosen.derivatives.items() if n not in self._inputs}
            if moved is not None:
                parts = self._of_inputs(moved.to(failed.device))
                derivatives |= {
                    name: dict(zip(seeds, torch.split(parts[name], list(seeds.values()), dim=1), strict=True))
                    for name in carried
                }
            typed = {
                name: v.type(at[name].reshape(*v.shape, chosen.rows), v.sub_batch_ndim)
                for name, v in self._inputs.items()
            }
            found = step(Given(typed, chosen.parameters, derivatives, chosen.rows))
            run.adopt(found, failed[rows.to(failed.device)])
            return (
                _stacked(found.values, self._outputs).to("cpu"),
                found.status,
                found.iterations,
                None if moved is None else _blocks(found.derivatives, self._outputs, seeds, chosen.rows).to("cpu"),
            )

        whole = _stacked({n: v.data for n, v in of_failed.values.items()}, self._inputs)
        outputs, blocks, status, iterations, substeps, dt_factor = runtime_core().substep(
            one_step,
            whole.to("cpu"),
            _blocks(of_failed.derivatives, self._inputs, seeds, len(failed)).to("cpu", whole.dtype) if seeds else None,
            sum(_sizes(self._outputs)),
            self._ramps,
            self._carries,
            dict(config),
        )
        device = failed.device
        run.status[failed] = status.to(device)
        run.iterations[failed] += iterations.to(device)
        run.substeps[failed] = substeps.to(device)
        run.dt_factor[failed] = dt_factor.to(device)
        self._put(run, failed, status.to(device) == int(Status.CONVERGED), outputs.to(device), blocks, seeds)

    def _of_inputs(self, components: torch.Tensor) -> dict[str, torch.Tensor]:
        """The components of each input, of all that stand one below the other."""
        return dict(zip(self._inputs, torch.split(components, _sizes(self._inputs)), strict=True))

    def _put(
        self,
        run: Run,
        failed: torch.Tensor,
        solved: torch.Tensor,
        outputs: torch.Tensor,
        blocks: torch.Tensor | None,
        seeds: Mapping[str, int],
    ) -> None:
        """Replaces outputs and their derivatives; those of rows that failed again are NaN."""
        parts = torch.split(torch.where(solved, outputs, torch.nan), _sizes(self._outputs))
        for (name, variable), part in zip(self._outputs.items(), parts, strict=True):
            run.values[name] = run.values[name].clone()
            run.values[name][..., failed] = part.reshape(*variable.shape, len(failed))
        if blocks is None:
            return
        of_outputs = torch.split(torch.where(solved, blocks.to(failed.device), torch.nan), _sizes(self._outputs))
        for (name, variable), part in zip(self._outputs.items(), of_outputs, strict=True):
            by = run.derivatives.setdefault(name, {})
            for (seed, width), block in zip(seeds.items(), torch.split(part, list(seeds.values()), 1), strict=True):
                known = by.get(seed)
                by[seed] = block.new_zeros(variable.size, width, run.rows) if known is None else known.clone()
                by[seed][..., failed] = block


def _sizes(variables: Mapping[str, Variable]) -> list[int]:
    return [variable.size for variable in variables.values()]


def _offsets(variables: Mapping[str, Variable]) -> dict[str, int]:
    """First component of each when all stand one below the other."""
    found, at = {}, 0
    for name, variable in variables.items():
        found[name] = at
        at += variable.size
    return found


def _stacked(values: Mapping[str, torch.Tensor], variables: Mapping[str, Variable]) -> torch.Tensor:
    """All components of all variables, ``(m, B)``."""
    return torch.cat([values[name].reshape(v.size, values[name].shape[-1]) for name, v in variables.items()])


def _blocks(
    derivatives: Derivatives, variables: Mapping[str, Variable], seeds: Mapping[str, int], rows: int
) -> torch.Tensor:
    """Derivatives of all variables by all seeds, ``(m, c, B)``; what does not depend on a seed has zeros."""
    like = next((d for by in derivatives.values() for d in by.values()), torch.zeros(0, dtype=torch.float64))

    def block(name: str, seed: str) -> torch.Tensor:
        found = derivatives.get(name, {}).get(seed)
        return like.new_zeros(variables[name].size, seeds[seed], rows) if found is None else found

    return torch.cat([torch.cat([block(name, seed) for seed in seeds], dim=1) for name in variables])
