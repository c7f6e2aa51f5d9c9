"""What a model becomes when it is cut at its implicit updates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from matlaw.models import ComposedModel, ImplicitUpdate, Krylov, Leaf, Model, Newton, ParameterSlot, Variable
from matlaw.models.variable import newer, old
from matlaw.state_pair import StatePair
from matlaw.tensors import Tensor
from matlaw.tensors.sub_batch import expand_sub_batch

Values = Mapping[str, Tensor]


@dataclass
class Segment:
    """A part of a program.

    :ivar inputs: what it takes from the state map, by name
    :ivar outputs: what it puts there
    :ivar slots: the parameters that it uses, by the qualified names of the program
    """

    inputs: dict[str, Variable]
    outputs: dict[str, Variable]
    slots: dict[str, ParameterSlot]

    @property
    def parameters(self) -> list[str]:
        """Qualified names of the parameters that it uses."""
        return list(self.slots)

    def overrides(self, parameters: Values | None) -> dict[ParameterSlot, Tensor]:
        """Slots and values for the given names; names of other segments are left out."""
        return {slot: parameters[name] for name, slot in self.slots.items() if name in parameters} if parameters else {}


@dataclass
class ForwardSegment(Segment):
    """Models that are evaluated one after the other.

    :ivar models: the models in order
    """

    models: list[Model] = field(default_factory=list)

    def value(self, values: Values, parameters: Values | None = None) -> dict[str, Tensor]:
        """The outputs by name. A pure function.

        :param values: at least the inputs
        :param parameters: values by qualified name that replace those of the program; other names do no harm
        """
        overrides = self.overrides(parameters)
        state = {name: values[name] for name in self.inputs}
        for model in self.models:
            state.update(model.run(state, overrides))
        return {name: state[name] for name in self.outputs}


@dataclass
class ImplicitSegment(Segment):
    """The unknowns of a nonlinear system.

    :ivar update: the model
    :ivar unknowns: what is solved for, by name; the outputs
    :ivar givens: what the residual takes besides
    """

    update: ImplicitUpdate = field(kw_only=True)

    @property
    def unknowns(self) -> dict[str, Variable]:
        """What is solved for, by name."""
        return self.update.system.unknown_variables

    @property
    def givens(self) -> dict[str, Variable]:
        """What the residual takes besides, by name."""
        return self.update.system.given_variables

    @property
    def solver(self) -> Newton:
        """Tolerances and iteration limit."""
        return self.update.solver

    @property
    def solver_config(self) -> dict[str, Any]:
        """Settings of the solver under the runtime's names, with how far an increment may be cut."""
        config = {**self.solver.as_config(), "max_substepping_level": self.update.max_substepping_level}
        solvers = {
            "krylov": self.solver.linear_solver,
            "input_sensitivity": self.update.input_sensitivity,
            "param_sensitivity": self.update.param_sensitivity,
        }
        return config | {name: s.settings() for name, s in solvers.items() if isinstance(s, Krylov)}

    @property
    def predictor(self) -> Model | None:
        """Model of the initial guess."""
        return self.update.predictor

    def residual(self, unknowns: Values, givens: Values, parameters: Values | None = None) -> dict[str, Tensor]:
        """The residual of each unknown, keyed and ordered like the unknowns. A pure function.

        :param unknowns: the unknowns by name
        :param givens: at least the givens
        :param parameters: values by qualified name that replace those of the program
        """
        system = self.update.system
        state = {name: givens[name] for name in system.givens}
        state.update({name: unknowns[name] for name in system.unknowns})
        found = system.model.run(state, self.overrides(parameters))
        return {
            u: expand_sub_batch(found[r], state[u].sub_batch_shape)
            for u, r in zip(system.unknowns, system.residuals, strict=True)
        }

    def predict(self, values: Values, parameters: Values | None = None) -> dict[str, Tensor]:
        """The initial guess of each unknown: the predictor's, else the old value's, else zero.

        :param values: at least the inputs
        """
        found: dict[str, Tensor] = {}
        if self.predictor is not None:
            found = self.predictor.run({n: values[n] for n in self.predictor.inputs}, self.overrides(parameters))
        guesses = {}
        like = next(iter(values.values()), None)
        for name, variable in self.unknowns.items():
            last = values.get(old(name)) if self.predictor is None else None
            if name in found:
                guesses[name] = found[name]
            elif last is not None and old(name) in self.inputs:
                guesses[name] = last
            else:
                zero = variable.type.zeros()
                guesses[name] = zero if like is None else zero.to(like.dtype, like.device)
            if guesses[name].sub_batch_ndim < variable.sub_batch_ndim or 1 in guesses[name].sub_batch_shape:
                guesses[name] = expand_sub_batch(guesses[name], variable.sub_batch_shape)
        return guesses


@dataclass
class Program:
    """Segments that run in order over a shared map from names to tensors.

    :ivar name: name of the model
    :ivar inputs: the inputs of the whole, by name
    :ivar outputs: its outputs, by name
    :ivar slots: its parameters, by qualified name
    :ivar segments: the parts, in order
    """

    name: str
    inputs: dict[str, Variable]
    outputs: dict[str, Variable]
    slots: dict[str, ParameterSlot]
    segments: list[ForwardSegment | ImplicitSegment]

    @property
    def parameters(self) -> dict[str, Tensor]:
        """Values of the parameters by qualified name."""
        return {name: slot.value for name, slot in self.slots.items()}

    @property
    def state_pairs(self) -> list[StatePair]:
        """Variables whose old value is an input, in the order of these inputs.

        ``x~2`` follows ``x~1``, which is an input. An old value of which neither an output nor an input of the program
        is what it follows is left out: the host has to know where it comes from.
        """
        pairs = []
        for name, variable in self.inputs.items():
            current = newer(name)
            if current is None:
                continue
            initial = (0.0,) * variable.size
            if current in self.outputs:
                pairs.append(StatePair(current, name, "state", initial))
            elif current in self.inputs:
                pairs.append(StatePair(current, name, "force", initial))
        return pairs

    @property
    def unpaired_old_values(self) -> list[tuple[str, str]]:
        """Inputs that are old values, and what they follow: the name of no input and no output.

        No host that carries :attr:`state_pairs` from step to step can give these.
        """
        followed = [(name, newer(name)) for name in self.inputs]
        return [(o, x) for o, x in followed if x is not None and x not in self.outputs and x not in self.inputs]

    @property
    def times(self) -> list[tuple[str, str]]:
        """Inputs ``(t, t~1)`` that are time and its old value, in the order of the inputs.

        Leaves say which of their inputs are time. A host has to make it advance from step to step.
        """
        names = {name for segment in self.segments for leaf in leaves(segment) for name in leaf.times}
        return [(name, old(name)) for name in self.inputs if name in names and old(name) in self.inputs]


def models_of(segment: ForwardSegment | ImplicitSegment) -> list[Model]:
    """The models that a segment evaluates, those inside others too, that of a predictor last."""
    if isinstance(segment, ForwardSegment):
        return within(segment.models)
    return within([segment.update.system.model]) + within([segment.predictor] if segment.predictor is not None else [])


def within(models: Sequence[Model]) -> list[Model]:
    """Models and those inside them."""
    pending = list(models)
    found = []
    while pending:
        model = pending.pop()
        pending += model.children if isinstance(model, ComposedModel) else []
        found.append(model)
    return found


def leaves(segment: ForwardSegment | ImplicitSegment) -> list[Leaf]:
    """The leaves that a segment evaluates."""
    return [model for model in models_of(segment) if isinstance(model, Leaf)]
