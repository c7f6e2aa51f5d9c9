"""Models whose outputs solve a nonlinear system."""

from __future__ import annotations

from typing import Any

from matlaw.models.common.nonlinear_system import NonlinearSystem
from matlaw.models.context import Context, ParameterSlot
from matlaw.models.declaration import Option
from matlaw.models.model import Model, Overrides, Values
from matlaw.models.registry import register
from matlaw.models.solvers.dense_lu import DenseLU
from matlaw.models.solvers.linear_solver import LinearSolver, linear_solver
from matlaw.models.solvers.newton import Newton
from matlaw.tensors import Tensor


@register("ImplicitUpdate")
class ImplicitUpdate(Model):
    """The unknowns of a nonlinear system as a function of its givens.

    It has no forward function: what evaluates models cuts them at every implicit update and lets the Newton solver of
    the runtime find the unknowns (see :func:`matlaw.trace.partition`).

    :ivar system: the equations
    :ivar solver: tolerances of the Newton solver
    :ivar input_sensitivity: linear solver for derivatives by inputs; direct unless the input file says otherwise
    :ivar param_sensitivity: linear solver for derivatives by parameters, likewise
    :ivar predictor: model of the initial guess, or None: unknown ``x`` starts from the given ``x~1``, or from zero
    :ivar max_substepping_level: how far an increment that does not converge is cut: down to ``2**-level`` of it
    :ivar incremental_variables: inputs of the law that substeps ramp although the law does not take their old values;
        :func:`matlaw.trace.partition` makes these inputs too
    """

    equation_system = Option("str", "the equations")
    solver_ = Option("str", "the nonlinear solver")
    input_sensitivity_solver = Option("str", "linear solver for derivatives by inputs", required=False)
    param_sensitivity_solver = Option("str", "linear solver for derivatives by parameters", required=False)
    predictor_ = Option("str", "model of the initial guess", required=False)
    max_substepping_level_ = Option("int", "depth of substepping, 0 for none", required=False, default="0")
    incremental_variables_ = Option("list", "inputs that substeps ramp", required=False)

    def setup(self, context: Context) -> None:
        """Finds system, solver and predictor; refuses what is not supported yet."""
        level = context.option("max_substepping_level")
        if not 0 <= level <= 30:
            raise context.error(f"expected a whole number from 0 to 30, got {level}", "max_substepping_level")
        self.max_substepping_level: int = level
        self.system: NonlinearSystem = context.object(
            "EquationSystems", context.option("equation_system"), "equation_system"
        )
        solver: Any = context.object("Solvers", context.option("solver"), "solver")
        if not isinstance(solver, Newton):
            raise context.error(f"'{context.option('solver')}' is not a nonlinear solver", "solver")
        self.solver = solver
        exact = DenseLU() if solver.linear_solver.iterative else solver.linear_solver
        self.input_sensitivity: LinearSolver = linear_solver(context, "input_sensitivity_solver") or exact
        self.param_sensitivity: LinearSolver = linear_solver(context, "param_sensitivity_solver") or exact
        self._check_linear_solvers(context)
        name = context.option("predictor")
        self.predictor: Model | None = context.model(name, "predictor") if name else None
        for given, variable in self.system.given_variables.items():
            self.add_input(given, variable, context, "equation_system")
        if self.predictor is not None:
            self._check_predictor(self.predictor, context)
        self.incremental_variables: list[str] = context.option("incremental_variables") or []
        for unknown, variable in self.system.unknown_variables.items():
            self.add_output(unknown, variable, context, "equation_system")

    def _check_linear_solvers(self, context: Context) -> None:
        """The linear solvers fit the system."""
        for option, solver in (
            ("solver", self.solver.linear_solver),
            ("input_sensitivity_solver", self.input_sensitivity),
            ("param_sensitivity_solver", self.param_sensitivity),
        ):
            problem = solver.check(self.system)
            if problem:
                raise context.error(f"linear solver '{solver.name}' does not fit: {problem}", option)

    def _check_predictor(self, predictor: Model, context: Context) -> None:
        """Its outputs are unknowns, but for by-products of a composed one, and its inputs become inputs."""
        from matlaw.models.common.composed import ComposedModel  # which knows implicit updates itself

        unknowns = self.system.unknown_variables
        composed = isinstance(predictor, ComposedModel) and any(name in unknowns for name in predictor.outputs)
        for output, variable in predictor.outputs.items():
            if output not in unknowns:
                if composed:
                    continue
                raise context.unknown("variable among the unknowns", output, list(unknowns), "predictor")
            if unknowns[output] != variable:
                raise context.error(
                    f"unknown '{output}' is {unknowns[output].type.__name__}, but the predictor gives "
                    f"{variable.type.__name__}",
                    "predictor",
                )
        for name, variable in predictor.inputs.items():
            if name in unknowns:
                raise context.error(f"the predictor takes the unknown '{name}' itself", "predictor")
            self.add_input(name, variable, context, "predictor")

    def relative_parameters(self) -> dict[str, ParameterSlot]:
        """Those of the system's model and of the predictor, qualified by their names."""
        found: dict[str, ParameterSlot] = {}
        for model in (self.system.model, self.predictor):
            if model is not None:
                for name, slot in model.relative_parameters().items():
                    if slot not in found.values():
                        found[f"{model.name}.{name}"] = slot
        return found

    def run(self, values: Values, overrides: Overrides) -> dict[str, Tensor]:
        """Not possible: an implicit update is solved, not evaluated."""
        raise NotImplementedError(
            f"model '{self.name}' is implicit ({self.location}); evaluate it through matlaw.eager.EagerModel, or "
            "compile it"
        )
