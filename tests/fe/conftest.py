"""What the tests of the finite-element host share."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import stand_in
from spec_plugin import pytest_generate_tests, runs

__all__ = ["pytest_generate_tests", "runs"]


@pytest.fixture
def stand_in_law(monkeypatch: pytest.MonkeyPatch) -> Callable[[object], None]:
    """Makes matlaw-fe use a law written in NumPy, whatever file the input names."""

    def use(law: object) -> None:
        monkeypatch.setattr("matlaw.fe.law.load_model", lambda path, name: law)
        monkeypatch.setattr("matlaw.fe.law.QuadratureBatch", stand_in.Batch)

    return use
