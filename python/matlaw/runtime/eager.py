"""A law evaluated straight from its input file, with the arrays that a compiled law takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matlaw.eager import EagerModel
from matlaw.evaluation import Evaluation
from matlaw.runtime.arrays import as_tensor, as_tensors, numpy_evaluation, to_numpy, wants_numpy

Arrays = dict[str, Any]
Blocks = dict[str, dict[str, Any]]


class EagerLaw(EagerModel):
    """An :class:`matlaw.eager.EagerModel` that takes NumPy arrays and numbers too, and then gives NumPy arrays back.

    Shapes, errors and meaning of every operation are those of :class:`matlaw.runtime.CompiledModel`.
    """

    def evaluate(
        self,
        inputs: Mapping[str, Any],
        jacobian: bool = False,
        pairs: Sequence[tuple[str, str]] | None = None,
        history: bool = False,
        weights: Mapping[str, Any] | None = None,
    ) -> Evaluation:
        """Return outputs and the verdict per row."""
        result = super().evaluate(self._tensors("input", inputs), jacobian, pairs, history, weights)
        return numpy_evaluation(result) if wants_numpy(inputs) else result

    def forward(self, inputs: Mapping[str, Any], batch_ndim: int | None = None) -> Arrays:
        """Return the outputs."""
        result = super().forward(self._tensors("input", inputs), batch_ndim)
        return to_numpy(result) if wants_numpy(inputs) else result

    def jvp(
        self, inputs: Mapping[str, Any], tangents: Mapping[str, Any], batch_ndim: int | None = None
    ) -> tuple[Arrays, Arrays]:
        """Return the outputs and their derivative along `tangents`."""
        outputs, derivatives = super().jvp(
            self._tensors("input", inputs), self._tensors("tangent", tangents), batch_ndim
        )
        if wants_numpy(inputs, tangents):
            return to_numpy(outputs), to_numpy(derivatives)
        return outputs, derivatives

    def jacobian(self, inputs: Mapping[str, Any], batch_ndim: int | None = None) -> tuple[Arrays, Blocks]:
        """Return the outputs and the derivative blocks."""
        outputs, blocks = super().jacobian(self._tensors("input", inputs), batch_ndim)
        return (to_numpy(outputs), to_numpy(blocks)) if wants_numpy(inputs) else (outputs, blocks)

    def update_weights(self, weights: Mapping[str, Any] | str | Path, user_managed: bool = False) -> int:
        """Use other weights in all calls that begin from now on."""
        given = (
            weights if isinstance(weights, str | Path) else as_tensors("weight", weights, self.dtype, any_dtype=True)
        )
        return super().update_weights(given, user_managed)

    def set_parameter(self, name: str, value: Any) -> None:
        """Replace a parameter by a copy of `value`."""
        dtype = self._parameter_dtypes.get(name, self.dtype)
        super().set_parameter(name, as_tensor(f"parameter '{name}'", value, dtype, self.device))

    def param_jacobian(self, inputs: Mapping[str, Any]) -> Blocks:
        """Return derivatives by the parameters."""
        result = super().param_jacobian(self._tensors("input", inputs))
        return to_numpy(result) if wants_numpy(inputs) else result

    def param_vjp(self, inputs: Mapping[str, Any], cotangents: Mapping[str, Any]) -> Arrays:
        """Return the gradient by the parameters of the outputs weighted by `cotangents`."""
        result = super().param_vjp(self._tensors("input", inputs), self._tensors("cotangent", cotangents))
        return to_numpy(result) if wants_numpy(inputs, cotangents) else result

    def _tensors(self, kind: str, values: Mapping[str, Any]) -> dict[str, Any]:
        return as_tensors(kind, values, self.dtype, self.device)
