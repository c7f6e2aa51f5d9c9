"""What all drivers have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from matlaw.drivers.history import History
from matlaw.drivers.law import Law
from matlaw.models.context import Context

#: Called before each step with its number, the number of steps and the time.
Progress = Callable[[int, int, float], None]


@dataclass
class Outcome:
    """What a run of a driver gives.

    :ivar history: what was recorded, or None for a driver that records nothing
    :ivar failures: what differs from what was expected; empty when nothing does
    :ivar checks: number of values that were compared
    :ivar warnings: what may be a mistake in the input
    :ivar save_as: where the input file wants the history to be written, relative to the working directory
    :ivar iterations: Newton iterations of each step, the largest over the rows
    """

    history: History | None = None
    failures: list[str] = field(default_factory=list)
    checks: int = 0
    warnings: list[str] = field(default_factory=list)
    save_as: Path | None = None
    iterations: list[int] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """True when nothing differs."""
        return not self.failures


class Driver(ABC):
    """Base of the drivers.

    :ivar name: name of the block
    :ivar location: file, line and block, for messages
    """

    type_name: ClassVar[str] = ""

    def __init__(self, context: Context) -> None:
        self.name = context.name
        self.location = context.location
        self.context = context

    @property
    @abstractmethod
    def model_name(self) -> str:
        """Name of the model that is driven."""

    @property
    @abstractmethod
    def model_owner(self) -> Driver:
        """The driver whose block names the model."""

    def sub_batch_shapes(self) -> dict[str, tuple[int, ...]]:
        """Sub-batch shapes of the variables to which the driver gives values that have some, by name."""
        return {}

    @abstractmethod
    def run(self, law: Law, progress: Progress | None = None) -> Outcome:
        """Runs the law.

        :param law: the loaded model :attr:`model_name`
        :param progress: called before each step
        :raises ConvergenceError: rows did not converge; the message names step, time and rows
        :raises FatalError: the input does not fit the law
        """
