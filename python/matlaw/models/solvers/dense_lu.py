"""Dense LU decomposition with partial pivoting."""

from __future__ import annotations

from matlaw.models.context import Context
from matlaw.models.registry import register


@register("DenseLU", section="Solvers")
class DenseLU:
    """A direct solver for the dense linear system of each row."""

    def __init__(self, context: Context | None = None) -> None:
        self.name = context.name if context else "DenseLU"
        self.location = context.location if context else ""

    @classmethod
    def default(cls) -> DenseLU:
        """The solver used when an input file names none."""
        return cls()
