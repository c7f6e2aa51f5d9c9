"""Cuts a model at its implicit updates."""

from __future__ import annotations

from matlaw.errors import InputFileError
from matlaw.input.suggestion import unknown_name
from matlaw.models import ComposedModel, ImplicitUpdate, Model, ParameterSlot, Variable
from matlaw.trace.program import ForwardSegment, ImplicitSegment, Program


def partition(model: Model) -> Program:
    """The segments of a model.

    Every implicit update is a segment. In front of it comes a forward segment with the models that it depends on;
    all others are evaluated as late as they can be, so that one segment hands little to the next.

    :param model: any model
    """
    children = model.children if isinstance(model, ComposedModel) else [model]
    slots = model.parameter_slots()
    groups: list[list[Model]] = []
    left = list(children)
    while left:
        update = next((m for m in left if isinstance(m, ImplicitUpdate)), None)
        if update is None:
            groups.append(left)
            break
        before = _ancestors(update, left)
        if before:
            groups.append(before)
        groups.append([update])
        left = [m for m in left if m is not update and m not in before]
    segments = [_segment(group, slots) for group in groups]
    _trim(segments, model)
    inputs = dict(model.inputs)
    for name, variable in _old_values_of_ramps(model, children).items():
        inputs.setdefault(name, variable)
    return Program(model.name, inputs, dict(model.outputs), slots, segments)


def _old_values_of_ramps(model: Model, children: list[Model]) -> dict[str, Variable]:
    """What substeps ramp they ramp from its old value, so a host has to hand that over too: one more input.

    :raises InputFileError: an incremental variable is not the host's to set
    """
    found: dict[str, Variable] = {}
    for update in children:
        for name in update.incremental_variables if isinstance(update, ImplicitUpdate) else ():
            where = f"{update.location}: incremental_variables"
            known = [n for n in model.inputs if "~" not in n]
            if "~" in name:
                raise InputFileError(f"{where}: '{name}' is an old value; list '{name.partition('~')[0]}' itself")
            if name not in model.inputs and any(name in m.outputs for m in children):
                raise InputFileError(
                    f"{where}: '{name}' is computed by model '{model.name}' itself, so substeps cannot ramp it; list "
                    f"the inputs that it is computed from instead, out of {', '.join(known)}"
                )
            if name not in model.inputs:
                raise InputFileError(f"{where}: {unknown_name('input', name, known)}")
            found[f"{name}~1"] = model.inputs[name]
    return found


def _ancestors(update: Model, models: list[Model]) -> list[Model]:
    """The models of the list that an update depends on, in order. None of them is implicit: it is the first."""
    producers = {name: m for m in models for name in m.outputs}
    found: list[Model] = []
    pending = list(update.inputs)
    while pending:
        source = producers.get(pending.pop())
        if source is not None and source is not update and source not in found:
            found.append(source)
            pending += source.inputs
    return [m for m in models if m in found]


def _segment(models: list[Model], slots: dict[str, ParameterSlot]) -> ForwardSegment | ImplicitSegment:
    inputs: dict[str, Variable] = {}
    outputs: dict[str, Variable] = {}
    used: set[ParameterSlot] = set()
    for m in models:
        for name, variable in m.inputs.items():
            if name not in outputs:
                inputs.setdefault(name, variable)
        outputs.update(m.outputs)
        used.update(m.relative_parameters().values())
    named = {name: slot for name, slot in slots.items() if slot in used}
    if isinstance(models[0], ImplicitUpdate):
        return ImplicitSegment(inputs, outputs, named, update=models[0])
    return ForwardSegment(inputs, outputs, named, models)


def _trim(segments: list[ForwardSegment | ImplicitSegment], model: Model) -> None:
    """Leaves out of each forward segment's outputs what nobody takes."""
    needed = set(model.outputs)
    for segment in reversed(segments):
        if isinstance(segment, ForwardSegment):
            segment.outputs = {name: v for name, v in segment.outputs.items() if name in needed}
        needed |= set(segment.inputs)
