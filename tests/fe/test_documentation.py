"""docs/fe.md lists what there is, and nothing else."""

from __future__ import annotations

import re

from places import ROOT

import matlaw.fe  # noqa: F401  (registers all objects)
from matlaw.fe.input.registry import lookup, types_of
from matlaw.fe.input.tree import Block, Field
from matlaw.fe.law import Law

TEXT = (ROOT / "docs" / "fe.md").read_text()
SYSTEMS = ("Mesh", "Functions", "ICs", "Kernels", "Materials", "BCs", "AuxKernels", "Postprocessors", "Executioner")
BELOW = {"TimeStepper": "Executioner/TimeStepper", "Predictor": "Executioner/Predictor"}


def table(title: str) -> dict[str, set[str]]:
    """Types under a heading, each with its options and their defaults as they are written."""
    section = TEXT.split(f"### [{title}]\n")[1].split("\n### ")[0]
    rows = [re.split(r" \| ", line.strip("| ")) for line in section.splitlines() if line.startswith("| `")]
    result = {}
    for types, *_, options in rows:
        for name in re.findall(r"`(\w+)`", types):
            result[name] = set(re.findall(r"`([^`]+)`(\\\*)?", options))
    return {name: {option + ("*" if star else "") for option, star in options} for name, options in result.items()}


def test_objects_and_their_options() -> None:
    for system in (*SYSTEMS, *BELOW):
        written = table(BELOW.get(system, system))
        assert sorted(written) == types_of(system), system
        for name, options in written.items():
            parameters = lookup(system, Block("b", "b", "", {"type": Field("type", name, "")})).parameters
            assert {option.split(" = ")[0].rstrip("*") for option in options} == {
                option for option, parameter in parameters.items() if not parameter.ignored
            }, name
            for option in options:
                parameter = parameters[option.split(" = ")[0].rstrip("*")]
                assert option.endswith("*") == parameter.required, (name, option)
                if isinstance(parameter.default, bool | int | float | str):
                    assert option.split(" = ")[1].lower() == str(parameter.default).lower(), (name, option)


def test_options_of_laws() -> None:
    section = TEXT.split("## Laws")[1].split("\n## ")[0]
    written = set()
    for line in section.splitlines():
        if line.startswith("| `"):
            written |= set(re.findall(r"`(\w+)`", line.split(" | ")[0]))
    assert written == set(Law.parameters)
