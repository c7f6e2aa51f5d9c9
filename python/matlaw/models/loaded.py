"""The Python files and modules that the user named as extensions, and that were therefore run."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Final

#: By resolved path of a file or folder, or by dotted name.
LOADED: Final[dict[str, ModuleType]] = {}


def loaded_module(name: str) -> ModuleType | None:
    """The module of an extension; None for one that the user did not name.

    :param name: path of a file, or a dotted module name; a file may be elsewhere than an extension of the same name
    """
    if not name.endswith(".py"):
        return LOADED.get(name)
    exact = LOADED.get(str(Path(name).resolve()))
    # The source in an artifact is read from another folder than the one that it was written in.
    alike = [module for place, module in LOADED.items() if Path(place).name == Path(name).name]
    return exact or (alike[0] if len(alike) == 1 else None)
