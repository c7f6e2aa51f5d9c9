"""Typed batch-last tensors: components first, the batch axis last."""

from matlaw.tensors.base import Tensor
from matlaw.tensors.layout import to_internal, to_public
from matlaw.tensors.r2 import R2
from matlaw.tensors.scalar import Scalar
from matlaw.tensors.sr2 import SR2
from matlaw.tensors.ssr4 import SSR4
from matlaw.tensors.vec import Vec

#: The types by name, as input files and metadata name them.
TYPES: dict[str, type[Tensor]] = {t.__name__: t for t in (Scalar, Vec, R2, SR2, SSR4)}

__all__ = ["R2", "SR2", "SSR4", "TYPES", "Scalar", "Tensor", "Vec", "to_internal", "to_public"]
