"""Systems of nonlinear equations."""

from __future__ import annotations

from matlaw.models.context import Context
from matlaw.models.declaration import Option
from matlaw.models.registry import register
from matlaw.models.variable import Variable

_STRUCTURES = ("block", "dense")


@register("NonlinearSystem", section="EquationSystems")
class NonlinearSystem:
    """The equations ``residuals(unknowns, givens) = 0`` of a model.

    Unknowns and residuals may be grouped by semicolons: a :class:`SchurComplement` solver eliminates one group.
    ``structure`` may say of each group whether the entries of its sub-batch axes are coupled (``dense``) or not
    (``block``); the compiler finds that out by itself, from which residual depends on what.

    :ivar model: the model that evaluates the residuals
    :ivar unknowns: inputs of the model that are solved for
    :ivar residuals: outputs of the model, one for each unknown, of the same size
    :ivar groups: the unknowns by group
    :ivar givens: the other inputs of the model
    """

    model_ = Option("str", "the model that evaluates the residuals")
    unknowns_ = Option("list", "the unknowns")
    residuals_ = Option("list", "their residuals, by default <unknown>_residual", required=False)
    structure_ = Option("list", "block or dense for each group of unknowns", required=False)

    def __init__(self, context: Context) -> None:
        self.name = context.name
        self.location = context.location
        self._check_groups(context)
        self.model = context.model(context.option("model"), "model")
        self.unknowns: list[str] = context.option("unknowns")
        self.groups: list[list[str]] = context.groups("unknowns")
        self.residuals: list[str] = context.option("residuals") or [f"{name}_residual" for name in self.unknowns]
        self._check(context)
        self.givens = [name for name in self.model.inputs if name not in self.unknowns]

    def _check_groups(self, context: Context) -> None:
        """Groups, separated by semicolons, and their structures agree in number."""
        groups = context.groups("unknowns")
        if context.given("residuals"):
            unknowns, residuals = (
                [len(group) for group in context.groups(option)] for option in ("unknowns", "residuals")
            )
            if sum(unknowns) == sum(residuals) and unknowns != residuals:
                raise context.error(
                    f"expected groups of {_listed(unknowns)} residuals, as the unknowns have, got {_listed(residuals)}",
                    "residuals",
                )
        structure = context.option("structure")
        for token in structure:
            if token.lower() not in _STRUCTURES:
                raise context.unknown("structure", token, list(_STRUCTURES), "structure")
        if structure and len(structure) != len(groups):
            raise context.error(
                f"expected {len(groups)} entries, one for each group of unknowns, got {len(structure)}", "structure"
            )

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


def _listed(counts: list[int]) -> str:
    return ", ".join(map(str, counts))
