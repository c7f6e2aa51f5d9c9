"""Where the inputs of the finite-element tests are."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "moose_app" / "test" / "tests"
