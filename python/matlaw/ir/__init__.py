"""The scalar intermediate representation of a graph that acts point by point over the batch.

A traced graph is interpreted on small arrays of :class:`~matlaw.ir.values.Value`, one per tensor component, so that a
graph of tensors becomes a graph of scalars with constants folded and common subexpressions shared. Derivatives are
taken on it by a table of rules; backends turn it into code.
"""

from matlaw.ir.aten import UnsupportedOperation, interpret
from matlaw.ir.differentiate import differentiate
from matlaw.ir.evaluate import evaluate
from matlaw.ir.program import Program, order_statements
from matlaw.ir.values import Pool, Value

__all__ = [
    "Pool",
    "Program",
    "UnsupportedOperation",
    "Value",
    "differentiate",
    "evaluate",
    "interpret",
    "order_statements",
]
