"""How a command ends when something is wrong, or somebody presses Ctrl-C."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Sequence
from functools import wraps

from matlaw.errors import MatlawError

Main = Callable[..., int]

#: Exit code of a command that was interrupted, as shells give it: 128 and the number of the signal.
INTERRUPTED = 130


def command(name: str, remark: str) -> Callable[[Main], Main]:
    """Makes a wrong input, and Ctrl-C, end a command with one line instead of a traceback.

    The exit code is 2, or 130.

    :param name: the command's name
    :param remark: what Ctrl-C leaves behind
    """

    def decorate(main: Main) -> Main:
        @wraps(main)
        def run(arguments: Sequence[str] | None = None) -> int:
            try:
                return main(arguments)
            except MatlawError as error:
                print(f"{name}: error: {error}", file=sys.stderr)
                return 2
            except KeyboardInterrupt:
                print(f"{name}: interrupted; {remark}", file=sys.stderr)
            # What the frames of the traceback held in cycles; the parser complains of nodes that outlive it.
            gc.collect()
            return INTERRUPTED

        return run

    return decorate
