"""Drivers that run another driver and compare what it recorded."""

from __future__ import annotations

from abc import abstractmethod

from matlaw.drivers.driver import Driver, Outcome, Progress
from matlaw.drivers.history import History
from matlaw.drivers.law import Law
from matlaw.drivers.transient import TransientDriver
from matlaw.models.context import Context
from matlaw.models.declaration import Option


class CheckingDriver(Driver):
    """Base of the drivers that run a TransientDriver and compare its history."""

    driver_ = Option("str", "the TransientDriver to run")

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        name = context.option("driver")
        driver = context.object("Drivers", name, "driver")
        if not isinstance(driver, TransientDriver):
            raise context.error(f"'{name}' is {driver.type_name}; expected a TransientDriver", "driver")
        self.driver = driver

    @property
    def model_name(self) -> str:
        """The law of the driver that is run."""
        return self.driver.model_name

    @property
    def model_owner(self) -> Driver:
        """The driver that is run."""
        return self.driver

    def run(self, law: Law, progress: Progress | None = None) -> Outcome:
        """Runs the driver and compares; see :meth:`Driver.run`."""
        outcome = self.driver.run(law, progress)
        assert outcome.history is not None
        # A check must not replace the very file that it compares with.
        outcome.save_as = None
        self.compare(outcome.history, outcome)
        return outcome

    @abstractmethod
    def compare(self, history: History, outcome: Outcome) -> None:
        """Adds what differs to the outcome."""
