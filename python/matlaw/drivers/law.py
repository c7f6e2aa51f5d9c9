"""What a driver needs of a law: an eager or a compiled one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch

from matlaw.errors import ConvergenceError, FatalError, InputError
from matlaw.evaluation import Evaluation, Reason, Status


class Law(Protocol):
    """The part of :class:`matlaw.EagerModel` and of the compiled model that drivers use."""

    @property
    def name(self) -> str:
        """Name of the model."""

    @property
    def input_names(self) -> list[str]:
        """Names of the inputs."""

    @property
    def output_names(self) -> list[str]:
        """Names of the outputs."""

    @property
    def input_types(self) -> list[str]:
        """Their tensor types."""

    @property
    def output_types(self) -> list[str]:
        """Their tensor types."""

    @property
    def input_base_shapes(self) -> list[tuple[int, ...]]:
        """Their base shapes."""

    @property
    def output_base_shapes(self) -> list[tuple[int, ...]]:
        """Their base shapes."""

    @property
    def input_sub_batch_shapes(self) -> list[tuple[int, ...]]:
        """Their sub-batch shapes."""

    @property
    def output_sub_batch_shapes(self) -> list[tuple[int, ...]]:
        """Their sub-batch shapes."""

    @property
    def dtype(self) -> torch.dtype:
        """Of inputs and outputs."""

    @property
    def device(self) -> torch.device:
        """Of inputs and outputs."""

    @property
    def state_pairs(self) -> list[Any]:
        """What goes from one step to the next."""

    @property
    def times(self) -> list[tuple[str, str]]:
        """Inputs that are time and its old value."""

    def last_failure(self) -> Any:
        """Why rows of the last failing call failed."""

    def evaluate(
        self, inputs: Mapping[str, Any], jacobian: bool = False, pairs: Sequence[tuple[str, str]] | None = None
    ) -> Evaluation:
        """Outputs and the verdict per row."""


@dataclass(frozen=True)
class Boundary:
    """One variable of a law.

    :ivar kind: name of the tensor type
    :ivar base_shape: its base shape
    :ivar sub_batch_shape: extents of its sub-batch axes
    """

    kind: str
    base_shape: tuple[int, ...]
    sub_batch_shape: tuple[int, ...]

    @property
    def trailing(self) -> tuple[int, ...]:
        """``(*sub_batch, *base)``"""
        return (*self.sub_batch_shape, *self.base_shape)


def inputs_of(law: Law) -> dict[str, Boundary]:
    """The inputs by name."""
    return _boundary(law.input_names, law.input_types, law.input_base_shapes, law.input_sub_batch_shapes)


def outputs_of(law: Law) -> dict[str, Boundary]:
    """The outputs by name."""
    return _boundary(law.output_names, law.output_types, law.output_base_shapes, law.output_sub_batch_shapes)


def _boundary(names: list[str], kinds: list[str], bases: list[Any], subs: list[Any]) -> dict[str, Boundary]:
    return {n: Boundary(k, tuple(b), tuple(s)) for n, k, b, s in zip(names, kinds, bases, subs, strict=True)}


def batch_shape(values: Mapping[str, torch.Tensor], boundary: Mapping[str, Boundary]) -> tuple[int, ...]:
    """The batch shape that all values broadcast to.

    :raises RuntimeError: when they do not
    """
    shapes = [v.shape[: v.ndim - len(boundary[n].trailing)] for n, v in values.items()]
    return tuple(torch.broadcast_shapes(*shapes))


def evaluate(
    law: Law,
    values: Mapping[str, torch.Tensor],
    boundary: Mapping[str, Boundary],
    where: str,
    jacobian: bool = False,
    pairs: Sequence[tuple[str, str]] | None = None,
) -> Evaluation:
    """The outputs of a law for inputs whose batch shapes broadcast.

    :param where: begins the message of an error: the driver, the step, the time
    :param pairs: derivatives that are needed, ``(output, input)``; without them those that the law gives by itself
    :raises ConvergenceError: rows did not converge; it names them
    :raises InputError: an input is not finite
    :raises FatalError: there are no rows
    """
    batch = batch_shape(values, boundary)
    if 0 in batch:
        raise FatalError(f"{where}: the inputs have the batch shape {batch}, so that there is no row to evaluate")
    given = {
        n: v.expand((*batch, *v.shape[v.ndim - len(boundary[n].trailing) :])).contiguous() for n, v in values.items()
    }
    found = law.evaluate(given, jacobian, pairs)
    if found.failed_rows or bool((torch.as_tensor(found.status) != int(Status.CONVERGED)).any()):
        raise _failure(law, found, given, boundary, where, batch)
    return found


def _failure(
    law: Law,
    found: Evaluation,
    given: Mapping[str, torch.Tensor],
    boundary: Mapping[str, Boundary],
    where: str,
    batch: tuple[int, ...],
) -> ConvergenceError | InputError:
    status = torch.as_tensor(found.status).reshape(-1)
    bad = torch.nonzero(status == int(Status.BAD_INPUT)).flatten().tolist()
    for row in bad[:1]:
        for name, value in given.items():
            flat = value.reshape(-1, *boundary[name].trailing)
            if not bool(torch.isfinite(flat[row]).all()):
                return InputError(f"{where}: input '{name}' is NaN or infinite in row {row}", name, row)
    failure = law.last_failure()
    still = [row for row in failure.rows if row.reason is Reason.TIME_DOES_NOT_ADVANCE] if failure else []
    if still:
        name = law.input_names[still[0].place]
        return InputError(
            f"{where}: {still[0].text} in row {still[0].row}; prescribe times that grow", name, still[0].row
        )
    rows = torch.nonzero(status != int(Status.CONVERGED)).flatten().tolist()
    why = f"; row {failure.worst.row}: {failure.worst.text}" if failure else ""
    listed = ", ".join(map(str, rows[:10])) + (", ..." if len(rows) > 10 else "")
    shape = f" of the batch {batch}" if batch else ""
    return ConvergenceError(
        f"{where}: {len(rows)} of {len(status)} rows did not converge: {listed}{shape}{why}. "
        "Prescribe smaller steps, or give the solver more iterations",
        rows,
    )
