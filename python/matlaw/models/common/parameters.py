"""Parameters as models, and models as parameters."""

from __future__ import annotations

from typing import Any, ClassVar

from matlaw.models.declaration import Input, Output, Parameter
from matlaw.models.family import member
from matlaw.models.model import Leaf
from matlaw.models.naming import NamingLeaf, OwnNameOutput
from matlaw.tensors import MRP, R2, SR2, SSR4, WR2, MillerIndex, Scalar, Tensor, Vec


class ConstantParameter(NamingLeaf):
    """A value that several models share as their parameter.

    * ``parameter`` (any unit): the value, by default named like the model
    * ``value``: the value, parameter ``value``
    """

    kind: ClassVar[type[Tensor]]

    def forward(self, value: Any) -> Tensor:
        """The value."""
        return value


class InputParameter(Leaf):
    """A variable that serves as parameter of other models.

    * ``variable`` (any unit): the variable
    * ``parameter`` (the same unit): its name as a parameter
    """

    kind: ClassVar[type[Tensor]]

    def forward(self, variable: Any) -> Tensor:
        """The value."""
        return variable


class ParameterToVariable(Leaf):
    """A parameter as a variable.

    * ``to`` (any unit): the variable
    * ``from``: the value, parameter ``param``
    """

    kind: ClassVar[type[Tensor]]

    def forward(self, from_: Any) -> Tensor:
        """The value."""
        return from_


def _constant(kind: type[Tensor]) -> type[ConstantParameter]:
    return member(
        ConstantParameter,
        f"{kind.__name__}ConstantParameter",
        kind,
        parameter=OwnNameOutput(kind, "the value"),
        value=Parameter(kind, "the value"),
    )


def _input(kind: type[Tensor]) -> type[InputParameter]:
    return member(
        InputParameter,
        f"{kind.__name__}InputParameter",
        kind,
        variable=Input(kind, "the variable"),
        parameter=Output(kind, "its name as a parameter"),
    )


def _to_variable(kind: type[Tensor]) -> type[ParameterToVariable]:
    return member(
        ParameterToVariable,
        f"{kind.__name__}ParameterToVariable",
        kind,
        to=Output(kind, "the variable"),
        from_=Parameter(kind, "the value", symbol="param"),
    )


ScalarConstantParameter = _constant(Scalar)
VecConstantParameter = _constant(Vec)
R2ConstantParameter = _constant(R2)
SR2ConstantParameter = _constant(SR2)
SSR4ConstantParameter = _constant(SSR4)
WR2ConstantParameter = _constant(WR2)
MRPConstantParameter = _constant(MRP)
MillerIndexConstantParameter = _constant(MillerIndex)

ScalarInputParameter = _input(Scalar)
VecInputParameter = _input(Vec)
R2InputParameter = _input(R2)
SR2InputParameter = _input(SR2)
SSR4InputParameter = _input(SSR4)
WR2InputParameter = _input(WR2)
MRPInputParameter = _input(MRP)
MillerIndexInputParameter = _input(MillerIndex)

ScalarParameterToVariable = _to_variable(Scalar)
VecParameterToVariable = _to_variable(Vec)
R2ParameterToVariable = _to_variable(R2)
SR2ParameterToVariable = _to_variable(SR2)
SSR4ParameterToVariable = _to_variable(SSR4)
WR2ParameterToVariable = _to_variable(WR2)
MRPParameterToVariable = _to_variable(MRP)
MillerIndexParameterToVariable = _to_variable(MillerIndex)
