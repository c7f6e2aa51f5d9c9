"""What can go wrong, and whether a host may answer it by cutting its time step.

The C++ header ``<matlaw/errors.h>`` holds the same taxonomy; the bindings convert one into the other.
"""

from __future__ import annotations

from collections.abc import Sequence


class MatlawError(Exception):
    """Base of everything that matlaw raises on purpose."""

    #: True when a smaller step may succeed; False when something is set up wrongly.
    recoverable: bool = False


class ConvergenceError(MatlawError):
    """Some rows did not converge; the host may cut its step and retry from the old state.

    :param message: what happened
    :param failed_rows: rows of the flattened batch that failed, ascending
    """

    recoverable = True

    def __init__(self, message: str, failed_rows: Sequence[int] = ()) -> None:
        super().__init__(message)
        self.failed_rows: list[int] = list(failed_rows)


class FatalError(MatlawError):
    """A shape, dtype, device, name, artifact or input file is wrong."""


class InputError(FatalError):
    """An input holds NaN or infinity.

    :param message: what happened
    :param variable: name of the input
    :param row: first row of the flattened batch that is not finite
    """

    def __init__(self, message: str, variable: str = "", row: int = -1) -> None:
        super().__init__(message)
        self.variable = variable
        self.row = row


class AggregateError(MatlawError):
    """Chunks of a call failed on the devices of a dispatched law.

    :param message: what happened
    :param failures: ``(device, first_row, rows, message)`` of each chunk that failed, in the order of rows
    :param failed_rows: rows of the flattened batch that did not converge, ascending
    :param recoverable: every failure is a :class:`ConvergenceError`
    """

    def __init__(
        self,
        message: str,
        failures: Sequence[tuple[str, int, int, str]] = (),
        failed_rows: Sequence[int] = (),
        recoverable: bool = False,
    ) -> None:
        super().__init__(message)
        self.failures: list[tuple[str, int, int, str]] = list(failures)
        self.failed_rows: list[int] = list(failed_rows)
        self.recoverable = recoverable


class InputFileError(FatalError):
    """An input file is wrong; the message names file, line, block and the valid choices."""


class CompileError(FatalError):
    """A model cannot be compiled; the message names the place and the remedy."""
