"""What the object being built may ask of the input file that it is built from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from matlaw.errors import InputFileError
from matlaw.tensors import Tensor

if TYPE_CHECKING:
    from matlaw.models.model import Model


class Context(Protocol):
    """One block of an input file."""

    name: str
    #: File, line and path of the block, for messages.
    location: str

    def option(self, name: str) -> Any:
        """The value of a declared option: ``str``, ``int``, ``float``, ``bool`` or ``list[str]``.

        A string option that was not given is ``""``, a list ``[]``.
        """

    def given(self, name: str) -> bool:
        """Whether the block itself gives the option."""

    def groups(self, name: str) -> list[list[str]]:
        """The value of a list option as groups, separated by semicolons."""

    def directory(self) -> str:
        """Folder of the input file; relative paths in it are relative to this."""

    def model(self, name: str, option: str) -> Model:
        """The model of that name. ``option`` is the option that refers to it, for messages."""

    def has_model(self, name: str) -> bool:
        """Whether the file has a model of that name."""

    def object(self, section: str, name: str, option: str) -> Any:
        """The object of that name in a section."""

    def blocks(self, section: str) -> list[str]:
        """Names of the blocks of a section."""

    def tensor(self, name: str) -> Any | None:
        """The value of a ``[Tensors]`` entry, or None when there is none of that name."""

    def error(self, message: str, option: str | None = None) -> InputFileError:
        """An error that names file, line and block, to be raised by the caller."""

    def unknown(self, what: str, name: str, choices: list[str], option: str | None = None) -> InputFileError:
        """An error about a name that is not one of the choices, with the closest of them."""


class ParameterSlot:
    """One parameter of one model. Slots are told apart by identity, however many paths lead to them.

    :ivar value: its value; the batch extent is that of ``batch_shape``, flattened
    :ivar batch_shape: its batch axes, which broadcast with those of the inputs; none for one value
    :ivar shared: True for a weight: always one value for all rows
    :ivar origin: the option that gives it, ``Models/hardening/saturated_hardening``; empty for a weight
    """

    __slots__ = ("batch_shape", "origin", "shared", "value")

    def __init__(
        self, value: Tensor, batch_shape: tuple[int, ...] = (), shared: bool = False, origin: str = ""
    ) -> None:
        self.value = value
        self.batch_shape = batch_shape
        self.shared = shared
        self.origin = origin

    def first(self) -> Tensor:
        """The value in the first row."""
        return type(self.value)(self.value.data[..., :1], self.value.sub_batch_ndim)
