"""MOOSE's expression syntax (that of the fparser library), evaluated on NumPy arrays.

A small recursive-descent parser makes a tree of closures over a fixed list of operations, so an input file cannot run
code.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from matlaw.errors import FatalError

Value = Any
Node = Callable[[Mapping[str, Value]], Value]


class ExpressionError(FatalError):
    """An expression cannot be parsed; the message shows where."""


def _truth(value: Value) -> Value:
    return np.abs(value) >= 0.5


#: name -> (number of arguments, operation)
FUNCTIONS: dict[str, tuple[int, Callable[..., Value]]] = {
    "abs": (1, np.abs),
    "acos": (1, np.arccos),
    "acosh": (1, np.arccosh),
    "asin": (1, np.arcsin),
    "asinh": (1, np.arcsinh),
    "atan": (1, np.arctan),
    "atan2": (2, np.arctan2),
    "atanh": (1, np.arctanh),
    "cbrt": (1, np.cbrt),
    "ceil": (1, np.ceil),
    "cos": (1, np.cos),
    "cosh": (1, np.cosh),
    "cot": (1, lambda x: 1.0 / np.tan(x)),
    "csc": (1, lambda x: 1.0 / np.sin(x)),
    "exp": (1, np.exp),
    "exp2": (1, np.exp2),
    "floor": (1, np.floor),
    "hypot": (2, np.hypot),
    "if": (3, lambda c, a, b: np.where(_truth(c), a, b)),
    "int": (1, lambda x: np.floor(np.asarray(x) + 0.5)),
    "log": (1, np.log),
    "log10": (1, np.log10),
    "log2": (1, np.log2),
    "max": (2, np.maximum),
    "min": (2, np.minimum),
    "pow": (2, np.power),
    "sec": (1, lambda x: 1.0 / np.cos(x)),
    "sin": (1, np.sin),
    "sinh": (1, np.sinh),
    "sqrt": (1, np.sqrt),
    "tan": (1, np.tan),
    "tanh": (1, np.tanh),
    "trunc": (1, np.trunc),
}
CONSTANTS = {"pi": math.pi, "e": math.e}

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<sign>:=|<=|>=|!=|[-+*/%^<>=&|!(),;]))"
)

#: fparser compares with a tolerance of this size.
_EPSILON = 1e-12

_COMPARISONS: dict[str, Callable[[Value, Value], Value]] = {
    "=": lambda a, b: 1.0 * (np.abs(np.subtract(a, b)) <= _EPSILON),
    "!=": lambda a, b: 1.0 * (np.abs(np.subtract(a, b)) > _EPSILON),
    "<": lambda a, b: 1.0 * np.less(a, np.subtract(b, _EPSILON)),
    "<=": lambda a, b: 1.0 * np.less_equal(a, np.add(b, _EPSILON)),
    ">": lambda a, b: 1.0 * np.greater(np.subtract(a, _EPSILON), b),
    ">=": lambda a, b: 1.0 * np.greater_equal(np.add(a, _EPSILON), b),
}
_SUMS: dict[str, Callable[[Value, Value], Value]] = {"+": np.add, "-": np.subtract}
_PRODUCTS: dict[str, Callable[[Value, Value], Value]] = {"*": np.multiply, "/": np.divide, "%": np.fmod}


class _Parser:
    def __init__(self, text: str, names: set[str]) -> None:
        self.text = text
        self.names = names
        self.tokens: list[tuple[str, str, int]] = []
        self.at = 0
        position = 0
        stripped = text.rstrip()
        while position < len(stripped):
            match = _TOKEN.match(stripped, position)
            if match is None:
                raise self._error("unexpected character", position)
            kind = str(match.lastgroup)
            self.tokens.append((kind, match.group(kind), match.start(kind)))
            position = match.end()
        self.tokens.append(("end", "", len(stripped)))

    def _error(self, what: str, position: int) -> ExpressionError:
        return ExpressionError(f"{what} in the expression\n    {self.text}\n    {' ' * position}^")

    def _peek(self) -> str:
        kind, text, _ = self.tokens[self.at]
        return text if kind == "sign" else ""

    def _take(self) -> tuple[str, str, int]:
        token = self.tokens[self.at]
        self.at += 1
        return token

    def _expect(self, sign: str) -> None:
        kind, text, position = self._take()
        if kind != "sign" or text != sign:
            raise self._error(f"expected '{sign}'" + (f", found '{text}'" if text else ""), position)

    def parse(self) -> Node:
        """``name := value; ...; value``."""
        locals_: list[tuple[str, Node]] = []
        while self.tokens[self.at][0] == "name" and self.tokens[self.at + 1][1] == ":=":
            name = self._take()[1]
            self._take()
            locals_.append((name, self._or()))
            self._expect(";")
            self.names.add(name)
        result = self._or()
        kind, text, position = self._take()
        if kind != "end":
            raise self._error(f"unexpected '{text}'", position)
        if not locals_:
            return result

        def with_locals(scope: Mapping[str, Value]) -> Value:
            inner = dict(scope)
            for name, value in locals_:
                inner[name] = value(inner)
            return result(inner)

        return with_locals

    def _chain(self, below: Callable[[], Node], operations: Mapping[str, Callable[[Value, Value], Value]]) -> Node:
        left = below()
        while (sign := self._peek()) in operations:
            self._take()
            left = _binary(operations[sign], left, below())
        return left

    def _or(self) -> Node:
        return self._chain(self._and, {"|": lambda a, b: 1.0 * np.logical_or(_truth(a), _truth(b))})

    def _and(self) -> Node:
        return self._chain(self._comparison, {"&": lambda a, b: 1.0 * np.logical_and(_truth(a), _truth(b))})

    def _comparison(self) -> Node:
        return self._chain(self._sum, _COMPARISONS)

    def _sum(self) -> Node:
        return self._chain(self._product, _SUMS)

    def _product(self) -> Node:
        return self._chain(self._unary, _PRODUCTS)

    def _unary(self) -> Node:
        sign = self._peek()
        if sign == "-":
            self._take()
            operand = self._unary()
            return lambda scope: np.negative(operand(scope))
        if sign == "+":
            self._take()
            return self._unary()
        if sign == "!":
            self._take()
            operand = self._unary()
            return lambda scope: 1.0 * np.logical_not(_truth(operand(scope)))
        return self._power()

    def _power(self) -> Node:
        base = self._atom()
        if self._peek() == "^":
            self._take()
            return _binary(np.power, base, self._unary())
        return base

    def _atom(self) -> Node:
        kind, text, position = self._take()
        if kind == "number":
            number = float(text)
            return lambda scope: number
        if kind == "name":
            if self._peek() == "(":
                return self._call(text, position)
            if text in self.names:
                return lambda scope: scope[text]
            if text in CONSTANTS:
                constant = CONSTANTS[text]
                return lambda scope: constant
            raise self._error(
                f"unknown name '{text}' (known: {', '.join(sorted(self.names | set(CONSTANTS)))})", position
            )
        if text == "(":
            inner = self._or()
            self._expect(")")
            return inner
        raise self._error(f"unexpected '{text}'" if text else "unexpected end", position)

    def _call(self, name: str, position: int) -> Node:
        if name not in FUNCTIONS:
            raise self._error(f"unknown function '{name}' (known: {', '.join(FUNCTIONS)})", position)
        count, operation = FUNCTIONS[name]
        self._expect("(")
        arguments = [self._or()]
        while self._peek() == ",":
            self._take()
            arguments.append(self._or())
        self._expect(")")
        if len(arguments) != count:
            raise self._error(f"'{name}' takes {count} argument(s), not {len(arguments)}", position)
        return lambda scope: operation(*(argument(scope) for argument in arguments))


def _binary(operation: Callable[[Value, Value], Value], left: Node, right: Node) -> Node:
    return lambda scope: operation(left(scope), right(scope))


def compile_expression(
    text: str, variables: Sequence[str] = ("x", "y", "z", "t"), constants: Mapping[str, Value] | None = None
) -> Callable[..., Value]:
    """A function of keyword arguments from an expression.

    :param text: MOOSE (fparser) syntax: ``+ - * / % ^``, comparisons, ``& | !``, ``if(c, a, b)``, ``a := x; ...``
    :param variables: names of the keyword arguments
    :param constants: further names and their values
    :raises ExpressionError: with the place of the mistake, or because it is nested too deeply

    >>> float(compile_expression("if(t < 1, -t^2, min(t, 3))")(x=0, y=0, z=0, t=0.5))
    -0.25
    """
    fixed = dict(constants or {})
    parser = _Parser(text, set(variables) | set(fixed))
    try:
        node = parser.parse()
    except RecursionError as error:
        raise ExpressionError(f"an expression of {len(text)} characters is nested too deeply") from error

    def function(**arguments: Value) -> Value:
        with np.errstate(all="ignore"):
            return node({**fixed, **arguments})

    return function
