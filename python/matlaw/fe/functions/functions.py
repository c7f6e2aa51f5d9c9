"""The functions of the ``[Functions]`` block."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from matlaw.fe.functions.expression import ExpressionError, compile_expression
from matlaw.fe.input.parameters import Parameter, Values
from matlaw.fe.input.registry import MooseObject, register


class Function(MooseObject):
    """A function of time and place."""

    def link(self, functions: dict[str, Function]) -> None:
        """Find the other functions that this one uses."""

    def value(self, t: float, points: np.ndarray) -> np.ndarray:
        """Values at points.

        :param t: time
        :param points: ``(n, 3)``
        :returns: ``(n,)``
        """
        raise NotImplementedError


class ExpressionFunction:
    """An expression or a number that stands where a function's name could."""

    def __init__(self, text: str) -> None:
        self._function = compile_expression(text)

    def value(self, t: float, points: np.ndarray) -> np.ndarray:
        """Values at points, ``(n, 3)`` to ``(n,)``."""
        x, y, z = points.T
        return np.broadcast_to(np.asarray(self._function(x=x, y=y, z=z, t=t), float), (len(points),))


@register("Functions", "ParsedFunction")
class ParsedFunction(Function):
    """``expression`` of x, y, z, t and of the symbols given (numbers or other functions)."""

    parameters: ClassVar = {
        "expression": Parameter("string"),
        "value": Parameter("string"),
        "symbol_names": Parameter("strings", []),
        "symbol_values": Parameter("strings", []),
        "vars": Parameter("strings", []),
        "vals": Parameter("strings", []),
    }

    def __init__(self, values: Values) -> None:
        super().__init__(values)
        text = values["expression"] or values["value"]
        if text is None:
            raise values.error("the parameter 'expression' is missing")
        self._names = values["symbol_names"] or values["vars"]
        self._sources = values["symbol_values"] or values["vals"]
        if len(self._names) != len(self._sources):
            raise values.error(f"{len(self._names)} symbol_names but {len(self._sources)} symbol_values")
        try:
            self._function = compile_expression(text, ("x", "y", "z", "t", *self._names))
        except ExpressionError as error:
            raise values.error(str(error), "expression" if values.given("expression") else "value") from error
        self._symbols: list[float | Function] = []

    def link(self, functions: dict[str, Function]) -> None:
        """Resolve the symbols."""
        for source in self._sources:
            if source in functions:
                self._symbols.append(functions[source])
                continue
            try:
                self._symbols.append(float(source))
            except ValueError:
                name = "symbol_values" if self.values.given("symbol_values") else "vals"
                raise self.values.error(
                    f"'{source}' is neither a number nor one of the functions: {', '.join(functions)}", name
                ) from None

    def value(self, t: float, points: np.ndarray) -> np.ndarray:
        """Values at points, ``(n, 3)`` to ``(n,)``."""
        x, y, z = points.T
        symbols: dict[str, Any] = {
            name: symbol if isinstance(symbol, float) else symbol.value(t, points)
            for name, symbol in zip(self._names, self._symbols, strict=True)
        }
        return np.broadcast_to(np.asarray(self._function(x=x, y=y, z=z, t=t, **symbols), float), (len(points),))


@register("Functions", "PiecewiseLinear")
class PiecewiseLinear(Function):
    """A table, linear in between, constant outside (or extended with ``extrap = true``)."""

    parameters: ClassVar = {
        "x": Parameter("reals"),
        "y": Parameter("reals"),
        "xy_data": Parameter("reals"),
        "scale_factor": Parameter("real", 1.0),
        "axis": Parameter("string", choices=("x", "y", "z")),
        "extrap": Parameter("bool", False),
    }

    def __init__(self, values: Values) -> None:
        super().__init__(values)
        if values.given("xy_data"):
            if values.given("x") or values.given("y"):
                raise values.error("give either 'x' and 'y', or 'xy_data'")
            data = values["xy_data"]
            if len(data) % 2:
                raise values.error("the number of values must be even", "xy_data")
            x, y = data[::2], data[1::2]
        elif values.given("x") and values.given("y"):
            x, y = values["x"], values["y"]
        else:
            raise values.error("give either 'x' and 'y', or 'xy_data'")
        if len(x) != len(y):
            raise values.error(f"x has {len(x)} values, y has {len(y)}")
        if not x:
            raise values.error("the table is empty")
        if np.any(np.diff(x) <= 0.0):
            raise values.error("x must increase strictly", "xy_data" if values.given("xy_data") else "x")
        self._x, self._y = np.asarray(x, float), np.asarray(y, float) * values["scale_factor"]
        self._axis = {"x": 0, "y": 1, "z": 2}.get(str(values["axis"]).lower())
        self._extrapolate = values["extrap"]

    def value(self, t: float, points: np.ndarray) -> np.ndarray:
        """Values at points, ``(n, 3)`` to ``(n,)``."""
        at = np.full(len(points), t) if self._axis is None else points[:, self._axis]
        result = np.interp(at, self._x, self._y)
        if self._extrapolate and len(self._x) > 1:
            slopes = np.diff(self._y) / np.diff(self._x)
            result = np.where(at < self._x[0], self._y[0] + slopes[0] * (at - self._x[0]), result)
            result = np.where(at > self._x[-1], self._y[-1] + slopes[-1] * (at - self._x[-1]), result)
        return result


@register("Functions", "ConstantFunction")
class ConstantFunction(Function):
    """The same value everywhere, always."""

    parameters: ClassVar = {"value": Parameter("real", 0.0)}

    def value(self, t: float, points: np.ndarray) -> np.ndarray:
        """Values at points, ``(n, 3)`` to ``(n,)``."""
        return np.full(len(points), self.values["value"])


def function_from(values: Values, name: str, functions: dict[str, Function]) -> Function | ExpressionFunction:
    """What the parameter ``name`` refers to: a function, or an expression or number given in its place.

    :raises InputFileError: it is neither
    """
    return function_from_text(values, name, str(values[name]), functions)


def function_from_text(
    values: Values, name: str, text: str, functions: dict[str, Function]
) -> Function | ExpressionFunction:
    """What a text in the parameter ``name`` refers to; see :func:`function_from`."""
    text = text.strip()
    if text in functions:
        return functions[text]
    try:
        return ExpressionFunction(text)
    except ExpressionError as error:
        raise values.error(
            f"is neither one of the functions ({', '.join(functions) or 'none'}) nor an expression: {error}", name
        ) from error
