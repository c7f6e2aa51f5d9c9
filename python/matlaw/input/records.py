"""What the types of input files take, as plain records: the layout of the catalogue of types, with documentation."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from matlaw.input.input_file import SECTIONS
from matlaw.models.declaration import declarations
from matlaw.models.registry import registered

_GROUPS = {
    "Tensors": "user_tensors",
    "Data": "data",
    "Solvers": "solvers",
    "EquationSystems": "es",
    "Drivers": "drivers",
}


def type_records(sections: Iterable[str] = SECTIONS) -> list[dict[str, Any]]:
    """One record per registered type: ``type``, ``section``, ``group``, ``doc`` and ``options``.

    An option has ``name``, ``role`` (``INPUT``, ``OUTPUT``, ``PARAMETER`` or ``NONE``), ``kind``, ``required``,
    ``default`` and ``doc``.

    >>> [r["type"] for r in type_records(["Tensors"])][0]
    'CSVSR2'
    """
    # The drivers are above this module; they register their types when they are imported.
    import_module("matlaw.drivers")
    return [
        {
            "type": name,
            "section": section,
            "group": _group(section, name, cls),
            "doc": inspect.cleandoc(cls.__doc__ or ""),
            "options": [{**d.record(), "doc": d.doc} for d in declarations(cls)],
        }
        for section in sections
        for name, cls in sorted(registered(section).items())
    ]


def _group(section: str, name: str, cls: type) -> str:
    """Where the type belongs, as ``models/solid_mechanics/plasticity``."""
    if name == "AOTIModel":
        return "aoti"
    module = cls.__module__.split(".")
    if section != "Models" or module[:2] != ["matlaw", "models"]:
        return _GROUPS.get(section, "extension")
    return "/".join(module[1:-1])
