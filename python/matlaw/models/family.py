"""Models that differ by a tensor type only."""

from __future__ import annotations

from typing import Any, TypeVar

from matlaw.models.model import Model
from matlaw.models.registry import register
from matlaw.tensors import Tensor

M = TypeVar("M", bound=Model)


def member(base: type[M], name: str, kind: type[Tensor], /, **members: Any) -> type[M]:
    """One model of a family: a subclass of ``base``, registered under a name.

    :param base: the common definition
    :param name: what an input file calls it
    :param kind: the tensor type, kept as the class attribute ``kind``
    :param members: the declarations that depend on the type
    """
    namespace = {"__doc__": base.__doc__, "__module__": base.__module__, "kind": kind, **members}
    return register(name)(type(name, (base,), namespace))
