"""Where things come from: which model is being evaluated, for those who record operations, and where it failed."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class Origin:
    """A model that is evaluated.

    :ivar what: its name and its outputs
    :ivar location: its file, line and block in the input file
    """

    what: str = ""
    location: str = ""


#: Gets a model and gives what surrounds its evaluation.
Observer = Callable[[Origin], AbstractContextManager[None]]

_observer: ContextVar[Observer | None] = ContextVar("matlaw model observer", default=None)


@contextmanager
def observed_by(observer: Observer) -> Iterator[None]:
    """Within this, every model with operations of its own that is evaluated is announced.

    >>> heard = []
    >>> def listen(origin):
    ...     heard.append(origin.what)
    ...     return nullcontext()
    >>> with observed_by(listen), evaluation_of("elasticity", ["stress"], "law.i:3"):
    ...     pass
    >>> heard
    ['elasticity: stress']
    """
    token = _observer.set(observer)
    try:
        yield
    finally:
        _observer.reset(token)


def observed() -> bool:
    """Whether someone observes: the operations are recorded, and their number counts rather than that of calls."""
    return _observer.get() is not None


def evaluation_of(name: str, outputs: Iterable[str], location: str) -> AbstractContextManager[None]:
    """What surrounds the evaluation of a model: nothing, unless someone observes.

    :param name: of the model
    :param outputs: of the model
    :param location: of the model in the input file
    """
    observer = _observer.get()
    return nullcontext() if observer is None else observer(Origin(f"{name}: {', '.join(outputs)}", location))


def described(error: Exception, of_type: type) -> str:
    """What was raised in a model: the message alone if it is about values, and for types of extensions the line there.

    :param error: raised by its forward function
    :param of_type: the model's type
    """
    message = str(error) if isinstance(error, ValueError | RuntimeError | IndexError) and str(error) else repr(error)
    files = {c.__module__: getattr(sys.modules.get(c.__module__), "__file__", None) for c in of_type.__mro__}
    own = {file for module, file in files.items() if file and module.split(".")[0] not in ("matlaw", "abc", "builtins")}
    lines = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in own]
    return f"{message} ({lines[-1].filename}:{lines[-1].lineno})" if lines else message
