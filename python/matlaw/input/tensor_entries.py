"""The types of the ``[Tensors]`` section."""

from __future__ import annotations

from matlaw.input.expression import ExpressionError, evaluate_expression
from matlaw.models.context import Context
from matlaw.models.declaration import Option
from matlaw.models.registry import register
from matlaw.tensors import Tensor


@register("Python", section="Tensors")
class PythonTensor:
    """The value of an expression (see :mod:`matlaw.input.expression`).

    * ``expr``: one expression, or several lines that assign ``result``

    :ivar value: the tensor
    """

    expr = Option("str", "expression, or lines that assign 'result'")

    def __init__(self, context: Context) -> None:
        try:
            self.value: Tensor = evaluate_expression(context.option("expr"), context.tensor)
        except ExpressionError as error:
            raise context.error(str(error), "expr") from error
