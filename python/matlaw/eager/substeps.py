"""Rows that did not converge try again in substeps; the driver is the one of the compiled runtime."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import torch

from matlaw.eager.implicit import runtime_core
from matlaw.eager.sensitivity import Derivatives
from matlaw.evaluation import Status
from matlaw.models import Variable
from matlaw.tensors import Tensor
from matlaw.trace import Program

if TYPE_CHECKING:
    from matlaw.eager.chain import Run

#: Evaluates rows at once: inputs, parameters, derivatives of both, number of rows.
Step = Callable[[Mapping[str, Tensor], Mapping[str, Tensor], Derivatives, int], "Run"]


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

    def take(
        self,
        run: Run,
        step: Step,
        values: Mapping[str, Tensor],
        parameters: Mapping[str, Tensor],
        derivatives: Derivatives,
        config: Mapping[str, Any],
    ) -> None:
        """Put what substeps give in the place of what a run says of its failed rows.

        :param run: of all rows; changed
        :param step: what made it
        :param values: the arguments of that call, like the next two
        :param config: settings of the solver
        """
        failed = torch.nonzero(run.status == int(Status.NOT_CONVERGED)).flatten()
        if not self._ramps or not config["max_substepping_level"] or not failed.numel():
            return
        seeds = {seed: d.shape[1] for by in derivatives.values() for seed, d in by.items()}
        carried = [name for name in self._inputs if name in self._moving or derivatives.get(name)]

        def one_step(rows: torch.Tensor, inputs: torch.Tensor, moved: torch.Tensor | None) -> tuple[Any, ...]:
            chosen = failed[rows.to(failed.device)]
            at = dict(zip(self._inputs, torch.split(inputs.to(failed.device), _sizes(self._inputs)), strict=True))
            typed = {
                name: v.type(at[name].reshape(*v.shape, len(chosen)), v.sub_batch_ndim)
                for name, v in self._inputs.items()
            }
            given = {n: _chosen(by, chosen) for n, by in derivatives.items() if n not in self._inputs}
            if moved is not None:
                parts = dict(zip(self._inputs, torch.split(moved.to(failed.device), _sizes(self._inputs)), strict=True))
                given |= {
                    name: dict(zip(seeds, torch.split(parts[name], list(seeds.values()), dim=1), strict=True))
                    for name in carried
                }
            found = step(typed, {n: _of_rows(p, chosen) for n, p in parameters.items()}, given, len(chosen))
            run.adopt(found, chosen)
            return (
                _stacked(found.values, self._outputs).to("cpu"),
                found.status,
                found.iterations,
                None if moved is None else _blocks(found.derivatives, self._outputs, seeds, len(chosen)).to("cpu"),
            )

        whole = _stacked({n: values[n].data.index_select(-1, failed) for n in self._inputs}, self._inputs)
        given = {n: _chosen(derivatives.get(n, {}), failed) for n in self._inputs}
        outputs, blocks, status, iterations, substeps, dt_factor = runtime_core().substep(
            one_step,
            whole.to("cpu"),
            _blocks(given, self._inputs, seeds, len(failed)).to("cpu", whole.dtype) if seeds else None,
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


def _chosen(by: Mapping[str, torch.Tensor], rows: torch.Tensor) -> dict[str, torch.Tensor]:
    return {seed: block.index_select(-1, rows) for seed, block in by.items()}


def _of_rows(parameter: Tensor, rows: torch.Tensor) -> Tensor:
    if parameter.batch_size == 1:
        return parameter
    return type(parameter)(parameter.data.index_select(-1, rows), parameter.sub_batch_ndim)


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
