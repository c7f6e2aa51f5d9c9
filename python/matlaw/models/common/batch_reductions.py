"""Means and sums over batch axes and over sub-batch axes."""

from __future__ import annotations

import torch

from matlaw.models.context import Context
from matlaw.models.declaration import Input, Option, Output
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import SR2
from matlaw.tensors.sub_batch import reduce_last, require_sub_batch


class _Reduction(Leaf):
    from_ = Input(SR2, "what is reduced")
    to = Output(SR2, "what is left")

    def setup(self, context: Context) -> None:
        """Keeps the name of the variable for messages."""
        super().setup(context)
        [self._variable] = self.inputs


class _OverRows(_Reduction):
    dim = Option("int", "batch axis: 0 or -1, as there is one")

    def setup(self, context: Context) -> None:
        """Checks the axis."""
        super().setup(context)
        if context.option("dim") not in (0, -1):
            raise context.error(
                f"batch axis {context.option('dim')} is not there: all batch axes are one here. Use 0, or declare the "
                "other axes as sub-batch and use SR2IntermediateMean or SR2IntermediateSum",
                "dim",
            )


@register("SR2DynamicMean")
class SR2DynamicMean(_OverRows):
    r"""Mean over all rows of a batch.

    Every row gets the mean. The rows of such a law depend on each other, so that it cannot be compiled.

    * ``from`` (SR2, any unit): what is averaged
    * ``to`` (SR2): the mean
    * ``dim``: batch axis, 0 or -1
    """

    def forward(self, from_: SR2) -> SR2:
        """The mean."""
        return from_.map(lambda x: x.mean(-1, keepdim=True))


@register("SR2DynamicSum")
class SR2DynamicSum(_OverRows):
    r"""Sum over all rows of a batch; see :class:`SR2DynamicMean`.

    * ``from`` (SR2, any unit): what is summed
    * ``to`` (SR2): the sum
    * ``dim``: batch axis, 0 or -1
    """

    def forward(self, from_: SR2) -> SR2:
        """The sum."""
        return from_.map(lambda x: x.sum(-1, keepdim=True))


@register("SR2IntermediateMean")
class SR2IntermediateMean(_Reduction):
    r"""Mean over the last sub-batch axis, such as the stress of a polycrystal.

    * ``from`` (SR2, any unit): what is averaged
    * ``to`` (SR2): the mean
    * ``reduces``: what the axis is called, such as ``grain``
    """

    reduces = Option("str", "name of the sub-batch axis")

    def forward(self, from_: SR2) -> SR2:
        """The mean."""
        return reduce_last(from_, torch.mean, f"'{self._variable}'")


@register("SR2IntermediateSum")
class SR2IntermediateSum(_Reduction):
    r"""Sum over the last sub-batch axis.

    * ``from`` (SR2, any unit): what is summed
    * ``to`` (SR2): the sum
    * ``reduces``: what the axis is called
    """

    reduces = Option("str", "name of the sub-batch axis")

    def forward(self, from_: SR2) -> SR2:
        """The sum."""
        return reduce_last(from_, torch.sum, f"'{self._variable}'")


@register("SR2IntermediateDiff")
class SR2IntermediateDiff(_Reduction):
    r"""Differences of neighbours along a sub-batch axis, whose extent shrinks by ``n``.

    .. math:: b_i = a_{i + 1} - a_i

    * ``from`` (SR2, any unit): :math:`a`
    * ``to`` (SR2): :math:`b`
    * ``dim``: the sub-batch axis, from the front or, when negative, from the back
    * ``n``: how often differences are taken
    * ``reduces``: what the axis is called
    """

    dim = Option("int", "sub-batch axis")
    n = Option("int", "order of the differences", required=False, default="1")
    reduces = Option("str", "name of the sub-batch axis")

    def setup(self, context: Context) -> None:
        """Reads axis and order."""
        super().setup(context)
        self._dim: int = context.option("dim")
        self._order: int = context.option("n")
        if self._order < 1:
            raise context.error(f"expected a positive order, got {self._order}", "n")

    def forward(self, from_: SR2) -> SR2:
        """The differences."""
        require_sub_batch(from_, f"'{self._variable}'")
        ndim = from_.sub_batch_ndim
        if not -ndim <= self._dim < ndim or from_.sub_batch_shape[self._dim] <= self._order:
            raise ValueError(
                f"'{self._variable}' has the sub-batch shape {from_.sub_batch_shape}: no differences of order "
                f"{self._order} along axis {self._dim}"
            )
        axis = from_.base_ndim + self._dim % ndim
        data = from_.data
        for _ in range(self._order):
            count = data.shape[axis] - 1
            data = data.narrow(axis, 1, count) - data.narrow(axis, 0, count)
        return SR2(data, ndim)
