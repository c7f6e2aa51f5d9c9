"""A history against reference values of some variables."""

from __future__ import annotations

import torch

from matlaw.drivers.checking import CheckingDriver
from matlaw.drivers.compare import difference
from matlaw.drivers.driver import Outcome
from matlaw.drivers.history import History
from matlaw.drivers.typed_options import typed_options, typed_pairs
from matlaw.drivers.values import Value, read_value
from matlaw.models.context import Context
from matlaw.models.declaration import Option
from matlaw.models.registry import register

_KINDS = ("Scalar", "SR2", "Vec", "WR2")


@register("Verification", section="Drivers")
@typed_options(_KINDS, ("",), "recorded variables such as output.stress, and their reference histories")
class Verification(CheckingDriver):
    """Runs a TransientDriver and compares some of its variables with reference histories.

    A value agrees when ``|x - x_ref| <= atol + rtol |x_ref|``, where ``|x_ref|`` is the largest component of the tensor
    in that row. The law is not evaluated at step 0: an output has a value there only when it has an initial condition,
    so without ``time_steps`` the outputs are compared from step 1 on.

    * ``driver``: the TransientDriver
    * ``rtol``, ``atol``: tolerances
    * ``time_steps``: the steps to compare; all when not given. With a single one, a reference may also be the value
      at that step, without an axis of steps
    * ``<type>_names``, ``<type>_values``: variables (``input.<name>`` or ``output.<name>``) and the ``[Tensors]``
      entries of their references, ``(steps, *B, *sub_batch, *base)``
    """

    rtol = Option("float", "relative tolerance", required=False, default="1e-05")
    atol = Option("float", "absolute tolerance", required=False, default="1e-08")
    time_steps = Option("list", "the steps to compare; all when not given", required=False)

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._steps = [self._step(text) for text in context.option("time_steps")]
        self._references: list[tuple[str, str, Value, str]] = []
        for kind, name, token, option in typed_pairs(context, _KINDS, ""):
            side, _, variable = name.partition(".")
            if side not in ("input", "output") or not variable:
                raise context.error(
                    f"'{name}': expected input.<variable> or output.<variable>", option.replace("_values", "_names")
                )
            self._references.append((side, variable, read_value(context, token, kind, option), option))
        if not self._references:
            raise context.error(f"nothing to compare; expected {', '.join(f'{k}_names' for k in _KINDS)}")

    def _step(self, text: str) -> int:
        try:
            step = int(text)
        except ValueError:
            raise self.context.error(f"expected a step number, got '{text}'", "time_steps") from None
        if not 0 <= step < self.driver.steps:
            raise self.context.error(
                f"step {step} does not exist; the steps are 0 to {self.driver.steps - 1}", "time_steps"
            )
        return step

    def compare(self, history: History, outcome: Outcome) -> None:
        """Compares every variable at every step."""
        rtol, atol = self.context.option("rtol"), self.context.option("atol")
        for side, name, value, option in self._references:
            known = history.names(side)
            if name not in known:
                raise self.context.unknown(f"recorded {side}", name, known, option.replace("_values", "_names"))
            for step in self._steps or range(history.steps):
                found = history.get(side, step, name)
                if found is None:
                    if self._steps:
                        outcome.failures.append(f"{side}.{step}.{name}: nothing is recorded at this step")
                    continue
                outcome.checks += 1
                expected = self._at(value, step, name, option, found)
                wrong = difference(found, expected, rtol, atol, len(history.boundary[name].base_shape))
                if wrong:
                    outcome.failures.append(f"{side}.{step}.{name}: {wrong}")

    def _at(self, value: Value, step: int, name: str, option: str, found: torch.Tensor) -> torch.Tensor:
        """The reference at a step."""
        if value.constant:
            return value.data
        data = value.data
        if len(self._steps) == 1 and _broadcasts(data, found):
            return data
        if data.ndim == 0 or data.shape[0] <= step:
            raise self.context.error(
                f"'{name}': {value.source} has shape {tuple(data.shape)}, without an entry for step {step}", option
            )
        return data[step]


def _broadcasts(reference: torch.Tensor, found: torch.Tensor) -> bool:
    """Whether a reference has the shape of a value, up to batch axes of extent 1."""
    try:
        return torch.broadcast_shapes(reference.shape, found.shape) == found.shape
    except RuntimeError:
        return False
