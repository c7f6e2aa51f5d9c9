"""The tests that docs/spec-000.md, docs/spec-001.md and docs/spec-002.md name are there."""

from __future__ import annotations

import re
from pathlib import Path

import artifacts
import pytest


@pytest.mark.parametrize(("page", "least"), [("spec-000.md", 40), ("spec-001.md", 30), ("spec-002.md", 20)])
def test_every_test_that_the_table_names_exists(page: str, least: int) -> None:
    text = (artifacts.ROOT / "docs" / page).read_text(encoding="utf-8")
    named = re.findall(r"`([\w/]+\.(?:py|cpp))(?:::([\w.]+))?`", text)
    assert len(named) > least
    for file, test in named:
        folder = "tests/python" if file.endswith(".py") else "tests/cpp"
        path = Path(artifacts.ROOT / folder / file)
        assert path.is_file(), file
        if not test:
            continue
        suite, _, name = test.rpartition(".")
        pattern = rf"\({suite}, {name}\)" if suite else rf"def {name}\("
        assert re.search(pattern, path.read_text(encoding="utf-8")), f"{file}::{test}"
