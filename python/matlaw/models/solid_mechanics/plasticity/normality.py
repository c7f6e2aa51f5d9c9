"""Flow directions as gradients of a scalar function."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from matlaw.models.context import Context, ParameterSlot
from matlaw.models.declaration import Option
from matlaw.models.model import Model, Overrides, Values
from matlaw.models.provenance import evaluation_of
from matlaw.models.registry import register
from matlaw.models.variable import Variable
from matlaw.tensors import Tensor
from matlaw.tensors.pull_back import vjp


@register("Normality")
class Normality(Model):
    r"""Derivatives of a scalar function by some of its arguments, through automatic differentiation.

    .. math:: N_i = \partial f / \partial v_i

    Source: maximum plastic dissipation, J. Lubliner, Plasticity Theory, Dover 2008, section 3.2.2.

    * ``model``: the model that evaluates the function
    * ``function``: one of its outputs, a Scalar
    * ``from``: the arguments :math:`v_i`, inputs of the model
    * ``to``: names of the derivatives :math:`N_i`, of the types of the arguments
    """

    model = Option("str", "the model that evaluates the function")
    function = Option("str", "the output to differentiate")
    from_ = Option("list", "the arguments to differentiate by")
    to = Option("list", "names of the derivatives")

    def setup(self, context: Context) -> None:
        """Finds the model and checks function and arguments."""
        self.inner = context.model(context.option("model"), "model")
        self.function_name: str = context.option("function")
        self.arguments: list[str] = context.option("from")
        names: list[str] = context.option("to")
        found = self.inner.outputs.get(self.function_name)
        if found is None:
            raise context.unknown(
                f"output of model '{self.inner.name}'", self.function_name, list(self.inner.outputs), "function"
            )
        if found.shape:
            raise context.error(
                f"the function must be a Scalar, but '{self.function_name}' is {found.type.__name__}", "function"
            )
        if len(names) != len(self.arguments):
            raise context.error(f"'from' has {len(self.arguments)} names, 'to' has {len(names)}", "to")
        for argument in self.arguments:
            if argument not in self.inner.inputs:
                raise context.unknown(f"input of model '{self.inner.name}'", argument, list(self.inner.inputs), "from")
        for name, variable in self.inner.inputs.items():
            self.add_input(name, variable, context)
        for name, argument in zip(names, self.arguments, strict=True):
            self.add_output(name, Variable(self.inner.inputs[argument].type), context, "to")

    def relative_parameters(self) -> dict[str, ParameterSlot]:
        """Those of the inner model, qualified by its name."""
        return {f"{self.inner.name}.{name}": slot for name, slot in self.inner.relative_parameters().items()}

    def run(self, values: Values, overrides: Overrides) -> dict[str, Tensor]:
        """The gradient, one pull-back for all arguments."""
        given = [values[name] for name in self.arguments]
        # The pull-back sums over a batch axis of extent 1 that was broadcast, so arguments take the full batch first.
        size = _batch_size([values[name] for name in self.inner.inputs])
        data = [v.data if v.batch_size == size else v.data.expand(*v.data.shape[:-1], size) for v in given]

        def function(*arguments: torch.Tensor) -> torch.Tensor:
            typed = {
                name: type(v)(a, v.sub_batch_ndim) for name, v, a in zip(self.arguments, given, arguments, strict=True)
            }
            return self.inner.run({**values, **typed}, overrides)[self.function_name].data

        with evaluation_of(self.name, self.outputs, self.location):
            value, pull_back = vjp(function, *data)
            gradients = pull_back(torch.ones_like(value))
        return {name: type(v)(g, v.sub_batch_ndim) for name, v, g in zip(self.outputs, given, gradients, strict=True)}


def _batch_size(tensors: Sequence[Tensor]) -> int:
    """The common batch extent: that of any tensor which is not batch independent."""
    for t in tensors:
        if t.batch_size != 1:
            return t.batch_size
    return 1
