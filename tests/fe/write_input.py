"""Input files as text, from their parts."""

from __future__ import annotations

from collections.abc import Mapping

Fields = Mapping[str, object]


def block(name: str, fields: Fields, indent: int = 0) -> str:
    """A block; a value that is a mapping is a block inside it."""
    pad = "  " * indent
    lines = [f"{pad}[{name}]"]
    for key, value in fields.items():
        if isinstance(value, Mapping):
            lines.append(block(key, value, indent + 1))
        else:
            lines.append(f"{pad}  {key} = '{value}'")
    return "\n".join([*lines, f"{pad}[]"])


def text(**blocks: Fields) -> str:
    """An input file; ``Executioner`` is one step, ``Outputs`` is CSV, unless given."""
    whole: dict[str, Fields] = {
        "Executioner": {"type": "Transient", "num_steps": 1, "nl_rel_tol": 1e-11, "nl_abs_tol": 1e-11},
        "Outputs": {"csv": "true"},
        **blocks,
    }
    return "\n".join(block(name, fields) for name, fields in whole.items()) + "\n"


def solid(dim: int, mesh: Fields, **blocks: Fields) -> str:
    """Small-strain solid mechanics with the law ``law.i`` everywhere; ``physics`` replaces options of the shorthand."""
    names = " ".join(f"disp_{axis}" for axis in "xyz"[:dim])
    physics = {"add_variables": "true", "strain": "SMALL", **blocks.pop("physics", {})}
    return text(
        GlobalParams={"displacements": names},
        Mesh=mesh,
        **{"Physics/SolidMechanics/QuasiStatic": {"all": physics}},
        **{"Matlaw": {"law": {"input": "law.i"}}, **blocks},
    )


def generated(dim: int, kind: str, n: int = 2, **fields: object) -> Fields:
    """A box of ``n`` cells along each edge."""
    counts = {f"n{axis}": n for axis in "xyz"[:dim]}
    return {"box": {"type": "GeneratedMeshGenerator", "dim": dim, "elem_type": kind, **counts, **fields}}


def dirichlet(variable: str, boundary: str, value: object) -> Fields:
    """A value, or a function of place and time."""
    if isinstance(value, str):
        return {"type": "FunctionDirichletBC", "variable": variable, "boundary": boundary, "function": value}
    return {"type": "DirichletBC", "variable": variable, "boundary": boundary, "value": value}
