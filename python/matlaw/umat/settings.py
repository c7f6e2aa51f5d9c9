"""The settings file of a plugin, ``<name>.umat.i``: written with comments that explain each line."""

from __future__ import annotations

from matlaw.errors import FatalError
from matlaw.umat.mapping import MEANING, Mapping

#: How the two families of hosts differ: storage of DDSDDE, answer to a point that fails.
HOSTS = {"moose": ("rows", "throw"), "abaqus": ("columns", "pnewdt")}

_HEAD = """\
# Settings of a UMAT plugin, written by matlaw-umat: which law it is, and what the law's variables are to the host.
# Change what is wrong; everything is read at the first call. Paths are relative to this file.
"""

_WORDS = """\
  # What an input can be:
{inputs}
  #   props N, predef N, old_predef N, statev N: entry N of that array, and those that follow for more components
  #   statev N rotated: turned with the material by DROT first
  #   value X ...: a constant
  # An output is the 'stress', goes to 'statev N', or is 'unused'.
"""


def render(
    mapping: Mapping, law: str, model: str, library: str, host: str, libpython: str = "", python_bin: str = ""
) -> str:
    """The text of the file.

    :param mapping: what the variables are
    :param law: path of the law, relative to the file or absolute
    :param library: path of libmatlaw_umat.so; of several, with ``:`` between them, the first that is there counts
    :param host: a key of :data:`HOSTS`
    :param libpython: for laws that Python evaluates, with `python_bin`, the bin folder of its environment
    """
    order, failure = HOSTS[host]
    quantities = [k for k in MEANING if k not in ("props", "predef", "old_predef", "statev", "value", "unused")]
    words = "\n".join(f"  #   {name + ':':<26}{MEANING[name]}" for name in quantities)
    lines = [
        _HEAD,
        "[Umat]",
        *_line("law", law, "stub, artifact folder, or an input file that is evaluated by Python"),
        *_line("model", model, ""),
        *_line("library", library, "what evaluates it: the first that is there; MATLAW_UMAT_LIBRARY comes first"),
    ]
    if libpython:
        lines += [
            *_line("libpython", libpython, "loaded where the host is no Python itself"),
            *_line("python_bin", python_bin, "of the environment that holds matlaw and torch"),
        ]
    lines += [
        "",
        *_line("ddsdde", order, "how DDSDDE is stored: 'rows' (MOOSE) or 'columns' (Fortran, Abaqus)"),
        "  # A point that fails and that a smaller step may save: 'throw' an exception (MOOSE cuts its step), or",
        "  # 'pnewdt': PNEWDT becomes the law's suggestion (Abaqus). A mistake in the set-up ends the run.",
        *_line("on_failure", failure, ""),
        "  # A host that asks for the same again, MOOSE for the Jacobian after the residual, gets what is remembered.",
        *_line("point_memory", "256", "megabytes of a thread for the results of its points; '0': none"),
        "",
        *_state(mapping),
        "",
        _WORDS.format(inputs=words),
        *_section("inputs", mapping.inputs, mapping),
        *_section("outputs", mapping.outputs, mapping),
    ]
    if mapping.initial:
        lines += [
            "  # Initial values of the state, as the law has it (symmetric tensors: Mandel components).",
            "  [initial]",
            *(f"  {line}" for n, v in mapping.initial.items() for line in _line(n, " ".join(map(repr, v)), "")),
            "  []",
        ]
    if mapping.parameters:
        lines += [
            "  # Parameters that were kept changeable: 'props N' or 'value X'; without a line: the compiled value.",
            *_section("parameters", mapping.parameters, mapping),
        ]
    return "\n".join([*lines, "[]", ""])


def _line(key: str, value: str, comment: str) -> list[str]:
    if any(c in value for c in "'\"\n"):
        raise FatalError(f"{key} = {value}: quotes and line ends cannot be part of it; choose another name or place")
    text = f"  {key} = '{value}'"
    return [f"{text:<40}  # {comment}" if comment else text]


def _state(mapping: Mapping) -> list[str]:
    lines = [f"  # STATEV has {mapping.n_statev} entries (NSTATV) in 3-D, plane strain and axial symmetry:"]
    rows = mapping.table()
    if not rows:
        lines = ["  # The law has no state: STATEV has no entries in 3-D, plane strain and axial symmetry."]
    for entries, name, kind, order in rows:
        lines.append(f"  #   {entries:<8} {name} {kind and f'({kind})'} {order}".rstrip())
    if mapping.started:
        lines += _line("started", f"statev {mapping.started}", "")
    lines += [
        f"  # In plane stress {mapping.n_statev_free(3)}, in uniaxial stress {mapping.n_statev_free(5)}: from here on",
        "  # the strains without stress (zz, yz, xz in plane stress), which the host does not have.",
        *_line("out_of_plane_strain", f"statev {mapping.out_of_plane}", ""),
    ]
    return lines


def _section(name: str, entries: dict[str, str], mapping: Mapping) -> list[str]:
    lines = [f"  [{name}]"]
    for variable, source in entries.items():
        word, *rest = source.split()
        numbers = rest[0] if word in ("props", "predef", "old_predef", "statev") else ""
        known = mapping.variables.get(variable)
        size = known.size if known is not None else 1
        if numbers and size > 1:
            numbers += f"-{int(numbers) + size - 1}"
        comment = f"{known.type + ': ' if known else ''}{MEANING[word]}{f'({numbers})' if numbers else ''}"
        lines += [f"  {line}" for line in _line(variable, source, comment)]
    return [*lines, "  []"]
