"""Settings of a line search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class LineSearch:
    """How far a row goes along its Newton step.

    :ivar kind: ``NONE``, ``BACKTRACKING`` or ``STRONG_WOLFE``
    :ivar max_its: most residuals of one search, the one at its start among them
    :ivar cutback: a trial is this many times shorter than the one before
    :ivar c: ``|r(u + a du)|**2 <= (1 - 2 c a) |r(u)|**2`` is decrease enough

    >>> LineSearch().as_config()
    {'ls_type': 'NONE', 'ls_max_iters': 10, 'ls_cutback': 2.0, 'ls_c': 0.001}
    """

    kind: str = "NONE"
    max_its: int = 10
    cutback: float = 2.0
    c: float = 1e-3

    def as_config(self) -> dict[str, Any]:
        """Under the names that the runtime has for these settings."""
        return {"ls_type": self.kind, "ls_max_iters": self.max_its, "ls_cutback": self.cutback, "ls_c": self.c}
