"""What matlaw says while it works: channels, levels, and where the text goes.

Silent by default but for warnings. ``MATLAW_LOGS=newton=debug,load=info`` in the environment asks for more, and so does
:func:`set_levels`. C++ and Python write into one log.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import Any

#: Who speaks.
CHANNELS = ("load", "newton", "substep", "dispatch", "compile", "host")
#: How important it is; ``off`` is the level of a channel that lets nothing through.
LEVELS = ("off", "error", "warn", "info", "debug")

#: Takes channel, level and text.
Sink = Callable[[str, str, str], Any]

_STANDARD = {"error": logging.ERROR, "warn": logging.WARNING, "info": logging.INFO, "debug": logging.DEBUG}


def set_levels(assignments: str) -> None:
    """Set levels as ``MATLAW_LOGS`` does; channels that are not named keep theirs.

    :param assignments: ``channel=level`` between commas; the channel ``all`` stands for every one
    :raises FatalError: there is no such channel or level; nothing is changed then

    >>> set_levels("newton=info, load=warn")
    >>> levels()["newton"]
    'info'
    >>> set_levels("newton=warn")
    """
    _core().set_log_levels(assignments)


def levels() -> dict[str, str]:
    """What each channel lets through."""
    return _core().log_levels()


def enabled(channel: str, level: str) -> bool:
    """True when :func:`log` would do anything.

    :raises FatalError: there is no such channel or level
    """
    return _core().log_enabled(channel, level)


def log(channel: str, level: str, text: str) -> None:
    """Write a text when its channel lets it through; a warning is written to stderr where matlaw has no C++ part.

    :raises FatalError: there is no such channel or level
    """
    try:
        core = _core()
    except ImportError:
        if level in ("warn", "error"):
            print(f"matlaw: {text}", file=sys.stderr)
        return
    core.log(channel, level, text)


def set_sink(sink: Sink | None) -> None:
    """Send the log to a function, or back to stderr.

    :param sink: called with channel, level and text, from any thread; what it raises is reported as unraisable and
        dropped. ``None`` stands for stderr

    >>> said = []
    >>> set_sink(lambda channel, level, text: said.append((channel, level, text)))
    >>> log("load", "warn", "the law is old")
    >>> set_sink(None)
    >>> said
    [('load', 'warn', 'the law is old')]
    """
    _core().set_log_sink(sink)


def use_python_logging() -> None:
    """Send the log to the loggers ``matlaw.load``, ``matlaw.newton`` ... of Python's :mod:`logging`.

    Levels of matlaw's own channels hold first: what they hold back never gets there.
    """
    set_sink(_to_logger)


def _to_logger(channel: str, level: str, text: str) -> None:
    logging.getLogger(f"matlaw.{channel}").log(_STANDARD[level], "%s", text)


def _core() -> Any:
    from matlaw import _core as core

    return core
