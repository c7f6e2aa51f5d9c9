"""Laws with models that reduce batch axes: which axes their variables lack, and derivatives across rows."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from matlaw.eager.sensitivity import Derivatives
from matlaw.errors import InputFileError
from matlaw.models import Model
from matlaw.models.batch_axes import BatchAxes
from matlaw.models.common.batch_reductions import RowReduction
from matlaw.trace import ForwardSegment, ImplicitSegment, Program
from matlaw.trace.derivatives import jacobian_product
from matlaw.trace.graphs import Forward
from matlaw.trace.program import leaves


class RowMixing:
    """The models of a program that reduce batch axes.

    :param program: the program
    :raises InputFileError: when there is one in an implicit update, whose rows are solved for one by one
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        for segment in program.segments:
            for leaf in leaves(segment):
                if leaf.mixes_rows and isinstance(segment, ImplicitSegment):
                    raise InputFileError(
                        f"{leaf.location}: {leaf.type_name} cannot be in an implicit update ('{segment.update.name}'): "
                        "rows are solved for one by one. Reduce sub-batch axes instead (SR2IntermediateMean, "
                        "SR2IntermediateSum), or reduce after the update"
                    )
        self._mixed = [s for s in program.segments if any(leaf.mixes_rows for leaf in leaves(s))]

    def __bool__(self) -> bool:
        return bool(self._mixed)

    def of_segment(self, segment: ForwardSegment) -> bool:
        """Whether rows of a segment depend on each other."""
        return any(segment is s for s in self._mixed)

    def axes(self, batch: tuple[int, ...]) -> tuple[BatchAxes, dict[str, tuple[int, ...]]]:
        """What a batch shape means for the program.

        :param batch: that of a call
        :returns: the axis that each model reduces; and, by name of an output, the axes that it lacks
        :raises InputFileError: there is no such axis
        """
        lost: dict[str, frozenset[int]] = {name: frozenset() for name in self._program.inputs}
        reduced: dict[Model, int] = {}
        for segment in self._program.segments:
            models = segment.models if isinstance(segment, ForwardSegment) else [segment.update]
            for model in models:
                taken = [lost[name] for name in model.inputs]
                lacks = frozenset.intersection(*taken) if taken else frozenset()
                if isinstance(model, RowReduction):
                    left = [axis for axis in range(len(batch)) if axis not in lacks]
                    reduced[model] = left[model.axis_among(len(left))]
                    lacks |= {reduced[model]}
                lost.update(dict.fromkeys(model.outputs, lacks))
        return BatchAxes(batch, reduced), {name: tuple(sorted(lost[name])) for name in self._program.outputs}


def first_along(value: torch.Tensor, axes: Sequence[int]) -> torch.Tensor:
    """A value without some axes, along which it does not change."""
    for axis in sorted(axes, reverse=True):
        value = value.select(axis, 0)
    return value


def push_across_rows(
    forward: Forward, arguments: Sequence[torch.Tensor], by: Sequence[str], derivatives: Derivatives, rows: int
) -> dict[str, torch.Tensor]:
    """Derivatives of a function by the seeds when a seed changes in all rows alike.

    :param forward: the function, whose rows depend on each other
    :param arguments: one per input, with the full batch
    :param by: the arguments that depend on seeds
    :param derivatives: their derivatives by the seeds
    :returns: by seed ``(n, seed_size, B)``
    """
    sizes = {slot.name: slot.size for slot in forward.inputs}
    widths = {seed: d.shape[1] for name in by for seed, d in derivatives[name].items()}

    def product(seed: str, column: int) -> torch.Tensor:
        zero = arguments[0].new_zeros
        parts = [
            derivatives[name][seed][:, column] if seed in derivatives[name] else zero(sizes[name], rows) for name in by
        ]
        return jacobian_product(forward, arguments, by, torch.cat(parts)).detach()

    return {seed: torch.stack([product(seed, k) for k in range(width)], 1) for seed, width in widths.items()}
