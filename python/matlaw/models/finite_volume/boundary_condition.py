"""Values at the ends."""

from __future__ import annotations

import torch

from matlaw.models.context import Context
from matlaw.models.declaration import Input, Option, Output, Parameter
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import Scalar
from matlaw.tensors.sub_batch import append_axis, expand_sub_batch, require_sub_batch


@register("FiniteVolumeAppendBoundaryCondition")
class FiniteVolumeAppendBoundaryCondition(Leaf):
    r"""One more value in front of, or behind, those of the last sub-batch axis.

    * ``input`` (Scalar, any unit): the values
    * ``output`` (Scalar): one more, by default ``<input>_with_bc_<side>``
    * ``side``: ``left`` or ``right``
    * ``bc_value`` (Scalar, the same unit): the value that is added; it may have the axis of the values, with extent 1
    """

    side = Option("str", "left or right", required=False, default="left", choices=("right", "left"))
    input = Input(Scalar, "the values")
    output = Output(Scalar, "one more, by default <input>_with_bc_<side>", required=False)
    bc_value = Parameter(Scalar, "the value that is added")

    def setup(self, context: Context) -> None:
        """Reads the side."""
        self._side: str = context.option("side")
        super().setup(context)
        [self._variable] = self._arguments["input"]

    def variable_names(self, declaration: Input | Output, context: Context) -> list[str]:
        """The given names, or the one that follows."""
        if declaration.option == "output" and not context.given("output"):
            return [f"{context.option('input') or 'input'}_with_bc_{self._side}"]
        return super().variable_names(declaration, context)

    def forward(self, input: Scalar, bc_value: Scalar) -> Scalar:
        """All values."""
        require_sub_batch(input, f"'{self._variable}'")
        if bc_value.sub_batch_ndim < input.sub_batch_ndim:
            bc_value = append_axis(bc_value)
        end = expand_sub_batch(bc_value, (*input.sub_batch_shape[:-1], 1)).data
        end, _ = torch.broadcast_tensors(end, input.data[..., :1, :])
        data = input.data.expand(*input.data.shape[:-1], end.shape[-1])
        return Scalar(torch.cat([end, data] if self._side == "left" else [data, end], dim=-2), input.sub_batch_ndim)
