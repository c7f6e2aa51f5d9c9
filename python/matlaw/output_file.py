"""Writing files, so that a full disk has a name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Give what the system says of a file its name: it leaves it out where the file was open already.

    :param path: the file that the block writes

    >>> with naming("out.csv"):
    ...     raise OSError(28, "No space left on device")
    Traceback (most recent call last):
        ...
    OSError: [Errno 28] No space left on device: 'out.csv'
    """
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            error.filename = os.fspath(path)
        raise
