"""Means and sums over batch axes and over sub-batch axes."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from matlaw.errors import FatalError, InputFileError
from matlaw.models.batch_axes import batch_axes
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


class RowReduction(_Reduction):
    """The base of models that reduce a batch axis."""

    mixes_rows = True

    dim = Option("int", "batch axis, from the front or, when negative, from the back")

    def setup(self, context: Context) -> None:
        """Reads the axis."""
        super().setup(context)
        self._dim: int = context.option("dim")

    def axis_among(self, count: int) -> int:
        """Position of the reduced axis among the batch axes of what is reduced.

        :param count: how many there are
        :raises InputFileError: when it is none of them
        """
        if -count <= self._dim < count:
            return self._dim % count
        raise InputFileError(
            f"{self.location}: dim = {self._dim}, but '{self._variable}' has {count or 'no'} batch "
            f"ax{'is' if count == 1 else 'es'} in this call"
            + (f"; expected {-count} to {count - 1}" if count else ". Pass a batch of values")
        )

    def over_rows(self, x: torch.Tensor, reduction: Callable[..., torch.Tensor]) -> torch.Tensor:
        """Reduces the axis and repeats the result along it.

        :param x: ``(*base, *sub_batch, B)``
        :param reduction: ``torch.mean`` or ``torch.sum``
        :returns: shaped like ``x``
        """
        call = batch_axes()
        if call is None:
            return reduction(x, dim=-1, keepdim=True)
        rows = math.prod(call.shape)
        if x.shape[-1] not in (1, rows):
            raise FatalError(
                f"{self.location}: all rows of a batch take part in a {self.type_name}, but {x.shape[-1]} of {rows} "
                "rows are evaluated by themselves; prescribe steps that are small enough for all rows, without substeps"
            )
        split = x.expand(*x.shape[:-1], rows).reshape(*x.shape[:-1], *call.shape)
        axis = call.reduced[self] - len(call.shape)
        return reduction(split, dim=axis, keepdim=True).expand_as(split).reshape(*x.shape[:-1], rows)


@register("SR2DynamicMean")
class SR2DynamicMean(RowReduction):
    r"""Mean over a batch axis.

    The result lacks that axis. The rows of such a law depend on each other, so that it cannot be compiled.

    * ``from`` (SR2, any unit): what is averaged
    * ``to`` (SR2): the mean
    * ``dim``: the batch axis, from the front or, when negative, from the back
    """

    def forward(self, from_: SR2) -> SR2:
        """The mean."""
        return from_.map(lambda x: self.over_rows(x, torch.mean))


@register("SR2DynamicSum")
class SR2DynamicSum(RowReduction):
    r"""Sum over a batch axis; see :class:`SR2DynamicMean`.

    * ``from`` (SR2, any unit): what is summed
    * ``to`` (SR2): the sum
    * ``dim``: the batch axis, from the front or, when negative, from the back
    """

    def forward(self, from_: SR2) -> SR2:
        """The sum."""
        return from_.map(lambda x: self.over_rows(x, torch.sum))


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
