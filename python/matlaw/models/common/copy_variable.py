"""Variables under another name."""

from __future__ import annotations

from typing import Any, ClassVar

from matlaw.models.declaration import Input, Output
from matlaw.models.family import member
from matlaw.models.model import Leaf
from matlaw.tensors import MRP, R2, SR2, SSR4, WR2, MillerIndex, Scalar, Tensor, Vec


class CopyVariable(Leaf):
    """The same value under another name.

    * ``from`` (any unit): the variable
    * ``to`` (the same unit): its other name
    """

    kind: ClassVar[type[Tensor]]

    def forward(self, from_: Any) -> Tensor:
        """The value."""
        return from_


def _family(kind: type[Tensor]) -> type[CopyVariable]:
    return member(
        CopyVariable,
        f"Copy{kind.__name__}",
        kind,
        from_=Input(kind, "the variable"),
        to=Output(kind, "its other name"),
    )


CopyScalar = _family(Scalar)
CopyVec = _family(Vec)
CopyR2 = _family(R2)
CopySR2 = _family(SR2)
CopySSR4 = _family(SSR4)
CopyWR2 = _family(WR2)
CopyMRP = _family(MRP)
CopyMillerIndex = _family(MillerIndex)
