"""Importing the compiled half of matlaw, and saying what is wrong where it does not fit the torch that is installed."""

from __future__ import annotations

import re
from importlib import import_module, metadata
from types import ModuleType


def load_core() -> ModuleType:
    """Return ``matlaw._core``.

    :raises ImportError: it is not there, or was built for another release of torch, which the message then names
    """
    try:
        return import_module("matlaw._core")
    except ImportError as error:
        remedy = wrong_torch()
        if remedy is None:
            raise
        raise ImportError(f"{remedy} (while loading: {error})") from error


def wrong_torch() -> str | None:
    """Return what is wrong with the torch that is installed; ``None`` where it is of the release that matlaw needs."""
    try:
        installed = metadata.version("torch")
        needs = metadata.requires("matlaw") or []
    except metadata.PackageNotFoundError as error:
        return f"the package {error.name} is not installed beside matlaw; install it"
    for requirement in needs:
        release = re.match(r"torch\b.*>=\s*(\d+\.\d+)", requirement)
        if release is not None and not installed.startswith(release[1] + "."):
            return (
                f"matlaw was built for torch {release[1]}, but torch {installed} is installed. "
                f"Install torch {release[1]}, or rebuild matlaw against the torch that is there."
            )
    return None
