"""Input files written on the fly."""

import pytest

from matlaw.input import InputFile


@pytest.fixture
def write(tmp_path):
    """Writes an input file: ``write(text)`` gives its path."""

    def write(text, name="law.i"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


@pytest.fixture
def model(write):
    """Builds a model: ``model(blocks, "m")`` with the text of the blocks of [Models]."""

    def build(blocks, name="m", rest=""):
        return InputFile(write(f"[Models]\n{blocks}\n[]\n{rest}")).model(name)

    return build
