"""What an input file says of solvers."""

from matlaw.models.solvers.dense_lu import DenseLU
from matlaw.models.solvers.line_search import LineSearch
from matlaw.models.solvers.newton import Newton
from matlaw.models.solvers.newton_with_line_search import NewtonWithLineSearch

__all__ = ["DenseLU", "LineSearch", "Newton", "NewtonWithLineSearch"]
