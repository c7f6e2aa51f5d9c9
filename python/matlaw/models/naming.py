"""Outputs whose names follow from something else when the block does not give them."""

from __future__ import annotations

from matlaw.models.context import Context
from matlaw.models.declaration import Input, Output
from matlaw.models.model import Leaf
from matlaw.tensors import Tensor


class DerivedOutput(Output):
    """An output named after an input: the input's name with a suffix.

    :param of: the option of that input
    :param suffix: what is appended to its name
    """

    def __init__(self, type: type[Tensor], of: str, suffix: str, doc: str = "") -> None:
        super().__init__(type, doc, required=False, default=of + suffix)
        self.of = of
        self.suffix = suffix


class OwnNameOutput(Output):
    """An output named like the model itself."""

    def __init__(self, type: type[Tensor], doc: str = "") -> None:
        super().__init__(type, doc, required=False)


class NamingLeaf(Leaf):
    """A leaf with such outputs."""

    def variable_names(self, declaration: Input | Output, context: Context) -> list[str]:
        """The given names, or the ones that follow."""
        if not context.given(declaration.option):
            if isinstance(declaration, DerivedOutput):
                return [(context.option(declaration.of) or declaration.of) + declaration.suffix]
            if isinstance(declaration, OwnNameOutput):
                return [context.name]
        return super().variable_names(declaration, context)
