"""Input files written on the fly."""

from collections.abc import Callable
from pathlib import Path

import pytest

from matlaw.input import InputFile
from matlaw.models import Model


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes a file: ``write(text)`` gives its path."""

    def write(text: str, name: str = "law.i") -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


@pytest.fixture
def model(write: Callable[..., Path]) -> Callable[..., Model]:
    """Builds a model: ``model(blocks, "m")`` with the text of the blocks of [Models]."""

    def build(blocks: str, name: str = "m", rest: str = "") -> Model:
        return InputFile(write(f"[Models]\n{blocks}\n[]\n{rest}")).model(name)

    return build
