"""Typed batch-last tensors: components first, the batch axis last."""

from matlaw.tensors.base import Tensor
from matlaw.tensors.layout import to_internal, to_public
from matlaw.tensors.miller_index import MillerIndex
from matlaw.tensors.mrp import MRP
from matlaw.tensors.quaternion import Quaternion
from matlaw.tensors.r2 import R2
from matlaw.tensors.scalar import Scalar
from matlaw.tensors.sr2 import SR2
from matlaw.tensors.ssr4 import SSR4
from matlaw.tensors.vec import Vec
from matlaw.tensors.wr2 import WR2

#: The types by name, as input files and metadata name them.
TYPES: dict[str, type[Tensor]] = {
    t.__name__: t for t in (Scalar, Vec, R2, SR2, SSR4, WR2, MRP, Quaternion, MillerIndex)
}

__all__ = [
    "MRP",
    "R2",
    "SR2",
    "SSR4",
    "TYPES",
    "WR2",
    "MillerIndex",
    "Quaternion",
    "Scalar",
    "Tensor",
    "Vec",
    "to_internal",
    "to_public",
]
