"""Models that evaluate another model at points of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch

from matlaw.models.context import Context, ParameterSlot
from matlaw.models.model import Model
from matlaw.models.variable import Variable
from matlaw.tensors import Scalar, Tensor
from matlaw.tensors.pull_back import vjp


class InnerModel(Model):
    """The base of such models.

    :ivar inner: the other model
    """

    inner: Model

    def find_inner(self, context: Context, option: str) -> None:
        """Finds the other model."""
        self.inner = context.model(context.option(option), option)

    def find_variable(self, context: Context, option: str, variables: Mapping[str, Variable], what: str) -> None:
        """Makes sure that an option names a Scalar of the other model.

        :raises InputFileError: when there is none of that name, or it is no Scalar
        """
        name = context.option(option)
        if name not in variables:
            raise context.unknown(f"{what} of model '{self.inner.name}'", name, list(variables), option)
        if variables[name].shape:
            raise context.error(f"'{name}' must be a Scalar, but it is {variables[name].type.__name__}", option)

    def relative_parameters(self) -> dict[str, ParameterSlot]:
        """Those of the other model, qualified by its name."""
        return {f"{self.inner.name}.{name}": slot for name, slot in self.inner.relative_parameters().items()}

    @staticmethod
    def zero_rate(values: Sequence[Tensor]) -> torch.Tensor:
        """Zeros with the common batch of some values."""
        for value in values:
            if value.batch_size != 1:
                return torch.zeros_like(value.data[(0,) * (value.data.ndim - 1)])
        return Scalar.zeros(dtype=values[0].dtype, device=values[0].device).data if values else Scalar.zeros().data

    @staticmethod
    def value_and_slope(
        function: Callable[[torch.Tensor], torch.Tensor], at: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Value and derivative of a function that acts row by row."""
        value, pull_back = vjp(function, at)
        return value, pull_back(torch.ones_like(value))[0]
