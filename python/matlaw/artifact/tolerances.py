"""Tolerances of solvers that the precision of a build cannot meet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from matlaw.artifact.request import Leaf
from matlaw.trace import ImplicitSegment, Program

#: Rounding, 1.2e-7 of each term of a residual, is all that is left below this part of the first residual,
REL_TOL: Final = 1e-5
#: or below this for residuals in the units of strain.
ABS_TOL: Final = 1e-7


def warnings_of_tolerances(program: Program, leaves: Sequence[Leaf]) -> list[str]:
    """One line for each solver that asks for more than float32 can give, where a build is of float32.

    Both tolerances have to be that fine: a residual that meets one of them is done.
    """
    if not any(leaf.float32 for leaf in leaves):
        return []
    found = {}
    for segment in program.segments:
        if not isinstance(segment, ImplicitSegment):
            continue
        solver = f"Solvers/{segment.solver.name}"
        atol, rtol = segment.solver_config["atol"], segment.solver_config["rtol"]
        if atol < ABS_TOL and rtol < REL_TOL:
            found[solver] = (
                f"{solver} has abs_tol = {atol:g} and rel_tol = {rtol:g}, finer than float32 can solve: rows fail. "
                f"Add {solver}/abs_tol:={ABS_TOL:g} (for residuals like strains; more for stresses) or "
                f"{solver}/rel_tol:={REL_TOL:g}, or call set_solver_config on the loaded law"
            )
    return list(found.values())
