"""Rates and time integration: models that compare a variable with its value at the previous step."""

from __future__ import annotations

from typing import Any, ClassVar

from matlaw.models.context import Context
from matlaw.models.declaration import Declaration, Input, Option, Output
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.models.variable import Variable, old
from matlaw.tensors import R2, SR2, Scalar, Tensor, Vec
from matlaw.tensors.functions import where


class History(Leaf):
    """A model of a variable and time and their old values. Names that are not given derive from the variable's."""

    def bind(self, declaration: Declaration, context: Context) -> None:
        """Adds the old value after each input, and derives the name of the output."""
        if isinstance(declaration, Input):
            [name] = self.variable_names(declaration, context)
            variable = Variable(declaration.type)
            for attribute, bound in ((declaration.attribute, name), (f"{declaration.attribute}_old", old(name))):
                self.add_input(bound, variable, context, declaration.option)
                self._arguments[attribute] = [bound]
        elif isinstance(declaration, Output):
            suffix = declaration.option.removeprefix("variable")
            name = context.option(declaration.option) if context.given(declaration.option) else ""
            self.add_output(
                name or self.variable_name(context) + suffix, Variable(declaration.type), context, declaration.option
            )

    @staticmethod
    def variable_name(context: Context) -> str:
        """Name of the variable whose history this is."""
        return context.option("variable") or "variable"


class VariableRate(History):
    r"""Rate of a variable over the step.

    .. math:: \dot v = (v - v_n) / (t - t_n)

    The rate is zero where the step has no length.

    * ``variable`` (any unit): :math:`v`; its old value is ``<variable>~1``
    * ``time`` (Scalar, time): :math:`t`; its old value is ``<time>~1``
    * ``variable_rate`` (unit/time): by default ``<variable>_rate``
    """

    def forward(self, variable: Any, variable_old: Any, time: Scalar, time_old: Scalar) -> Tensor:
        """The rate."""
        dt = time - time_old
        moves = (dt > 0.0) | (dt < 0.0)
        return where(moves, (variable - variable_old) / where(moves, dt, 1.0), 0.0)


class BackwardEulerTimeIntegration(History):
    r"""Residual of the implicit Euler rule.

    .. math:: r = v - v_n - (t - t_n) \dot v

    Source: E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, Springer 1996, section IV.3.

    * ``variable`` (any unit): :math:`v`; its old value is ``<variable>~1``
    * ``time`` (Scalar, time): :math:`t`; its old value is ``<time>~1``
    * ``rate`` (unit/time): by default ``<variable>_rate``
    * ``variable_residual`` (unit of the variable): by default ``<variable>_residual``
    """

    #: Type of the rate where it is not the variable's.
    rate_type: ClassVar[type[Tensor] | None] = None

    rate = Option("str", "name of the rate", required=False)

    def setup(self, context: Context) -> None:
        """Adds the rate as the last input."""
        super().setup(context)
        variable = self.variable_name(context)
        name = context.option("rate") or f"{variable}_rate"
        kind = self.rate_type or self.inputs[variable].type
        self.add_input(name, Variable(kind), context, "rate")
        self._arguments["rate"] = [name]

    def forward(self, variable: Any, variable_old: Any, time: Scalar, time_old: Scalar, rate: Any) -> Tensor:
        """The residual."""
        return variable - variable_old - rate * (time - time_old)


def _family(base: type[History], kind: type[Tensor], output: str) -> type[History]:
    """The model of one tensor type, registered as ``<Type><base>``."""
    members = {
        "__doc__": base.__doc__,
        "__module__": __name__,
        "variable": Input(kind, "the variable"),
        "time": Input(Scalar, "time (time)", required=False, default="t"),
        output: Output(
            kind, f"by default <{output.replace('variable', 'variable>', 1)}", required=False, default=output
        ),
    }
    name = f"{kind.__name__}{base.__name__}"
    return register(name)(type(name, (base,), members))


ScalarVariableRate = _family(VariableRate, Scalar, "variable_rate")
VecVariableRate = _family(VariableRate, Vec, "variable_rate")
SR2VariableRate = _family(VariableRate, SR2, "variable_rate")
R2VariableRate = _family(VariableRate, R2, "variable_rate")
ScalarBackwardEulerTimeIntegration = _family(BackwardEulerTimeIntegration, Scalar, "variable_residual")
VecBackwardEulerTimeIntegration = _family(BackwardEulerTimeIntegration, Vec, "variable_residual")
SR2BackwardEulerTimeIntegration = _family(BackwardEulerTimeIntegration, SR2, "variable_residual")
R2BackwardEulerTimeIntegration = _family(BackwardEulerTimeIntegration, R2, "variable_residual")
