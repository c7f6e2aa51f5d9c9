"""Tables that are interpolated linearly in one or two arguments.

Beyond the ends of a table the first and the last interval go on as straight lines. The derivative at a knot is the one
to the right. A table holds its knots on sub-batch axes of parameters; it is evaluated as a sum over all knots with
weights that are zero except at the two ends of an interval, without looking for the interval.
"""

from __future__ import annotations

from typing import Any, ClassVar

import torch

from matlaw.models.context import Context
from matlaw.models.declaration import Input, Parameter
from matlaw.models.family import member
from matlaw.models.naming import NamingLeaf, OwnNameOutput
from matlaw.tensors import SR2, Scalar, Tensor, Vec


class Table(NamingLeaf):
    """A model whose parameters have one or two axes of knots.

    :cvar axes: number of axes of each parameter, by option
    """

    axes: ClassVar[dict[str, int]]

    def setup(self, context: Context) -> None:
        """Checks that the knots increase and that the shapes fit."""
        super().setup(context)
        knots = []
        for option, axes in self.axes.items():
            slot = self._slots.get(option)
            if slot is None:
                raise context.error(
                    "expected the name of a [Tensors] entry; a table can be neither a model nor a variable", option
                )
            if axes == 1 and option.startswith("abscissa"):
                x = slot.value.data
                if x.shape[0] < 2 or not bool((x[1:] > x[:-1]).all()):
                    raise context.error("expected two or more increasing values", option)
                knots.append(x.shape[0])
        found = self._slots["ordinate"].value.sub_batch_shape
        if found != tuple(knots):
            raise context.error(f"expected values of shape {tuple(knots)}, got {found}", "ordinate")

    def _literal(self, declaration: Parameter, token: str, context: Context) -> Tensor | None:
        """A table, with its knots moved from batch axes to sub-batch axes where they are given as such."""
        value = context.tensor(token)
        axes = self.axes[declaration.option]
        if value is None or type(value) is not declaration.type:
            return super()._literal(declaration, token, context)
        if value.sub_batch_ndim == 0 and axes == 1:
            return type(value)(value.data.unsqueeze(-1), 1)
        if value.sub_batch_ndim != axes or value.batch_size != 1:
            raise context.error(
                f"expected {axes} sub-batch axes and no batch axis, got {value.sub_batch_ndim} and a batch of "
                f"{value.batch_size}; write sub_batch_ndim={axes} in the [Tensors] entry",
                declaration.option,
            )
        return value


def knot_weights(argument: Scalar, abscissa: Scalar) -> torch.Tensor:
    """Weight of each knot.

    :param argument: ``(*sub_batch, B)``
    :param abscissa: n increasing knots on one sub-batch axis, batch extent 1 or B
    :returns: ``(n, *sub_batch, B)``
    """
    x = abscissa.data
    for _ in range(argument.sub_batch_ndim):
        x = x.unsqueeze(1)
    u = (argument.data.unsqueeze(0) - x[:-1]) / (x[1:] - x[:-1])
    u = torch.cat([torch.where(u[:-1] < 1.0, u[:-1], 1.0), u[-1:]])
    u = torch.cat([u[:1], torch.where(u[1:] >= 0.0, u[1:], 0.0)])
    return torch.cat([1.0 - u[:1], u[:-1] - u[1:], u[-1:]])


class LinearInterpolation(Table):
    r"""Piecewise linear function of a scalar.

    .. math:: y = y_i + (y_{i+1} - y_i) \frac{x - x_i}{x_{i+1} - x_i} \text{ for } x_i \le x < x_{i+1}

    Source: e.g. C. de Boor, A Practical Guide to Splines, Springer 2001, chapter 3.

    An argument outside of the table is extrapolated: the first and the last line go on, without bound, and the verdict
    of the row does not tell. Let the table cover what may occur; a knot far away with the last value repeated holds
    that value.

    * ``argument`` (Scalar, any unit): :math:`x`
    * ``output`` (any unit): :math:`y`, by default named like the model
    * ``abscissa`` (Scalar, unit of the argument): the increasing :math:`x_i` on one sub-batch axis
    * ``ordinate`` (unit of the output): the :math:`y_i` on one sub-batch axis
    """

    kind: ClassVar[type[Tensor]]
    axes: ClassVar = {"abscissa": 1, "ordinate": 1}

    def forward(self, argument: Scalar, abscissa: Scalar, ordinate: Any) -> Tensor:
        """The value."""
        y = _after_knots(ordinate, 1, argument.sub_batch_ndim)
        return self.kind((y * knot_weights(argument, abscissa)).sum(self.kind.base_ndim), argument.sub_batch_ndim)


class BilinearInterpolation(Table):
    r"""Function of two scalars on a grid, linear in each of them.

    .. math:: y = \sum_{ij} w_i(x_1) \, w_j(x_2) \, y_{ij}

    with the weights of linear interpolation. Source: e.g. W. H. Press et al., Numerical Recipes, 3rd ed., section 3.6.

    Arguments outside of the grid are extrapolated: the outer cells go on, without bound, and the verdict of the row
    does not tell. Let the grid cover what may occur; knots far away with the outer values repeated hold these values.

    * ``argument1``, ``argument2`` (Scalar, any units): :math:`x_1`, :math:`x_2`
    * ``output`` (any unit): :math:`y`, by default named like the model
    * ``abscissa1``, ``abscissa2`` (Scalar): the increasing knots of each axis, on one sub-batch axis
    * ``ordinate`` (unit of the output): the :math:`y_{ij}` on two sub-batch axes
    """

    kind: ClassVar[type[Tensor]]
    axes: ClassVar = {"abscissa1": 1, "abscissa2": 1, "ordinate": 2}

    def forward(
        self, argument1: Scalar, argument2: Scalar, abscissa1: Scalar, abscissa2: Scalar, ordinate: Any
    ) -> Tensor:
        """The value."""
        sub = argument1.sub_batch_ndim
        y = _after_knots(ordinate, 2, sub)
        first, second = knot_weights(argument1, abscissa1), knot_weights(argument2, abscissa2)
        axis = self.kind.base_ndim
        return self.kind((y * (first.unsqueeze(1) * second.unsqueeze(0))).sum((axis, axis + 1)), sub)


def _after_knots(ordinate: Tensor, knots: int, sub: int) -> torch.Tensor:
    """Data ``(*base, *knots, *ones, B)`` that broadcasts with weights ``(*knots, *sub_batch, B)``."""
    data = ordinate.data
    for _ in range(sub):
        data = data.unsqueeze(ordinate.base_ndim + knots)
    return data


def _linear(kind: type[Tensor]) -> type[LinearInterpolation]:
    return member(
        LinearInterpolation,
        f"{kind.__name__}LinearInterpolation",
        kind,
        argument=Input(Scalar, "argument; outside of the knots the outer lines go on"),
        output=OwnNameOutput(kind, "value of the table"),
        abscissa=Parameter(Scalar, "knots"),
        ordinate=Parameter(kind, "values at the knots"),
    )


def _bilinear(kind: type[Tensor]) -> type[BilinearInterpolation]:
    return member(
        BilinearInterpolation,
        f"{kind.__name__}BilinearInterpolation",
        kind,
        argument1=Input(Scalar, "first argument; outside of the knots the outer cells go on"),
        argument2=Input(Scalar, "second argument; likewise"),
        output=OwnNameOutput(kind, "value of the table"),
        abscissa1=Parameter(Scalar, "knots of the first axis"),
        abscissa2=Parameter(Scalar, "knots of the second axis"),
        ordinate=Parameter(kind, "values on the grid"),
    )


ScalarLinearInterpolation = _linear(Scalar)
ScalarBilinearInterpolation = _bilinear(Scalar)
VecBilinearInterpolation = _bilinear(Vec)
SR2BilinearInterpolation = _bilinear(SR2)
