"""Systems of nonlinear equations."""

from __future__ import annotations

from matlaw.models.context import Context
from matlaw.models.declaration import Option
from matlaw.models.registry import register
from matlaw.models.variable import Variable


@register("NonlinearSystem", section="EquationSystems")
class NonlinearSystem:
    """The equations ``residuals(unknowns, givens) = 0`` of a model.

    :ivar model: the model that evaluates the residuals
    :ivar unknowns: inputs of the model that are solved for
    :ivar residuals: outputs of the model, one for each unknown, of the same size
    :ivar givens: the other inputs of the model
    """

    model_ = Option("str", "the model that evaluates the residuals")
    unknowns_ = Option("list", "the unknowns")
    residuals_ = Option("list", "their residuals, by default <unknown>_residual", required=False)
    structure_ = Option("list", "structure of the Jacobian", required=False)

    def __init__(self, context: Context) -> None:
        self.name = context.name
        self.location = context.location
        if context.given("structure"):
            raise context.error(
                "option 'structure' is not supported yet; the Jacobian is dense. Remove it", "structure"
            )
        for option in ("unknowns", "residuals"):
            if len(context.groups(option)) > 1:
                raise context.error("groups of variables (separated by ';') are not supported yet", option)
        self.model = context.model(context.option("model"), "model")
        self.unknowns: list[str] = context.option("unknowns")
        self.residuals: list[str] = context.option("residuals") or [f"{name}_residual" for name in self.unknowns]
        self._check(context)
        self.givens = [name for name in self.model.inputs if name not in self.unknowns]

    def _check(self, context: Context) -> None:
        """Every unknown is an input, every residual an output, and sizes agree pairwise."""
        model = self.model
        if not self.unknowns or len(set(self.unknowns)) != len(self.unknowns):
            raise context.error("expected one or more different unknowns", "unknowns")
        if len(self.residuals) != len(self.unknowns) or len(set(self.residuals)) != len(self.residuals):
            raise context.error(
                f"expected {len(self.unknowns)} different residuals, one for each unknown, got {len(self.residuals)}",
                "residuals",
            )
        for unknown, residual in zip(self.unknowns, self.residuals, strict=True):
            if unknown not in model.inputs:
                raise context.unknown(f"input of model '{model.name}'", unknown, list(model.inputs), "unknowns")
            if residual not in model.outputs:
                option = "residuals" if context.given("residuals") else "unknowns"
                raise context.unknown(
                    f"output of model '{model.name}' (residual of '{unknown}')", residual, list(model.outputs), option
                )
            a, b = model.inputs[unknown], model.outputs[residual]
            if a.shape != b.shape:
                raise context.error(
                    f"unknown '{unknown}' is {a.type.__name__}, but its residual '{residual}' is {b.type.__name__}",
                    "unknowns",
                )

    @property
    def unknown_variables(self) -> dict[str, Variable]:
        """The unknowns by name."""
        return {name: self.model.inputs[name] for name in self.unknowns}

    @property
    def given_variables(self) -> dict[str, Variable]:
        """The givens by name."""
        return {name: self.model.inputs[name] for name in self.givens}
