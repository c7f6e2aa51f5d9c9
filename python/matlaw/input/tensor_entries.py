"""The types of the ``[Tensors]`` section."""

from __future__ import annotations

from matlaw.input.csv_tensors import CSVSR2, CSVWR2, CSVScalar, CSVTensor, CSVVec
from matlaw.input.expression import ExpressionError, evaluate_batched
from matlaw.models.context import Context
from matlaw.models.declaration import Option
from matlaw.models.registry import register
from matlaw.tensors import Tensor

__all__ = ["CSVSR2", "CSVWR2", "CSVScalar", "CSVTensor", "CSVVec", "PythonTensor"]


@register("Python", section="Tensors")
class PythonTensor:
    """The value of an expression (see :mod:`matlaw.input.expression`).

    * ``expr``: one expression, or several lines that assign ``result``

    :ivar value: the tensor
    :ivar batch_shape: the batch axes that ``value`` holds flattened
    """

    expr = Option("str", "expression, or lines that assign 'result'")

    def __init__(self, context: Context) -> None:
        self.value: Tensor
        self.batch_shape: tuple[int, ...]
        try:
            self.value, self.batch_shape = evaluate_batched(
                context.option("expr"),
                context.tensor,
                lambda name: context.object("Tensors", name, "expr").batch_shape,
            )
        except ExpressionError as error:
            raise context.error(str(error), "expr") from error
