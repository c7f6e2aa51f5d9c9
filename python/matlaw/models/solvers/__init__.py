"""What an input file says of solvers."""

from matlaw.models.solvers.dense_lu import DenseLU
from matlaw.models.solvers.newton import Newton

__all__ = ["DenseLU", "Newton"]
