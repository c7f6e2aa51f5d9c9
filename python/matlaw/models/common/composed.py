"""Models put together by the names of their variables."""

from __future__ import annotations

from matlaw.models.common.implicit_update import ImplicitUpdate
from matlaw.models.context import Context, ParameterSlot
from matlaw.models.declaration import Option
from matlaw.models.model import Model, Overrides, Values
from matlaw.models.registry import register
from matlaw.tensors import Tensor


@register("ComposedModel")
class ComposedModel(Model):
    """Several models as one: an output of one is the input of that name of another.

    The order follows from the dependencies: a model comes after those that produce its inputs, and models of the same
    depth keep the order in which they are listed. Composed models among the members are flattened, and models that
    give parameters of members are added. The outputs are those that no member takes, then ``additional_outputs``.

    A variable that a composed model neither takes nor gives is its own: where another member gives a variable of the
    same name, the composed model stays a member as a whole. One that holds an implicit update is flattened always.

    :ivar children: the members in the order in which they are evaluated
    :ivar parts: the models that are listed, and those that give parameters
    """

    models = Option("list", "the models to compose")
    additional_outputs = Option(
        "list", "outputs of members that are outputs although another takes them", required=False
    )

    def setup(self, context: Context) -> None:
        """Collects the members and sorts them."""
        self._paths: dict[int, str] = {}
        members: list[Model] = []
        names = context.option("models")
        if not names:
            raise context.error("expected at least one model", "models")
        extra: list[str] = list(context.option("additional_outputs"))
        self.parts: list[Model] = [context.model(name, "models") for name in names]
        whole = models_with_own_names(self.parts)
        for part in self.parts:
            self._collect(part, members, extra, whole)
        for member in members:  # grows while it is walked: providers may need providers
            for provider in member.providers:
                self.parts.append(provider)
                self._collect(provider, members, extra, whole)
        producers = self._producers(members, context)
        self.children: list[Model] = _sort(members, producers, context)
        self._boundary(producers, extra, context)

    def _collect(self, model: Model, members: list[Model], extra: list[str], whole: set[int], prefix: str = "") -> None:
        """Adds a member, or the members of a composed one, once.

        :param whole: identities of composed models that are not flattened
        :param prefix: path of the composed model that it is a member of
        """
        if isinstance(model, ComposedModel) and whole and id(model) not in whole:
            for part in model.parts:
                self._collect(part, members, extra, whole, f"{prefix}{model.name}.")
            extra.extend(model.exposed)
        elif isinstance(model, ComposedModel) and not whole:
            for child in model.children:
                if id(child) not in self._paths:
                    self._paths[id(child)] = f"{model.name}.{model._paths[id(child)]}"
                    members.append(child)
            extra.extend(model.exposed)
        elif id(model) not in self._paths:
            self._paths[id(model)] = prefix + model.name
            members.append(model)
            if isinstance(model, ComposedModel):
                extra.extend(model.exposed)

    def _producers(self, members: list[Model], context: Context) -> dict[str, Model]:
        """The member that gives each output."""
        producers: dict[str, Model] = {}
        for member in members:
            for name, variable in member.outputs.items():
                if name in producers:
                    raise context.error(
                        f"variable '{name}' has two producers: model '{producers[name].name}' "
                        f"({producers[name].location}) and model '{member.name}' ({member.location})",
                        "models",
                    )
                producers[name] = member
                del variable
        for member in members:
            for name, variable in member.inputs.items():
                source = producers.get(name)
                if source is not None and source.outputs[name].type is not variable.type:
                    raise context.error(
                        f"variable '{name}' is {source.outputs[name].type.__name__} in model '{source.name}' and "
                        f"{variable.type.__name__} in model '{member.name}'",
                        "models",
                    )
        return producers

    def _boundary(self, producers: dict[str, Model], extra: list[str], context: Context) -> None:
        """Inputs, outputs and the additional outputs that this model makes visible."""
        taken = {name for child in self.children for name in child.inputs}
        for child in self.children:
            for name, variable in child.inputs.items():
                if name not in producers:
                    self.add_input(name, variable, context, "models")
            for name, variable in child.outputs.items():
                if name not in taken:
                    self.outputs[name] = variable
        for name in extra:
            if name not in producers:
                raise context.unknown("output of a member", name, list(producers), "additional_outputs")
            self.outputs.setdefault(name, producers[name].outputs[name])
        #: Outputs that stay outputs when this model is a member of another.
        self.exposed: list[str] = [name for name in dict.fromkeys(extra) if name in taken]

    def relative_parameters(self) -> dict[str, ParameterSlot]:
        """Those of the members, qualified by their paths; a shared slot has the first path found."""
        found: dict[str, ParameterSlot] = {}
        seen: set[int] = set()
        for child in self.children:
            for name, slot in child.relative_parameters().items():
                if id(slot) not in seen:
                    seen.add(id(slot))
                    found[f"{self._paths[id(child)]}.{name}"] = slot
        return found

    def run(self, values: Values, overrides: Overrides) -> dict[str, Tensor]:
        """Evaluates the members in order."""
        state = dict(values)
        for child in self.children:
            state.update(child.run(state, overrides))
        return {name: state[name] for name in self.outputs}


def models_with_own_names(parts: list[Model]) -> set[int]:
    """Identities of the composed models, at any depth, with a variable of their own that another model gives, too.

    :param parts: models that are to be one
    """
    leaves: list[tuple[Model, tuple[ComposedModel, ...]]] = []

    def walk(model: Model, inside: tuple[ComposedModel, ...]) -> None:
        if isinstance(model, ComposedModel):
            for part in model.parts:
                walk(part, (*inside, model))
        else:
            leaves.append((model, inside))

    for part in parts:
        walk(part, ())
    found: set[int] = set()
    for composed in {id(c): c for _, inside in leaves for c in inside}.values():
        members = [leaf for leaf, inside in leaves if any(c is composed for c in inside)]
        if any(isinstance(leaf, ImplicitUpdate) for leaf in members):
            continue
        own = {name: leaf for leaf in members for name in leaf.outputs if name not in composed.outputs}
        for leaf, inside in leaves:
            if not any(c is composed for c in inside) and any(own.get(n, leaf) is not leaf for n in leaf.outputs):
                found.add(id(composed))
    return found


def _sort(members: list[Model], producers: dict[str, Model], context: Context) -> list[Model]:
    """Members by depth: first those that need no other member, then those that need only these, and so on.

    :raises InputFileError: when members need each other in a circle; the message walks along it
    """
    needs = {
        id(m): [producers[name] for name in m.inputs if name in producers and producers[name] is not m] for m in members
    }
    for m in members:
        loops = [name for name in m.inputs if producers.get(name) is m]
        if loops:
            raise context.error(f"model '{m.name}' takes its own output '{loops[0]}' ({m.location})", "models")
    ordered: list[Model] = []
    done: set[int] = set()
    rest = list(members)
    while rest:
        ready = [m for m in rest if all(id(n) in done for n in needs[id(m)])]
        if not ready:
            raise context.error(f"cyclic dependency: {_cycle(rest, needs, done)}", "models")
        ordered += ready
        done.update(id(m) for m in ready)
        rest = [m for m in rest if id(m) not in done]
    return ordered


def _cycle(rest: list[Model], needs: dict[int, list[Model]], done: set[int]) -> str:
    """One circle among the models that are left, written out."""
    path: list[Model] = [rest[0]]
    while path[-1] not in path[:-1]:
        path.append(next(n for n in needs[id(path[-1])] if id(n) not in done))
    circle = path[path.index(path[-1]) :][::-1]
    return " -> ".join(f"'{m.name}'" for m in circle)
