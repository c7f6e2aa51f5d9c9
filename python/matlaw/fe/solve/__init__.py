"""Solving the linearised equations."""

from matlaw.fe.solve.linear import LinearSolver

__all__ = ["LinearSolver"]
