"""One evaluation of a law against given values and finite differences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from matlaw.drivers.compare import difference
from matlaw.drivers.driver import Driver, Outcome, Progress
from matlaw.drivers.law import Boundary, Law, batch_shape, evaluate, inputs_of, outputs_of
from matlaw.drivers.transient import KINDS
from matlaw.drivers.typed_options import typed_options, typed_pairs
from matlaw.drivers.values import read_value
from matlaw.errors import FatalError
from matlaw.models.context import Context
from matlaw.models.declaration import Option
from matlaw.models.registry import register

#: Second names of options, which mean the same.
ALIASES = {"output_rel_tol": "value_rel_tol", "output_abs_tol": "value_abs_tol"}
#: Cube root of the rounding error: the relative step at which central differences are most accurate.
_STEP = torch.finfo(torch.float64).eps ** (1 / 3)
#: Inputs are taken to vary on this scale at least, so that a step at zero is not zero.
_SMALLEST_SCALE = 1e-2


@register("ModelUnitTest", section="Drivers")
@typed_options(KINDS, ("input", "output"), "{prefix} value")
class ModelUnitTest(Driver):
    """Evaluates a law once and compares outputs and derivatives.

    Outputs are compared with given values, derivatives with central differences of the law itself and, where given,
    with values. A derivative agrees with either when it differs by no more than ``derivative_abs_tol`` plus
    ``derivative_rel_tol`` times the largest component of its block.

    * ``model``: the law
    * ``input_<type>_names``, ``input_<type>_values``: inputs, ``(*B, *sub_batch, *base)``; others are zero
    * ``output_<type>_names``, ``output_<type>_values``: expected outputs
    * ``output_rel_tol``, ``output_abs_tol``, or ``value_rel_tol``, ``value_abs_tol``: tolerances of outputs
    * ``check_derivatives``: compare derivatives with differences
    * ``derivative_pairs``, ``derivative_values``: pairs ``output:input`` and the ``[Tensors]`` entries of their values,
      ``(*B, *out_sub_batch, *out_base, *in_sub_batch, *in_base)`` in any type of as many components
    * ``derivative_rel_tol``, ``derivative_abs_tol``: tolerances of derivatives
    """

    model_ = Option("str", "the law")
    check_derivatives = Option("bool", "compare derivatives with differences", required=False, default="true")
    output_rel_tol = Option("float", "relative tolerance of outputs", required=False, default="1e-05")
    output_abs_tol = Option("float", "absolute tolerance of outputs", required=False, default="1e-08")
    value_rel_tol = Option("float", "another name of output_rel_tol", required=False, default="1e-05")
    value_abs_tol = Option("float", "another name of output_abs_tol", required=False, default="1e-08")
    derivative_rel_tol = Option("float", "relative tolerance of derivatives", required=False, default="1e-05")
    derivative_abs_tol = Option("float", "absolute tolerance of derivatives", required=False, default="1e-08")
    derivative_pairs = Option("list", "pairs output:input whose derivative is given", required=False)
    derivative_values = Option("list", "their [Tensors] entries", required=False)

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._inputs, self._outputs = (
            {
                name: (read_value(context, token, kind, option), option)
                for kind, name, token, option in typed_pairs(context, KINDS, prefix)
            }
            for prefix in ("input", "output")
        )
        self._output_tolerances = self._tolerance("output_rel_tol"), self._tolerance("output_abs_tol")
        pairs, values = context.option("derivative_pairs"), context.option("derivative_values")
        if len(pairs) != len(values):
            raise context.error(
                f"expected as many values as pairs: there are {len(pairs)} pairs and {len(values)} values",
                "derivative_values",
            )
        self._pairs: dict[tuple[str, str], torch.Tensor] = {}
        for pair, token in zip(pairs, values, strict=True):
            output, _, given = pair.partition(":")
            entry = context.object("Tensors", token, "derivative_values")
            value = read_value(context, token, type(entry.value).__name__, "derivative_values")
            self._pairs[output, given] = value.data
        if not (self._outputs or self._pairs or context.option("check_derivatives")):
            raise context.error("nothing to compare: no outputs, and check_derivatives is false")

    def _tolerance(self, option: str) -> float:
        """A tolerance under either of its names."""
        second = ALIASES[option]
        if not self.context.given(second):
            return float(self.context.option(option))
        if self.context.given(option):
            raise self.context.error(f"'{option}' and '{second}' are the same; give one of them", second)
        return float(self.context.option(second))

    @property
    def model_name(self) -> str:
        """Name of the law."""
        return str(self.context.option("model"))

    @property
    def model_owner(self) -> Driver:
        """The driver itself."""
        return self

    def sub_batch_shapes(self) -> dict[str, tuple[int, ...]]:
        """Those of the given inputs."""
        return {name: v.sub_batch_shape for name, (v, _) in self._inputs.items() if v.sub_batch_shape}

    def run(self, law: Law, progress: Progress | None = None) -> Outcome:
        """Evaluates and compares; see :meth:`Driver.run`. There are no steps to report."""
        inputs, outputs = inputs_of(law), outputs_of(law)
        for known, given, what in ((inputs, self._inputs, "input"), (outputs, self._outputs, "output")):
            for name, (value, option) in given.items():
                if name not in known:
                    raise self.context.unknown(f"{what} of model '{self.model_name}'", name, list(known), option)
                if known[name].kind != value.kind:
                    raise self.context.error(f"'{name}' is {known[name].kind}, not {value.kind}", option)
        outcome = Outcome()
        values = {}
        for name, b in inputs.items():
            data = self._inputs[name][0].data if name in self._inputs else torch.zeros(b.trailing, dtype=torch.float64)
            values[name] = data.to(law.dtype).to(law.device)
            if name not in self._inputs:
                outcome.warnings.append(f"input '{name}' of model '{self.model_name}' is not given; it is zero")
        # The differences need the full batch in every input.
        batch = self._batch(values, inputs)
        values = {n: v.expand((*batch, *inputs[n].trailing)) for n, v in values.items()}
        wants_derivatives = bool(self._pairs) or self.context.option("check_derivatives")
        found, blocks = self._evaluate(law, values, inputs, wants_derivatives, outcome)
        rtol, atol = self._output_tolerances
        for name, (value, _) in self._outputs.items():
            outcome.checks += 1
            wrong = difference(found[name], value.data, rtol, atol, len(outputs[name].base_shape))
            if wrong:
                outcome.failures.append(f"output '{name}': {wrong}")
        self._compare_given(blocks, outputs, inputs, outcome)
        if self.context.option("check_derivatives"):
            self._compare_differences(law, values, inputs, blocks, outcome)
        return outcome

    def _batch(self, values: Mapping[str, torch.Tensor], inputs: Mapping[str, Boundary]) -> tuple[int, ...]:
        try:
            return batch_shape(values, inputs)
        except RuntimeError as error:
            raise self.context.error(f"the batch shapes of the inputs do not broadcast: {error}") from error

    def _evaluate(
        self, law: Law, values: dict[str, torch.Tensor], inputs: dict[str, Boundary], jacobian: bool, outcome: Outcome
    ) -> tuple[Mapping[str, Any], dict[tuple[str, str], torch.Tensor]]:
        """Outputs and derivative blocks; without the latter, saying so, for a law that was compiled without them."""
        if jacobian:
            # A compiled law has the pairs that it was compiled with, an eager one any.
            every = [(o, i) for o in law.output_names for i in inputs]
            pairs = None if hasattr(law, "handle") else every
            try:
                found = evaluate(law, values, inputs, self.location, jacobian=True, pairs=pairs)
            except FatalError as error:
                if self._pairs or not hasattr(law, "handle"):
                    raise
                outcome.warnings.append(f"derivatives are not checked: {error}")
            else:
                blocks = {(o, i): block for o, by in found.jacobian.items() for i, block in by.items()}
                return found.outputs, blocks
        return evaluate(law, values, inputs, self.location).outputs, {}

    def _compare_given(
        self,
        blocks: Mapping[tuple[str, str], torch.Tensor],
        outputs: Mapping[str, Boundary],
        inputs: Mapping[str, Boundary],
        outcome: Outcome,
    ) -> None:
        option = self.context.option
        for (output, given), expected in self._pairs.items():
            if (output, given) not in blocks:
                known = [f"{o}:{i}" for o, i in blocks]
                raise self.context.unknown("derivative", f"{output}:{given}", known, "derivative_pairs")
            block = blocks[output, given]
            base = (*outputs[output].trailing, *inputs[given].trailing)
            size = int(torch.Size(base).numel())
            if expected.numel() % size:
                raise self.context.error(
                    f"'{output}:{given}': expected {size} components, got shape {tuple(expected.shape)}",
                    "derivative_values",
                )
            outcome.checks += 1
            wrong = difference(
                block.reshape(-1, size),
                expected.reshape(-1, size),
                option("derivative_rel_tol"),
                option("derivative_abs_tol"),
                base_ndim=1,
            )
            if wrong:
                outcome.failures.append(f"derivative of '{output}' by '{given}': {wrong}")

    def _compare_differences(
        self,
        law: Law,
        values: dict[str, torch.Tensor],
        inputs: dict[str, Boundary],
        blocks: Mapping[tuple[str, str], torch.Tensor],
        outcome: Outcome,
    ) -> None:
        rtol, atol = self.context.option("derivative_rel_tol"), self.context.option("derivative_abs_tol")
        for given in dict.fromkeys(i for _, i in blocks):
            differences = self._differences(law, values, inputs, given)
            for output in [o for o, i in blocks if i == given]:
                block, expected = blocks[output, given], differences[output]
                outcome.checks += 1
                scale = float(expected.abs().max()) if expected.numel() else 0.0
                wrong = difference(block.expand_as(expected), expected, 0.0, atol + rtol * scale)
                if wrong:
                    outcome.failures.append(
                        f"derivative of '{output}' by '{given}' against differences: {wrong} "
                        f"(largest component {scale:.3e})"
                    )

    def _differences(
        self, law: Law, values: dict[str, torch.Tensor], inputs: dict[str, Boundary], given: str
    ) -> dict[str, torch.Tensor]:
        """Central differences of all outputs, ``(*B, *out_sub_batch, *out_base, *in_sub_batch, *in_base)``."""
        base = inputs[given].trailing
        ndim = len(base)
        flat = values[given].reshape(*values[given].shape[: values[given].ndim - ndim], -1)
        scale = max(float(flat.abs().max()) if flat.numel() else 0.0, _SMALLEST_SCALE)
        step = _STEP * scale
        columns: dict[str, list[torch.Tensor]] = {}
        for i in range(flat.shape[-1]):
            sides = []
            for sign in (1.0, -1.0):
                moved = flat.clone()
                moved[..., i] += sign * step
                shifted = {**values, given: moved.reshape(values[given].shape)}
                sides.append(
                    evaluate(law, shifted, inputs, f"{self.location}: '{given}' shifted for differences").outputs
                )
            for name in sides[0]:
                columns.setdefault(name, []).append((sides[0][name] - sides[1][name]) / (2.0 * step))
        return {
            name: torch.stack(parts, dim=-1).reshape(*parts[0].shape, *base) if base else parts[0]
            for name, parts in columns.items()
        }
