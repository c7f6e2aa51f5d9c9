"""Follow the weights that a trainer writes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from matlaw import _core


@dataclass(frozen=True)
class WeightStreamStatus:
    """What a stream did so far.

    :ivar updates: how many versions the law got
    :ivar version: of the law's weights after the last one
    :ivar file: where that came from
    :ivar errors: how many files were refused
    :ivar error: what was said of the last one
    """

    updates: int
    version: int
    file: str
    errors: int
    error: str


class WeightStream:
    """Gives a law every new version of the weights that appears in a file or folder.

    A trainer replaces the file, or adds ``*.safetensors`` files to the folder; names that begin with a dot are left
    alone (:func:`matlaw.save_weights` writes such a file and renames it). Of several new files the newest is taken.
    What is not complete yet is looked at again; what the law refuses is reported and skipped, and the law keeps its
    weights.

    :param model: a law with ``update_weights``
    :param path: file or folder, which need not be there yet; what is there is taken at the first look
    :param interval: seconds between two looks of a thread of its own; 0 for none, :meth:`poll` looks then
    :param on_error: told what went wrong, once for each file, in the thread that looked
    """

    def __init__(
        self,
        model: Any,
        path: str | Path,
        interval: float = 0.1,
        on_error: Callable[[str], None] | None = None,
    ) -> None:
        self._stream: Any = _core.WeightStream(model.update_weights, str(path), interval, on_error)
        self._last: WeightStreamStatus | None = None

    def poll(self) -> bool:
        """Look now; True when the law got new weights."""
        return self._stream.poll() if self._stream is not None else False

    @property
    def status(self) -> WeightStreamStatus:
        """What was done so far; of a closed stream, all that it did."""
        if self._stream is None:
            assert self._last is not None
            return self._last
        said = self._stream.status
        return WeightStreamStatus(said.updates, said.version, said.file, said.errors, said.error)

    def close(self) -> None:
        """End the thread; an update under way is finished. Done at the end of a ``with`` block."""
        if self._stream is not None:
            self._last = self.status
            self._stream = None

    def __enter__(self) -> WeightStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
