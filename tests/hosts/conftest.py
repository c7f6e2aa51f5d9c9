"""Where the tests of the examples of hosts find them."""

from __future__ import annotations

from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "hosts"


@pytest.fixture
def python_hosts(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the Python examples, where modules are imported from."""
    folder = EXAMPLES / "python"
    monkeypatch.syspath_prepend(str(folder))
    return folder
