"""Where the inputs and parameters of a law come from, and what its outputs are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from matlaw.fe.assembly.points import SidePoints, VolumePoints
from matlaw.fe.input.parameters import Parameter, Values
from matlaw.input.suggestion import closest

if TYPE_CHECKING:
    from matlaw.fe.law import Law
    from matlaw.fe.problem import Problem

SOURCES = ("MATERIAL", "VARIABLE", "FUNCTION", "POSTPROCESSOR", "TIME")

#: parameters of a [Matlaw] entry that name sources and properties
MAPPING: dict[str, Parameter] = {
    **{f"{side}_{what}": Parameter("strings", []) for side in ("law", "moose") for what in ("inputs", "outputs")},
    "moose_input_types": Parameter("strings", [], choices=SOURCES),
    "law_parameters": Parameter("strings", []),
    "moose_parameters": Parameter("strings", []),
    "moose_parameter_types": Parameter("strings", [], choices=SOURCES),
    "law_derivatives": Parameter("strings", []),
    "moose_derivatives": Parameter("strings", []),
    "initialize_outputs": Parameter("strings", []),
    "initialize_output_values": Parameter("reals", []),
}


@dataclass(frozen=True)
class Source:
    """A scalar field that a law takes.

    :ivar kind: one of :data:`SOURCES`
    """

    kind: str
    name: str

    def at(
        self, problem: Problem, points: VolumePoints | SidePoints, rows: np.ndarray, u: np.ndarray, t: float
    ) -> np.ndarray:
        """Values at the points of some elements or sides, ``(len(rows) * n_points,)``."""
        if self.kind == "VARIABLE":
            return problem.field_at(points, self.name, u)[rows].ravel()
        shape = (len(rows), points.n_points)
        if self.kind == "FUNCTION":
            values = problem.functions[self.name].value(t, points.positions[rows].reshape(-1, 3))
            return np.ascontiguousarray(values)
        if self.kind == "TIME":
            return np.full(shape, t).ravel()
        if self.kind == "POSTPROCESSOR":
            return np.full(shape, problem.reported.get(self.name, 0.0)).ravel()
        return problem.properties.given(self.name, points, rows, t).ravel()


def paired(values: Values, one: str, other: str) -> list[tuple[str, str]]:
    """Two lists that go in pairs.

    :raises InputFileError: they have different lengths
    """
    first, second = values[one], values[other]
    if len(first) != len(second):
        raise values.error(f"'{one}' has {len(first)} entries and '{other}' has {len(second)}: they go in pairs")
    return list(zip(first, second, strict=True))


def source_of(problem: Problem, law: Law, what: str, moose: str, kind: str | None, parameter: str) -> Source:
    """The source with a name; without a kind a variable, else a function, else a property.

    :param what: the law's input or parameter, in words
    :raises InputFileError: there is none
    """
    fields = [*problem.unknowns.names, *problem.auxiliary]
    offered: dict[str, Sequence[str]] = {
        "VARIABLE": fields,
        "FUNCTION": list(problem.functions),
        "MATERIAL": problem.given_properties,
        "POSTPROCESSOR": list(problem.root.blocks["Postprocessors"].blocks)
        if "Postprocessors" in problem.root.blocks
        else [],
        "TIME": [moose],
    }
    kinds = (kind.upper(),) if kind is not None else ("VARIABLE", "FUNCTION", "MATERIAL")
    for candidate in kinds:
        if moose in offered[candidate]:
            return Source(candidate, moose)
    known = [one for candidate in kinds for one in offered[candidate]]
    raise law.values.error(
        f"{what} of the law needs '{moose}', but there is no {' or '.join(kinds).lower()} of this name; there are: "
        f"{', '.join(known) or 'none'}{closest(moose, known)}; {law.offer()}",
        parameter,
    )


def read_sources(problem: Problem, law: Law, what: str) -> dict[str, Source]:
    """The sources that ``law_inputs`` and ``moose_inputs`` (or ``..._parameters``) name.

    :param what: ``input`` or ``parameter``
    """
    given = paired(law.values, f"law_{what}s", f"moose_{what}s")
    kinds: list[str | None] = list(law.values[f"moose_{what}_types"]) or [None] * len(given)
    if len(kinds) != len(given):
        raise law.values.error(f"expected {len(given)} words, one for each of moose_{what}s", f"moose_{what}_types")
    return {
        name: source_of(problem, law, f"the {what} '{name}'", moose, kind, f"moose_{what}s")
        for (name, moose), kind in zip(given, kinds, strict=True)
    }


def complete_sources(problem: Problem, law: Law) -> dict[str, Source]:
    """The source of every scalar input of a law: as the entry says, else what has the input's name.

    :raises InputFileError: there is none, or the input is no scalar
    """
    sources = read_sources(problem, law, "input")
    for name in sources:
        if name not in law.scalars:
            raise law.values.error(
                f"the law has no input '{name}' to be supplied{closest(name, law.scalars)}; {law.offer()}", "law_inputs"
            )
    for name in law.scalars:
        if law.inputs[name] != "Scalar":
            raise law.values.error(
                f"the law needs the input '{name}' of type {law.inputs[name]}, which matlaw-fe cannot supply (it gives "
                f"the strain or deformation gradient, the time 't', old state variables, and scalars); {law.offer()}",
                "input",
            )
        if name not in sources:
            sources[name] = source_of(problem, law, f"the input '{name}'", name, None, "input")
    return sources
