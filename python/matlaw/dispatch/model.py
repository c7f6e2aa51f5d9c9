"""A law with a copy on each device of a scheduler."""

from __future__ import annotations

import os
from typing import Any

from matlaw import _core
from matlaw.errors import FatalError
from matlaw.runtime import CompiledModel
from matlaw.runtime.load import checked_place, core_options


class DispatchedModel(CompiledModel):
    """A law whose batches are shared out to several devices; made by :func:`load_model`.

    Its operations are those of :class:`matlaw.runtime.CompiledModel`, results are in the order of rows.
    ``forward`` and ``jacobian`` raise :class:`matlaw.ConvergenceError` with rows of the whole batch; what a copy of the
    law raises itself in ``jvp``, ``param_jacobian`` and ``param_vjp`` comes as :class:`matlaw.AggregateError`.

    :param handle: what the C++ loader returned
    :param scheduler: says which device takes which rows
    """

    def __init__(self, handle: _core.Model, scheduler: _core.Scheduler) -> None:
        super().__init__(handle)
        self._scheduler = scheduler

    def __repr__(self) -> str:
        devices = ", ".join(config.device for config in self._scheduler.devices)
        return f"DispatchedModel({self.name!r} on {devices})"

    @property
    def scheduler(self) -> _core.Scheduler:
        """Which device takes which rows."""
        return self._scheduler


def load_model(path: str | os.PathLike[str], name: str, scheduler: _core.Scheduler, **options: Any) -> DispatchedModel:
    """Load the law `name` on every device of a scheduler.

    :param path: stub, artifact folder or ``metadata.json`` with a build for each kind of device
    :param name: of the model
    :param scheduler: a :class:`SimpleScheduler` or :class:`StaticHybridScheduler`
    :param options: those of :func:`matlaw.load_model`; `device` is where inputs and outputs lie, `max_bytes` is of each
        copy
    :raises FatalError: as :func:`matlaw.load_model`
    """
    if not isinstance(scheduler, _core.Scheduler):
        raise FatalError(
            f"load_model: scheduler must be a scheduler, such as SimpleScheduler('cpu'); got {scheduler!r}"
        )
    return DispatchedModel(
        _core.load_model(os.fspath(checked_place(path, name)), name, scheduler=scheduler, **core_options(**options)),
        scheduler,
    )
