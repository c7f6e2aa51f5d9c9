"""Inputs of a law that may be misspelt words: what names nothing in an input file is an input of the law."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matlaw.input.lookalike import look_alike
from matlaw.models.declaration import Input, Output, Parameter, declarations
from matlaw.trace import Program
from matlaw.trace.program import leaves

if TYPE_CHECKING:
    from matlaw.input.input_file import InputFile


def notes_of_lookalikes(source: InputFile, program: Program) -> list[str]:
    """One line for each input that looks like another variable, a block of the file or an option."""
    known = _known(source, program)
    found: dict[frozenset[str], str] = {}
    for name in program.inputs:
        word = name.partition("~")[0]
        for other, what in known.items():
            pair = frozenset((word, other))
            if pair not in found and look_alike(word, other):
                place = f"{places[0]}: " if (places := source.places_of(name)) else ""
                found[pair] = (
                    f"{place}input '{name}' resembles {what}: a word that names no tensor, model or result of one is "
                    "an input of the law. Correct it if it is misspelt"
                )
    return list(found.values())


def _known(source: InputFile, program: Program) -> dict[str, str]:
    """What a word may have been meant to be, in words, by its name."""
    known: dict[str, str] = {}
    for kind, names in (
        ("output", list(program.outputs)),
        ("input", list(program.inputs)),
        ("variable", [n for s in program.segments for leaf in leaves(s) for n in (*leaf.outputs, *leaf.inputs)]),
    ):
        for name in names:
            known.setdefault(name.partition("~")[0], f"{kind} '{name.partition('~')[0]}'")
    variables = {name.replace("_", "") for name in known}
    for section in ("Models", "Tensors"):
        for name in source.names(section):
            # A model may be called like its result, less an underscore.
            if name not in variables:
                known.setdefault(name, f"block [{section}]/[{name}]")
    for leaf in (leaf for segment in program.segments for leaf in leaves(segment)):
        for declared in declarations(type(leaf)):
            if isinstance(declared, Input | Output | Parameter):
                known.setdefault(declared.option, f"option '{declared.option}' of [Models]/[{leaf.name}]")
    return known
