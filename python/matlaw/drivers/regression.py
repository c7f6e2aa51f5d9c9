"""A history against an earlier one."""

from __future__ import annotations

from pathlib import Path

from matlaw.drivers.checking import CheckingDriver
from matlaw.drivers.compare import difference
from matlaw.drivers.driver import Outcome
from matlaw.drivers.history import History
from matlaw.drivers.result_file import load
from matlaw.errors import FatalError
from matlaw.models.context import Context
from matlaw.models.declaration import Option
from matlaw.models.registry import register


@register("TransientRegression", section="Drivers")
class TransientRegression(CheckingDriver):
    """Runs a TransientDriver and compares its history with a result file.

    Every value of the file must be there and satisfy ``|x - x_ref| <= atol + rtol |x_ref|``, where ``|x_ref|`` is the
    largest component of the tensor in that row; values that only the run has are not compared.

    * ``driver``: the TransientDriver
    * ``reference``: the result file (``.pt`` or ``.npz``), relative to the input file
    * ``rtol``, ``atol``: tolerances
    """

    reference = Option("str", "the result file, relative to the input file")
    rtol = Option("float", "relative tolerance", required=False, default="1e-05")
    atol = Option("float", "absolute tolerance", required=False, default="1e-08")

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.path = Path(context.directory()) / context.option("reference")
        try:
            self._reference = load(self.path)
        except FatalError as error:
            raise context.error(str(error), "reference") from error
        if not self._reference:
            raise context.error(f"the result file {self.path} is empty", "reference")

    def compare(self, history: History, outcome: Outcome) -> None:
        """Compares every value of the reference."""
        found = history.flat()
        rtol, atol = self.context.option("rtol"), self.context.option("atol")
        for name, expected in self._reference.items():
            outcome.checks += 1
            if name not in found:
                outcome.failures.append(f"{name}: the run has no such value")
                continue
            variable = history.boundary[name.split(".", 2)[2]]
            wrong = difference(found[name], expected, rtol, atol, len(variable.base_shape))
            if wrong:
                outcome.failures.append(f"{name}: {wrong}")
