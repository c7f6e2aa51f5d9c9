"""Old values that no host can give: those of variables that a law neither takes nor gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matlaw.errors import CompileError
from matlaw.input.suggestion import closest
from matlaw.models import ComposedModel, Model
from matlaw.trace import Program
from matlaw.trace.program import models_of

if TYPE_CHECKING:
    from matlaw.input.input_file import InputFile


def refuse_unpaired_old_values(source: InputFile, program: Program) -> None:
    """Refuse a law with an input ``x~1`` but without ``x``, or ``x~2`` without ``x~1``, among its inputs and outputs.

    :param source: the input file, for the place
    :param program: the law
    :raises CompileError: names the law, the first such input, where it is taken, and what to do
    """
    for name, current in program.unpaired_old_values:
        raise CompileError(
            f"{_place(source, program, name)}: model '{program.name}' takes '{name}', the old value of '{current}', "
            f"but neither takes nor gives '{current}', so that no host knows what to carry from step to step"
            f"{_meant(program, name) or '.'} Correct the name if it is misspelt, or {_remedy(program, current)}"
        )


def _models(program: Program) -> list[Model]:
    """The models that a program evaluates."""
    return [model for segment in program.segments for model in models_of(segment)]


def _place(source: InputFile, program: Program, name: str) -> str:
    """File and line where a model takes the input: of its option if one has the word, else of its block."""
    for model in _models(program):
        if name in model.inputs and not isinstance(model, ComposedModel):
            words = (name, name.partition("~")[0])
            places = [place for word in words for place in source.places_of(word, model.name)]
            return f"{places[0]}: [Models]/[{model.name}]" if places else model.location
    return str(source.path)


def _meant(program: Program, name: str) -> str:
    """The variable of the same type that was probably meant, where none has the name without its age."""
    variables = {**program.outputs, **program.inputs}
    word = name.partition("~")[0]
    alike = {x.partition("~")[0] for x, v in variables.items() if v.type is program.inputs[name].type} - {word}
    return "" if word in variables else closest(word, sorted(alike))


def _remedy(program: Program, current: str) -> str:
    """What to do when the name is right."""
    if any(current in model.outputs for model in _models(program)):
        return f"list '{current}' in additional_outputs"
    return f"compile the model that takes or computes '{current}', not a part of it"
