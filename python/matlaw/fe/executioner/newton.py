"""Newton's method on the equilibrium equations."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from matlaw.fe.law import LawFailedError
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

    As in MOOSE the first residual is taken with the prescribed displacements in place, and convergence is relative to
    it.

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

    def solve(self, guess: np.ndarray, t: float) -> tuple[NewtonResult, np.ndarray, np.ndarray]:
        """Find equilibrium at time ``t``.

        :param guess: displacements to start from, ``(n_dofs,)``
        :returns: how it went, the displacements, and the internal forces there
        """
        result = NewtonResult(False, "")
        u = guess.copy()
        force = np.zeros_like(u)
        try:
            u, force = self._iterate(u, t, result)
        except LawFailedError as error:
            result.reason = str(error)
        except SingularSystemError as error:
            result.reason = str(error)
        return result, u, force

    def _residual(self, u: np.ndarray, force: np.ndarray, load: np.ndarray, prescribed: np.ndarray) -> np.ndarray:
        """Out-of-balance forces of the free degrees of freedom, then the error in the prescribed ones."""
        constraints = self.problem.constraints
        return np.concatenate([(force - load)[constraints.free], u[constraints.dofs] - prescribed])

    def _iterate(self, u: np.ndarray, t: float, result: NewtonResult) -> tuple[np.ndarray, np.ndarray]:
        problem, tolerances = self.problem, self.tolerances
        constraints = problem.constraints
        load = problem.load(t)
        prescribed = constraints.values(t)
        u[constraints.dofs[constraints.preset]] = prescribed[constraints.preset]
        force = problem.evaluate(u, t)
        residual = self._residual(u, force, load, prescribed)
        norm = float(np.linalg.norm(residual))
        result.norms.append(norm)
        self.report(0, norm, 0)
        first = norm
        while True:
            if not np.isfinite(norm):
                result.reason = "the residual is not finite"
                return u, force
            if norm <= tolerances.nl_abs_tol or norm == 0.0:
                result.converged, result.reason = True, "nl_abs_tol"
                return u, force
            if len(result.norms) > 1 and norm <= tolerances.nl_rel_tol * first:
                result.converged, result.reason = True, "nl_rel_tol"
                return u, force
            if norm > tolerances.nl_div_tol * first:
                result.reason = "the residual diverged (nl_div_tol)"
                return u, force
            if result.iterations >= tolerances.nl_max_its:
                result.reason = f"no convergence in {tolerances.nl_max_its} iterations (nl_max_its)"
                return u, force
            step, linear = self._direction(residual)
            result.linear_iterations += linear
            found = self._search(u, step, t, norm, load, prescribed)
            if found is None:
                result.reason = "the line search found no smaller residual"
                return u, force
            u, force, residual = found
            norm = float(np.linalg.norm(residual))
            result.norms.append(norm)
            self.report(result.iterations, norm, linear)

    def _direction(self, residual: np.ndarray) -> tuple[np.ndarray, int]:
        problem = self.problem
        constraints = problem.constraints
        free = len(constraints.free)
        matrix, elements = problem.stiffness()
        step = np.zeros(problem.discretisation.n_dofs)
        step[constraints.dofs] = -residual[free:]
        right = -residual[:free]
        if np.any(step):
            local = np.einsum("eij,ej->ei", elements, step[problem.discretisation.dofs])
            moved = np.bincount(problem.discretisation.dofs.ravel(), weights=local.ravel(), minlength=len(step))
            right = right - moved[constraints.free]
        began = clock.perf_counter()
        solution = self.solver.solve(matrix, right)
        problem.timing.solve += clock.perf_counter() - began
        step[constraints.free] = solution.x
        return step, solution.iterations

    def _search(
        self, u: np.ndarray, step: np.ndarray, t: float, norm: float, load: np.ndarray, prescribed: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """The full step, or with a line search a shorter one that lowers the residual."""
        problem = self.problem
        trial = u + step
        force = problem.evaluate(trial, t)
        residual = self._residual(trial, force, load, prescribed)
        if self.tolerances.line_search in ("none", "basic"):
            return trial, force, residual
        length = 1.0
        while not np.linalg.norm(residual) <= (1.0 - self.SUFFICIENT * length) * norm:
            if self._at_rounding(residual, force):
                return trial, force, residual
            length *= 0.5
            if length < self.SHORTEST:
                return None
            trial = u + length * step
            force = problem.evaluate(trial, t, tangent=False)
            residual = self._residual(trial, force, load, prescribed)
        if length < 1.0:
            force = problem.evaluate(trial, t)
            residual = self._residual(trial, force, load, prescribed)
        return trial, force, residual

    def _at_rounding(self, residual: np.ndarray, force: np.ndarray) -> bool:
        """True when the residual is rounding noise of the internal forces, so that it cannot fall further."""
        return bool(np.linalg.norm(residual) <= 1e-13 * np.linalg.norm(force))
