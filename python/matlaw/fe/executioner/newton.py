"""Newton's method on all equations together."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from matlaw.fe.assembly.elements import Trial
from matlaw.fe.executioner.supports import check_supports
from matlaw.fe.law import StepFailedError
from matlaw.fe.problem import Problem
from matlaw.fe.solve.linear import LinearSolver, SingularSystemError


@dataclass(frozen=True)
class Tolerances:
    """When to stop, with MOOSE's names and defaults."""

    nl_rel_tol: float = 1e-8
    nl_abs_tol: float = 1e-50
    nl_max_its: int = 50
    nl_div_tol: float = 1e10
    line_search: str = "default"


@dataclass
class NewtonResult:
    """How a step went.

    :ivar converged: equilibrium was found
    :ivar reason: why it ended, in words
    :ivar norms: residual norm before each iteration and at the end
    """

    converged: bool
    reason: str
    norms: list[float] = field(default_factory=list)
    linear_iterations: int = 0

    @property
    def iterations(self) -> int:
        """Newton iterations."""
        return max(len(self.norms) - 1, 0)


class Newton:
    """Solves one step with the consistent tangent.

    As in MOOSE the first residual is taken with the prescribed values in place, and convergence is relative to it.

    :param problem: the equations; its ``u`` is the solution at the end of the last step
    :param solver: for the linear systems
    :param report: called with the iteration, the residual norm and the linear iterations
    """

    #: a step length is accepted when the residual falls by at least this share of it
    SUFFICIENT = 1e-4
    #: shortest step length tried
    SHORTEST = 2.0**-8

    def __init__(
        self, problem: Problem, solver: LinearSolver, tolerances: Tolerances, report: Callable[[int, float, int], None]
    ) -> None:
        self.problem = problem
        self.solver = solver
        self.tolerances = tolerances
        self.report = report
        self._supported = False

    def solve(self, guess: np.ndarray, old: np.ndarray, t: float, dt: float) -> tuple[NewtonResult, np.ndarray]:
        """Solve the equations at time ``t``.

        :param guess: values to start from, ``(n_dofs,)``
        :param old: values at the end of the last step
        :returns: how it went, and the values
        :raises InputFileError: nothing holds the bodies, or a condition gives NaN or infinity
        """
        result = NewtonResult(False, "")
        self._old, self._t, self._dt = old, t, dt
        u = guess.copy()
        try:
            self.problem.begin(t)
            u = self._iterate(u, result)
        except (StepFailedError, SingularSystemError) as error:
            result.reason = str(error)
        return result, u

    def _residual(self, u: np.ndarray, tangent: bool = True) -> np.ndarray:
        """Residuals of the free degrees of freedom, then the error in the prescribed ones."""
        constraints = self.problem.constraints
        full = self.problem.evaluate(Trial(u, self._old, self._t, self._dt, tangent))
        return np.concatenate([full[constraints.free], u[constraints.dofs] - self._prescribed])

    def _norm(self, residual: np.ndarray) -> float:
        return float(np.linalg.norm(residual * self._scaling))

    def _iterate(self, u: np.ndarray, result: NewtonResult) -> np.ndarray:
        problem, tolerances = self.problem, self.tolerances
        constraints = problem.constraints
        self._prescribed = constraints.values(self._t)
        self._scaling = problem.scaling()
        u[constraints.dofs[constraints.preset]] = self._prescribed[constraints.preset]
        residual = self._residual(u)
        norm = self._norm(residual)
        result.norms.append(norm)
        self.report(0, norm, 0)
        first = norm
        while True:
            if not np.isfinite(norm):
                result.reason = "the residual is not finite"
                return u
            if norm <= tolerances.nl_abs_tol or norm == 0.0:
                result.converged, result.reason = True, "nl_abs_tol"
                return u
            if len(result.norms) > 1 and norm <= tolerances.nl_rel_tol * first:
                result.converged, result.reason = True, "nl_rel_tol"
                return u
            if norm > tolerances.nl_div_tol * first:
                result.reason = "the residual diverged (nl_div_tol)"
                return u
            if result.iterations >= tolerances.nl_max_its:
                result.reason = f"no convergence in {tolerances.nl_max_its} iterations (nl_max_its)"
                return u
            step, linear = self._direction(residual)
            result.linear_iterations += linear
            found = self._search(u, step, norm)
            if found is None:
                result.reason = "the line search found no smaller residual"
                return u
            u, residual = found
            norm = self._norm(residual)
            result.norms.append(norm)
            self.report(result.iterations, norm, linear)

    def _direction(self, residual: np.ndarray) -> tuple[np.ndarray, int]:
        problem = self.problem
        constraints, unknowns = problem.constraints, problem.unknowns
        free = len(constraints.free)
        matrix, elements = problem.stiffness()
        if not self._supported:
            check_supports(problem, matrix)
            self._supported = True
        step = np.zeros(unknowns.n_dofs)
        step[constraints.dofs] = -residual[free:]
        right = -residual[:free]
        if np.any(step):
            local = np.einsum("eij,ej->ei", elements, step[unknowns.element_dofs])
            right = right - unknowns.scatter(local)[constraints.free]
        began = clock.perf_counter()
        solution = self.solver.solve(matrix, right)
        problem.timing.solve += clock.perf_counter() - began
        step[constraints.free] = solution.x
        return step, solution.iterations

    def _search(self, u: np.ndarray, step: np.ndarray, norm: float) -> tuple[np.ndarray, np.ndarray] | None:
        """The full step, or with a line search a shorter one that lowers the residual."""
        trial = u + step
        residual = self._residual(trial)
        if self.tolerances.line_search in ("none", "basic"):
            return trial, residual
        length = 1.0
        while not self._norm(residual) <= (1.0 - self.SUFFICIENT * length) * norm:
            if self._at_rounding(residual):
                return trial, residual
            length *= 0.5
            if length < self.SHORTEST:
                return None
            trial = u + length * step
            residual = self._residual(trial, tangent=False)
        return trial, residual if length == 1.0 else self._residual(trial)

    def _at_rounding(self, residual: np.ndarray) -> bool:
        """True when the residual is rounding noise of the internal forces, so that it cannot fall further."""
        return bool(np.linalg.norm(residual) <= 1e-13 * np.linalg.norm(self.problem.internal))
