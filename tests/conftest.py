"""What tests of all rooms share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import artifacts
import pytest


@pytest.fixture(scope="session")
def artifact() -> Callable[[str], Path]:
    """``artifact("j2_viscoplastic-native")`` is the folder with ``model/`` and the stub; compiled when needed."""
    known: dict[str, Path] = {}

    def get(name: str) -> Path:
        if name not in known:
            known[name] = artifacts.shared_artifact(name)
        return known[name]

    return get


@pytest.fixture(scope="session")
def models() -> Path:
    """The folder of the example input files."""
    return artifacts.MODELS
