"""What an input file says of solvers."""

from matlaw.models.solvers.dense_lu import DenseLU
from matlaw.models.solvers.krylov import GMRES, BiCGStab, Krylov
from matlaw.models.solvers.line_search import LineSearch
from matlaw.models.solvers.linear_solver import LinearSolver
from matlaw.models.solvers.newton import Newton
from matlaw.models.solvers.newton_with_line_search import NewtonWithLineSearch
from matlaw.models.solvers.preconditioners import (
    BlockJacobiPreconditioner,
    FullPreconditioner,
    JacobiPreconditioner,
    NoPreconditioner,
    Preconditioner,
)
from matlaw.models.solvers.schur_complement import SchurComplement

__all__ = [
    "GMRES",
    "BiCGStab",
    "BlockJacobiPreconditioner",
    "DenseLU",
    "FullPreconditioner",
    "JacobiPreconditioner",
    "Krylov",
    "LineSearch",
    "LinearSolver",
    "Newton",
    "NewtonWithLineSearch",
    "NoPreconditioner",
    "Preconditioner",
    "SchurComplement",
]
