"""Models that know the slip systems of a crystal."""

from __future__ import annotations

from typing import TypeVar

from matlaw.models.context import Context
from matlaw.models.data import CrystalGeometry
from matlaw.models.declaration import Option
from matlaw.models.model import Leaf
from matlaw.tensors import Tensor

T = TypeVar("T", bound=Tensor)


class CrystalLeaf(Leaf):
    """A leaf with the option ``crystal_geometry``; variables of slip systems have them as the last sub-batch axis.

    :ivar crystal: the slip systems
    """

    crystal_geometry = Option(
        "str", "block of [Data] with the slip systems", required=False, default="crystal_geometry"
    )

    def setup(self, context: Context) -> None:
        """Finds the crystal."""
        super().setup(context)
        found = context.object("Data", context.option("crystal_geometry"), "crystal_geometry")
        if not isinstance(found, CrystalGeometry):
            raise context.error(f"'{context.option('crystal_geometry')}' is not a crystal", "crystal_geometry")
        self.crystal = found

    def like(self, constant: T, other: Tensor) -> T:
        """A constant of the crystal in the type and on the device of a variable."""
        if constant.dtype == other.dtype and constant.device == other.device:
            return constant
        return constant.to(other.dtype, other.device)
