"""How the arrays of the UMAT interface and a law's variables belong together, derived from names and types.

What is derived is written into the settings of the plugin, all of it, so that it can be read and changed there; the
plugin itself derives nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from matlaw.errors import FatalError

#: What the host gives, by the names that inputs of laws have; each with the types that it fits.
_BY_NAME: dict[str, tuple[str, tuple[str, ...]]] = {
    "t": ("time", ("Scalar",)),
    "time": ("time", ("Scalar",)),
    "dt": ("time_increment", ("Scalar",)),
    "time_increment": ("time_increment", ("Scalar",)),
    "T": ("temperature", ("Scalar",)),
    "temperature": ("temperature", ("Scalar",)),
    "strain_increment": ("strain_increment", ("SR2",)),
    "strain_rate": ("strain_rate", ("SR2",)),
    "deformation_rate": ("strain_rate", ("SR2",)),
    "vorticity": ("spin", ("WR2", "Vec")),
    "spin": ("spin", ("WR2", "Vec")),
    "F": ("deformation_gradient", ("R2",)),
    "deformation_gradient": ("deformation_gradient", ("R2",)),
}
_OLD = {
    "strain": "old_strain",
    "deformation_gradient": "old_deformation_gradient",
    "time": "old_time",
    "temperature": "old_temperature",
    "predef": "old_predef",
}
#: Of a quantity: what the host's arrays are, for the comments in the settings.
MEANING = {
    "strain": "STRAN + DSTRAN",
    "old_strain": "STRAN",
    "strain_increment": "DSTRAN",
    "strain_rate": "DSTRAN / DTIME",
    "spin": "axial vector of the spin, from DROT and DTIME",
    "deformation_gradient": "DFGRD1",
    "old_deformation_gradient": "DFGRD0",
    "stress": "STRESS",
    "time": "TIME(2) + DTIME",
    "old_time": "TIME(2)",
    "step_time": "TIME(1) + DTIME",
    "time_increment": "DTIME",
    "temperature": "TEMP + DTEMP",
    "old_temperature": "TEMP",
    "predef": "PREDEF + DPRED",
    "old_predef": "PREDEF",
    "props": "PROPS",
    "statev": "STATEV",
    "value": "a constant",
    "unused": "not handed to the host",
}
#: Tensors that turn with the material.
_TURNING = ("SR2", "R2", "Vec", "WR2")


class Variable(NamedTuple):
    """A variable of the law.

    :ivar size: components of all its tensors together
    """

    name: str
    type: str
    size: int


@dataclass
class Mapping:
    """What every variable of a law is to a UMAT host.

    :ivar inputs: of every input of the law, by name: what it is, as the settings say it (``strain``, ``statev 3`` ...)
    :ivar outputs: of every output
    :ivar parameters: of every parameter that can be changed
    :ivar initial: initial values of old state variables, where they are not those of the law
    :ivar statev: entries of STATEV in order: name, type, first entry, number of entries
    :ivar started: entry that tells that the state has got its initial values; 0 when it starts from zero
    :ivar out_of_plane: first entry of the strains without stress, in plane stress
    :ivar variables: of both sides, by name
    """

    inputs: dict[str, str] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, str] = field(default_factory=dict)
    initial: dict[str, list[float]] = field(default_factory=dict)
    statev: list[tuple[str, str, int, int]] = field(default_factory=list)
    started: int = 0
    out_of_plane: int = 0
    variables: dict[str, Variable] = field(default_factory=dict)

    @property
    def n_statev(self) -> int:
        """Entries of STATEV where the host has all strains that the law needs: 3-D, plane strain, axial symmetry."""
        return self.out_of_plane - 1

    def n_statev_free(self, n_free: int) -> int:
        """Entries of STATEV where `n_free` strains are found from zero stresses."""
        return self.n_statev + n_free

    def start_from(self, name: str, values: Iterable[float]) -> None:
        """Give a state variable an initial value.

        :param name: of the state variable, or of its old value
        :param values: its components as the law has them (Mandel components of a symmetric tensor)
        :raises FatalError: it is no state variable, or has another number of components
        """
        old, value = name if name.endswith("~1") else f"{name}~1", list(values)
        if not self.inputs.get(old, "").startswith("statev"):
            known = ", ".join(entry[0] for entry in self.statev) or "none"
            raise FatalError(f"'{name}' is no state variable; the law has {known}")
        if len(value) != self.variables[old].size:
            raise FatalError(f"'{name}' has {self.variables[old].size} components; {len(value)} were given")
        self.initial[old] = value
        if not self.started:
            self.started = self.out_of_plane
            self.out_of_plane += 1

    def table(self) -> list[tuple[str, str, str, str]]:
        """Rows for people: entries, variable, type, what the entries are."""
        rows = []
        for name, kind, first, size in self.statev:
            last = first + size - 1
            order = "xx yy zz xy xz yz" if kind == "SR2" else "" if size == 1 else f"{size} components, row by row"
            if kind == "SR2" and size > 6:
                order += f", {size // 6} times"
            rows.append((str(first) if size == 1 else f"{first}-{last}", name, kind, order))
        if self.started:
            rows.append((str(self.started), "", "", "0 until the state has its initial values"))
        return rows


def derive(law: Any, parameters: Iterable[str] = ()) -> Mapping:
    """Derive the mapping of a law.

    * the strain is the input of type SR2 by which the stress has a derivative, or the one called so; the stress the
      output of type SR2 that has one; `x~1` is the old value of `x`
    * state variables lie in STATEV in the order of the law's state pairs, but for a stress: the host keeps that
    * symmetric tensors, vectors and matrices in STATEV turn with the material, unless the law takes the spin or the
      deformation gradient and so turns them itself
    * the parameters named come from PROPS, scalars that nothing else gives from PREDEF, in order

    :param law: what :func:`matlaw.load_model` gives
    :param parameters: those that the host sets
    :raises FatalError: the law has no stress and strain, or an input that no UMAT host gives
    """
    inputs = _variables(law.input_names, law.input_types, law.input_base_shapes, law.input_sub_batch_shapes)
    outputs = _variables(law.output_names, law.output_types, law.output_base_shapes, law.output_sub_batch_shapes)
    pairs = [(pair[0], pair[1]) for pair in law.derivative_pairs]
    olds = {pair.old: pair for pair in law.state_pairs}
    stress = _stress(outputs, pairs)
    mapping = Mapping(variables={v.name: v for v in (*outputs, *inputs)})
    for variable in inputs:
        if variable.name not in olds:
            mapping.inputs[variable.name] = _source(variable, stress, inputs, pairs, olds)
    _number_predef(mapping)
    _check_driven(mapping, stress, pairs)

    turned_by_law = {"spin", "deformation_gradient"} & set(mapping.inputs.values())
    places: dict[str, str] = {}
    entry = 1
    for pair in law.state_pairs:
        variable = mapping.variables[pair.old]
        if pair.role != "state":
            mapping.inputs[pair.old] = _old(mapping, pair)
        elif pair.current == stress.name:
            mapping.inputs[pair.old] = "stress"
        else:
            turns = variable.type in _TURNING and not turned_by_law
            places[pair.current] = f"statev {entry}"
            mapping.inputs[pair.old] = f"statev {entry}{' rotated' if turns else ''}"
            mapping.statev.append((pair.current, variable.type, entry, variable.size))
            entry += variable.size
    if any(any(pair.initial) for pair in law.state_pairs if pair.role == "state"):
        mapping.started = entry
        entry += 1
    mapping.out_of_plane = entry
    for variable in outputs:
        mapping.outputs[variable.name] = (
            "stress" if variable.name == stress.name else places.get(variable.name, "unused")
        )
    for entry, name in enumerate(parameters, start=1):
        mapping.parameters[name] = f"props {entry}"
    mapping.inputs = {v.name: mapping.inputs[v.name] for v in inputs}
    return mapping


def _variables(names: Any, types: Any, bases: Any, sub_batches: Any) -> list[Variable]:
    return [
        Variable(name, kind, math.prod(base) * math.prod(sub_batch))
        for name, kind, base, sub_batch in zip(names, types, bases, sub_batches, strict=True)
    ]


def _stress(outputs: list[Variable], pairs: list[tuple[str, str]]) -> Variable:
    tensors = [v for v in outputs if v.type == "SR2" and v.size == 6]
    for choice in (
        [v for v in tensors if any(output == v.name for output, _ in pairs)],
        [v for v in tensors if v.name in ("stress", "cauchy_stress")],
        tensors,
    ):
        if len(choice) == 1:
            return choice[0]
    names = ", ".join(v.name for v in tensors) or "none"
    raise FatalError(
        f"cannot tell which output of the law is the stress; of type SR2: {names}; compile it with -d STRESS:STRAIN"
    )


def _source(
    variable: Variable, stress: Variable, inputs: list[Variable], pairs: list[tuple[str, str]], olds: dict[str, Any]
) -> str:
    known, types = _BY_NAME.get(variable.name, ("", ()))
    if variable.type in types:
        return known
    if variable.type == "SR2" and variable.size == 6:
        tensors = [v.name for v in inputs if v.type == "SR2" and v.name not in olds and v.name not in _BY_NAME]
        differentiated = [name for name in tensors if (stress.name, name) in pairs]
        if variable.name in (differentiated or tensors) and (
            len(differentiated or tensors) == 1 or variable.name == "strain"
        ):
            return "strain"
    if variable.type == "Scalar" and variable.size == 1:
        return "predef"
    raise FatalError(
        f"the law takes '{variable.name}' ({variable.type}), and no array of the UMAT interface is that; say what it "
        f"is: --set {variable.name}=WHAT, with one of {', '.join(MEANING)}"
    )


def _number_predef(mapping: Mapping) -> None:
    entry = 1
    for name, source in mapping.inputs.items():
        if source == "predef":
            mapping.inputs[name] = f"predef {entry}"
            entry += 1


def _old(mapping: Mapping, pair: Any) -> str:
    kind, *entry = mapping.inputs.get(pair.current, "nothing").split()
    if kind not in _OLD:
        raise FatalError(
            f"the law takes the old value of '{pair.current}', {pair.old}, which the UMAT interface does not give for "
            f"{kind}"
        )
    return " ".join([_OLD[kind], *entry])


def _check_driven(mapping: Mapping, stress: Variable, pairs: list[tuple[str, str]]) -> None:
    driving = [
        name
        for name, source in mapping.inputs.items()
        if source in ("strain", "strain_increment", "strain_rate", "deformation_gradient")
    ]
    if not driving:
        raise FatalError("the law takes no strain, strain increment, strain rate or deformation gradient")
    for name in driving:
        if (stress.name, name) not in pairs:
            raise FatalError(
                f"the law was compiled without the derivative {stress.name}:{name} that DDSDDE needs; "
                f"compile it with -d {stress.name}:{name}"
            )
