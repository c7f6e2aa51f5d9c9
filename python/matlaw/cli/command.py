"""What Ctrl-C does to a command."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Sequence
from functools import wraps

Main = Callable[..., int]

#: Exit code of a command that was interrupted, as shells give it: 128 and the number of the signal.
INTERRUPTED = 130


def interruptible(command: str, remark: str) -> Callable[[Main], Main]:
    """Makes Ctrl-C end a command with one line instead of a traceback.

    :param command: the command's name
    :param remark: what is left behind
    """

    def decorate(main: Main) -> Main:
        @wraps(main)
        def run(arguments: Sequence[str] | None = None) -> int:
            try:
                return main(arguments)
            except KeyboardInterrupt:
                print(f"{command}: interrupted; {remark}", file=sys.stderr)
            # What the frames of the traceback held in cycles; the parser complains of nodes that outlive it.
            gc.collect()
            return INTERRUPTED

        return run

    return decorate
