"""What tests of all rooms share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import artifacts
import pytest


@pytest.fixture(scope="session", autouse=True)
def cache_of_this_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests neither use nor fill the user's cache of compiled graphs, unless one is chosen for them."""
    if os.environ.get("MATLAW_CACHE_DIR"):
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MATLAW_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


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
def shared_law(artifact: Callable[[str], Path]) -> Callable[..., Any]:
    """``shared_law("j2_viscoplastic", "inductor")`` loads a shared artifact with the graphs of that backend.

    With ``eager`` it is the same law evaluated from its input file. Options are those of ``load_model``.
    """

    def load(law: str, runs_on: str, **options: Any) -> Any:
        from matlaw import load_model

        if runs_on == "eager":
            return load_model(artifacts.MODELS / f"{law}.i", "model", **options)
        made = artifact(f"{law}-both" if runs_on == "inductor" else f"{law}-native")
        return load_model(made / "model_aoti.i", "model", backend=runs_on, **options)

    return load


@pytest.fixture(scope="session")
def models() -> Path:
    """The folder of the example input files."""
    return artifacts.MODELS
