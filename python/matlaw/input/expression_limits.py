"""What an expression of an input file may cost, and the error that says that it is wrong."""

from __future__ import annotations

from typing import Any

import torch

from matlaw.tensors import Tensor

#: Largest number of elements of a tensor.
MAX_ELEMENTS = 10_000_000
#: Largest number of elements that all operations of one expression read and write together.
MAX_TOTAL_ELEMENTS = 20 * MAX_ELEMENTS
#: Largest number of values in lists, however deep they are nested.
MAX_LIST_VALUES = 1_000_000
#: Largest number of parts of an expression that are visited, each as often as a loop or a lambda comes to it.
MAX_STEPS = 200_000
#: Longest text.
MAX_LENGTH = 20_000
#: Largest integer; torch's integers end here too.
MAX_INTEGER = 2**63 - 1


class ExpressionError(Exception):
    """An expression is not allowed or cannot be computed; the message names its line."""


class Budget:
    """What is left of the steps and elements of one expression."""

    def __init__(self) -> None:
        self._steps = MAX_STEPS
        self._elements = MAX_TOTAL_ELEMENTS

    def step(self) -> None:
        """Takes one step.

        :raises ExpressionError: there is none left
        """
        self._steps -= 1
        if self._steps < 0:
            raise ExpressionError(f"the expression takes too long; the limit is {MAX_STEPS} steps")

    def elements(self, *values: Any) -> None:
        """Takes the elements of tensors, which may be in lists.

        :raises ExpressionError: there are not as many left, or one of the tensors is too large
        """
        for value in values:
            if isinstance(value, list | tuple):
                self.elements(*value)
                continue
            data = value.data if isinstance(value, Tensor) else value
            if isinstance(data, torch.Tensor):
                check_count(data.numel())
                self._elements -= data.numel()
        if self._elements < 0:
            raise ExpressionError(
                f"the tensors of the expression have more than {MAX_TOTAL_ELEMENTS} elements together"
            )


def check_count(count: int) -> None:
    """Makes sure that a tensor is not too large.

    :raises ExpressionError: it is
    """
    if count > MAX_ELEMENTS:
        raise ExpressionError(f"a tensor of {count} elements is too large; the limit is {MAX_ELEMENTS}")


def check_lists(value: Any) -> None:
    """Makes sure that nested lists, which may hold the same list many times, do not hold too many values.

    :raises ExpressionError: they do
    """
    left = MAX_LIST_VALUES
    pending = [value]
    while pending:
        item = pending.pop()
        left -= 1
        if left < 0:
            raise ExpressionError(f"the lists hold more than {MAX_LIST_VALUES} values")
        if isinstance(item, list | tuple) and not isinstance(item, torch.Size):
            pending.extend(item)
