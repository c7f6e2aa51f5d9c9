"""The base of all models."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from matlaw.errors import FatalError
from matlaw.models.context import Context, ParameterSlot
from matlaw.models.declaration import Declaration, Input, Output, Parameter, declarations
from matlaw.models.number import looks_like_number, parse_number
from matlaw.models.provenance import evaluation_of
from matlaw.models.variable import Variable
from matlaw.tensors import Tensor

Values = Mapping[str, Tensor]
Overrides = Mapping[ParameterSlot, Tensor]


class Model(ABC):
    """A function from named input variables to named output variables.

    :ivar name: the block's name
    :ivar location: file, line and block in the input file, for messages
    :ivar inputs: input variables by name, in order
    :ivar outputs: output variables by name, in order
    :ivar providers: models whose outputs are parameters of this one
    """

    type_name: ClassVar[str] = ""

    def __init__(self, context: Context) -> None:
        self.name = context.name
        self.location = context.location
        self.inputs: dict[str, Variable] = {}
        self.outputs: dict[str, Variable] = {}
        self.providers: list[Model] = []
        self.setup(context)

    @abstractmethod
    def setup(self, context: Context) -> None:
        """Reads the options and fills inputs, outputs and parameters."""

    @abstractmethod
    def run(self, values: Values, overrides: Overrides) -> dict[str, Tensor]:
        """Outputs by name.

        :param values: at least the inputs, by name
        :param overrides: values of some of the parameters
        """

    @abstractmethod
    def relative_parameters(self) -> dict[str, ParameterSlot]:
        """Slots by name, without this model's own name. A slot that several paths lead to appears once."""

    def parameter_slots(self) -> dict[str, ParameterSlot]:
        """Slots by qualified name."""
        return self.relative_parameters()

    def named_parameters(self) -> dict[str, Tensor]:
        """Values of the parameters by qualified name (``elasticity.E``)."""
        return {name: slot.value for name, slot in self.parameter_slots().items()}

    def evaluate(self, values: Values, parameters: Values | None = None) -> dict[str, Tensor]:
        """Outputs by name. A pure function.

        :param values: the inputs by name; more names do no harm
        :param parameters: values, by qualified name, that replace those of the model
        :raises FatalError: when an input is missing or a parameter is not known
        """
        missing = [name for name in self.inputs if name not in values]
        if missing:
            raise FatalError(f"model '{self.name}': missing input {', '.join(missing)}")
        return self.run(values, self.overrides(parameters))

    def overrides(self, parameters: Values | None) -> dict[ParameterSlot, Tensor]:
        """The slots that the given qualified names stand for.

        :raises FatalError: when a name is not known
        """
        if not parameters:
            return {}
        slots = self.parameter_slots()
        unknown = [name for name in parameters if name not in slots]
        if unknown:
            raise FatalError(
                f"model '{self.name}' has no parameter {', '.join(unknown)}; it has: {', '.join(slots) or 'none'}"
            )
        return {slots[name]: value for name, value in parameters.items()}

    def add_input(self, name: str, variable: Variable, context: Context, option: str | None = None) -> None:
        """Declares an input.

        :raises InputFileError: when the model has an input of that name and of another type
        """
        known = self.inputs.setdefault(name, variable)
        if known.type is not variable.type:
            raise context.error(
                f"variable '{name}' is used as {known.type.__name__} and as {variable.type.__name__}", option
            )
        if not known.sub_batch_ndim:  # a compiled member knows more than the others
            self.inputs[name] = variable

    def add_output(self, name: str, variable: Variable, context: Context, option: str | None = None) -> None:
        """Declares an output.

        :raises InputFileError: when the model has an output of that name
        """
        if name in self.outputs:
            raise context.error(f"variable '{name}' is an output twice", option)
        self.outputs[name] = variable


class Leaf(Model):
    """A model whose :meth:`forward` is written out in Python.

    Variables and parameters are declared as class attributes; ``forward`` receives them under the attributes' names
    (a list of tensors where the declaration says ``many``) and returns the outputs in the order of their declaration.

    :cvar mixes_rows: a row's result depends on other rows
    """

    mixes_rows: ClassVar[bool] = False

    def setup(self, context: Context) -> None:
        """Binds every declared variable and parameter."""
        self._slots: dict[str, ParameterSlot] = {}
        self._arguments: dict[str, list[str | ParameterSlot]] = {}
        self._many: set[str] = set()
        for declaration in declarations(type(self)):
            self.bind(declaration, context)

    def bind(self, declaration: Declaration, context: Context) -> None:
        """Gives one declared variable or parameter its name or value. Plain options are left to the model."""
        if isinstance(declaration, Input):
            for name in self.variable_names(declaration, context):
                self.bind_input(declaration, name, context)
        elif isinstance(declaration, Output):
            for name in self.variable_names(declaration, context):
                self.add_output(name, Variable(declaration.type), context, declaration.option)
        elif isinstance(declaration, Parameter):
            tokens = context.option(declaration.option)
            if declaration.many:
                self._many.add(declaration.attribute)
                for i, token in enumerate(tokens):
                    self.bind_parameter(declaration, f"{declaration.symbol}_{i}", token, context)
            else:
                self.bind_parameter(declaration, declaration.symbol, tokens, context)

    def bind_input(self, declaration: Input, name: str, context: Context) -> None:
        """Makes a variable an input and an argument of ``forward``."""
        self.add_input(name, Variable(declaration.type), context, declaration.option)
        self._arguments.setdefault(declaration.attribute, []).append(name)
        if declaration.many:
            self._many.add(declaration.attribute)

    def variable_names(self, declaration: Input | Output, context: Context) -> list[str]:
        """The variables that an option stands for."""
        value = context.option(declaration.option)
        if declaration.many:
            return list(value)
        if value:
            return [value]
        if not declaration.required and not declaration.default:
            return []
        return [declaration.default or declaration.option]

    def bind_parameter(self, declaration: Parameter, symbol: str, token: str, context: Context) -> None:
        """Makes a parameter an argument of ``forward``.

        :param symbol: its name among the model's parameters
        :param token: a number or the name of a ``[Tensors]`` entry, a model or a variable
        """
        arguments = self._arguments.setdefault(declaration.attribute, [])
        value = self._literal(declaration, token, context)
        if value is not None:
            origin = f"Models/{context.name}/{declaration.option}"
            slot = ParameterSlot(value, _batch_shape(value, token, declaration, context), origin=origin)
            self._slots[symbol] = slot
            arguments.append(slot)
            return
        if context.has_model(token):
            provider = context.model(token, declaration.option)
            if len(provider.outputs) != 1:
                raise context.error(
                    f"model '{token}' has {len(provider.outputs)} outputs ({', '.join(provider.outputs)}); a model "
                    "that gives a parameter must have exactly one. Name the variable itself instead",
                    declaration.option,
                )
            [(token, variable)] = provider.outputs.items()
            if variable.type is not declaration.type:
                raise context.error(
                    f"expected {declaration.type.__name__}, but '{token}' of model '{provider.name}' is "
                    f"{variable.type.__name__}",
                    declaration.option,
                )
            self.providers.append(provider)
        elif looks_like_number(token):
            raise context.error(f"'{token}' is no number; write 1000, 1000.5 or 1e3", declaration.option)
        self.add_input(token, Variable(declaration.type), context, declaration.option)
        arguments.append(token)

    def _literal(self, declaration: Parameter, token: str, context: Context) -> Tensor | None:
        """The value that a token holds, or None when it is the name of a model or a variable."""
        number = parse_number(token)
        if number is not None:
            if declaration.type.base_ndim:
                raise context.error(
                    f"expected {declaration.type.__name__}, got the number {token}; write a [Tensors] entry",
                    declaration.option,
                )
            return declaration.type.constant(number)
        value = context.tensor(token)
        if value is None:
            return None
        if type(value) is not declaration.type:
            raise context.error(
                f"expected {declaration.type.__name__}, but [Tensors]/[{token}] is {type(value).__name__}",
                declaration.option,
            )
        return value

    @property
    def times(self) -> list[str]:
        """Names of the inputs that are time: those of the option ``time``."""
        return [source for source in self._arguments.get("time", []) if isinstance(source, str)]

    def relative_parameters(self) -> dict[str, ParameterSlot]:
        """Slots by the parameters' own names."""
        return dict(self._slots)

    def parameter_slots(self) -> dict[str, ParameterSlot]:
        """Slots by name, qualified by the model's own name."""
        return {f"{self.name}.{name}": slot for name, slot in self._slots.items()}

    def run(self, values: Values, overrides: Overrides) -> dict[str, Tensor]:
        """Calls ``forward``."""
        arguments: dict[str, Any] = {}
        for attribute, sources in self._arguments.items():
            tensors = [
                values[s] if isinstance(s, str) else overrides.get(s, _like_inputs(s.value, values)) for s in sources
            ]
            arguments[attribute] = tensors if attribute in self._many else tensors[0]
        with evaluation_of(self.name, self.outputs, self.location):
            result = self.forward(**arguments)
        if not isinstance(result, tuple):
            result = (result,)
        return dict(zip(self.outputs, result, strict=True))

    @abstractmethod
    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The outputs in the order of their declaration, from the arguments by attribute name."""


def _batch_shape(value: Tensor, token: str, declaration: Parameter, context: Context) -> tuple[int, ...]:
    """The batch axes of a literal; a type of ``[Tensors]`` from an extension need not know them."""
    if parse_number(token) is not None:
        return ()
    flat = () if value.batch_size == 1 else (value.batch_size,)
    return tuple(getattr(context.object("Tensors", token, declaration.option), "batch_shape", flat))


def _like_inputs(parameter: Tensor, values: Values) -> Tensor:
    """A stored parameter in the dtype and on the device of the values."""
    for value in values.values():
        if value.dtype != parameter.dtype or value.device != parameter.device:
            return parameter.to(value.dtype, value.device)
        break
    return parameter
