"""Which variable has which sub-batch axes.

An input file declares the axes of inputs; those of everything else follow. A model is evaluated once with zeros of
the declared extents, and what comes out tells the extents of its outputs. Unknowns of an implicit update take the
extents of their residuals, and an old value those of the variable itself.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch

from matlaw.errors import FatalError, InputFileError
from matlaw.models.common import AOTIModel, ComposedModel, ImplicitUpdate
from matlaw.models.model import Model
from matlaw.models.provenance import described
from matlaw.models.variable import Variable

Shape = tuple[int, ...]
Shapes = Mapping[str, Shape]

#: Extents only ever grow, so that a handful of passes settles any model.
_PASSES = 8


def assign_sub_batch(model: Model, declared: Shapes) -> None:
    """Sets the sub-batch shapes of all variables of a model and of its members.

    :param model: changed in place
    :param declared: extents by variable; an old value ``x~1`` that is not there has those of ``x``
    :raises InputFileError: a name is not a variable of the model, a declared output has other extents, or the model
        cannot be evaluated with these extents
    """
    known = _variables(model)
    for name in declared:
        if name not in known:
            raise InputFileError(
                f"{model.location}: [Settings]/example_batch_shape names '{name}', which is no variable of model "
                f"'{model.name}'; its variables are: {', '.join(known)}"
            )
    given = {name: _declared(name, declared) or v.sub_batch_shape for name, v in model.inputs.items()}
    for _ in range(_PASSES):
        found = _infer(model, given, declared)
        follow = {}
        for name in model.inputs:
            current = name.partition("~")[0]
            if current != name and current in found and _declared(name, declared) is None:
                follow[name] = found[current]
        if all(given[name] == shape for name, shape in follow.items()):
            break
        given.update(follow)
    for name, shape in found.items():
        if name in declared and declared[name] != shape:
            raise InputFileError(
                f"{model.location}: output '{name}' has sub-batch shape {shape}, but [Settings]/example_batch_shape "
                f"declares {declared[name]}"
            )


def _declared(name: str, declared: Shapes) -> Shape | None:
    return declared.get(name, declared.get(name.partition("~")[0]))


def _variables(model: Model) -> dict[str, None]:
    """Names of all variables of a model and of its members."""
    found = dict.fromkeys([*model.inputs, *model.outputs])
    members: list[Model] = []
    if isinstance(model, ComposedModel):
        members = model.children
    elif isinstance(model, ImplicitUpdate):
        members = [model.system.model]
    for member in members:
        found |= _variables(member)
    return found


def _infer(model: Model, given: Shapes, declared: Shapes) -> dict[str, Shape]:
    """The extents of the outputs, with those of the inputs given; sets both."""
    if isinstance(model, AOTIModel):
        return {name: v.sub_batch_shape for name, v in model.outputs.items()}
    if isinstance(model, ComposedModel):
        state = dict(given)
        for child in model.children:
            state.update(_infer(child, {name: state[name] for name in child.inputs}, declared))
        found = {name: state[name] for name in model.outputs}
    elif isinstance(model, ImplicitUpdate):
        found = _solve(model, given, declared)
    else:
        found = _probe(model, given)
    _set(model.inputs, given)
    _set(model.outputs, found)
    return found


def _set(variables: dict[str, Variable], shapes: Shapes) -> None:
    for name, variable in variables.items():
        variables[name] = Variable(variable.type, shapes[name])


def _solve(update: ImplicitUpdate, given: Shapes, declared: Shapes) -> dict[str, Shape]:
    """The extents of the unknowns, which are those of their residuals."""
    system = update.system
    shapes = {name: _declared(name, declared) or given.get(f"{name}~1", ()) for name in system.unknowns}
    if update.predictor is not None:
        _infer(update.predictor, {name: given[name] for name in update.predictor.inputs}, declared)
    for _ in range(_PASSES):
        state = {**{name: given[name] for name in system.givens}, **shapes}
        residuals = _infer(system.model, {name: state[name] for name in system.model.inputs}, declared)
        # torch.broadcast_shapes does the same, and imports a computer algebra system for it.
        grown = {
            name: tuple(np.broadcast_shapes(shapes[name], residuals[residual]))
            for name, residual in zip(system.unknowns, system.residuals, strict=True)
        }
        if grown == shapes:
            return shapes
        shapes = grown
    raise InputFileError(f"{update.location}: the sub-batch shapes of the unknowns do not settle: {shapes}")


def _probe(model: Model, given: Shapes) -> dict[str, Shape]:
    """Evaluates a model with zeros."""
    values = {
        name: v.type(torch.zeros(*v.type.base_shape, *given[name], 1, dtype=torch.float64), len(given[name]))
        for name, v in model.inputs.items()
    }
    try:
        with torch.no_grad():
            slots = model.relative_parameters().values()
            results = model.run(values, {slot: slot.first() for slot in slots if slot.value.batch_size != 1})
            return {name: results[name].sub_batch_shape for name in model.outputs}
    except FatalError:
        raise
    except Exception as error:  # a forward function of an extension may raise anything
        of_parameters = {n: s.value.sub_batch_shape for n, s in model.relative_parameters().items()}
        sites = {**given, **{f"parameter {n}": shape for n, shape in of_parameters.items() if shape}}
        shapes = ", ".join(f"{name} {shape}" for name, shape in sites.items())
        raise InputFileError(
            f"{model.location}: cannot be evaluated with the sub-batch shapes {shapes}: {described(error, type(model))}"
        ) from error
