"""Which model is being evaluated: for those who record its operations and want to say where each comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar

#: Gets a description of a model and gives what surrounds its evaluation.
Observer = Callable[[str], AbstractContextManager[None]]

_observer: ContextVar[Observer | None] = ContextVar("matlaw model observer", default=None)


@contextmanager
def observed_by(observer: Observer) -> Iterator[None]:
    """Within this, every model with operations of its own that is evaluated is announced.

    >>> heard = []
    >>> def listen(what):
    ...     heard.append(what)
    ...     return nullcontext()
    >>> with observed_by(listen), evaluation_of("elasticity: stress"):
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


def evaluation_of(what: str) -> AbstractContextManager[None]:
    """What surrounds the evaluation of a model: nothing, unless someone observes."""
    observer = _observer.get()
    return nullcontext() if observer is None else observer(what)
