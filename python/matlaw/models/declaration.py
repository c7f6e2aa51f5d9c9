"""What a type takes from its block in an input file, declared as class attributes.

The attribute's name is the option's name; where that is a Python keyword the attribute has a trailing underscore
(``from_``).
"""

from __future__ import annotations

from typing import Any, ClassVar

from matlaw.tensors import Tensor


class Declaration:
    """Base of the declarations.

    :param doc: what it is, with its unit
    :param required: whether the block must give it
    :param default: the text used when the block does not give it
    """

    role: ClassVar[str] = "NONE"

    def __init__(self, doc: str = "", *, required: bool = True, default: str = "") -> None:
        self.doc = doc
        self.required = required
        self.default = default
        self.attribute = ""
        self.option = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.attribute = name
        self.option = name.rstrip("_")

    @property
    def kind(self) -> str:
        """What the option holds, as the catalogue of types says it."""
        raise NotImplementedError

    @property
    def must_be_given(self) -> bool:
        """Whether a block without the option is refused; not so where there is a name to fall back to."""
        return self.required

    def record(self) -> dict[str, Any]:
        """The option as the catalogue of types lists it."""
        return {
            "name": self.option,
            "role": self.role,
            "kind": self.kind,
            "required": self.required,
            "default": self.default,
        }


class _Typed(Declaration):
    """A variable or a parameter of a tensor type."""

    def __init__(
        self, type: type[Tensor], doc: str = "", *, required: bool = True, default: str = "", many: bool = False
    ) -> None:
        super().__init__(doc, required=required, default=default)
        self.type = type
        self.many = many

    @property
    def kind(self) -> str:
        """Name of the tensor type."""
        return self.type.__name__


class _Variable(_Typed):
    """An input or output variable."""

    @property
    def must_be_given(self) -> bool:
        """Never: the option's own name is the variable's, then."""
        return False


class Input(_Variable):
    """An input variable; its option holds the variable's name.

    :param type: tensor type
    :param required: False for a variable that the model can do without
    :param default: the variable's name when the option is not given; the option's own name when this is empty
    :param many: the option holds a list of names
    """

    role = "INPUT"

    @property
    def must_be_given(self) -> bool:
        """A list of variables has no name of its own that it could fall back to."""
        return self.many and self.required


class Output(_Variable):
    """An output variable; see :class:`Input`."""

    role = "OUTPUT"


class Parameter(_Typed):
    """A parameter: a number, the name of a ``[Tensors]`` entry, of a model (its output) or of a variable.

    :param type: tensor type
    :param symbol: the parameter's name among the model's named parameters; the option's name when not given
    :param many: the option holds a list
    """

    role = "PARAMETER"

    def __init__(
        self,
        type: type[Tensor],
        doc: str = "",
        *,
        symbol: str = "",
        required: bool = True,
        default: str = "",
        many: bool = False,
    ) -> None:
        super().__init__(type, doc, required=required, default=default, many=many)
        self.symbol = symbol

    def __set_name__(self, owner: type, name: str) -> None:
        super().__set_name__(owner, name)
        self.symbol = self.symbol or self.option


class Option(Declaration):
    """Anything that is neither a variable nor a parameter.

    :param kind: ``str``, ``int``, ``float``, ``bool`` or ``list`` (of strings)
    :param choices: the valid values of a string, or of the members of a list
    """

    def __init__(
        self,
        kind: str,
        doc: str = "",
        *,
        required: bool = True,
        default: str = "",
        choices: tuple[str, ...] = (),
    ) -> None:
        super().__init__(doc, required=required, default=default)
        self._kind = kind
        self.choices = choices

    @property
    def kind(self) -> str:
        """``str``, ``int``, ``float``, ``bool`` or ``list``."""
        return self._kind


def declarations(cls: type) -> list[Declaration]:
    """The declarations of a class, those of its bases first, in the order in which they were written."""
    found: dict[str, Declaration] = {}
    for base in reversed(cls.__mro__):
        for name, value in vars(base).items():
            if isinstance(value, Declaration):
                found.pop(name, None)
                found[name] = value
    return list(found.values())
