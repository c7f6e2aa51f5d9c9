"""Models from input files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from matlaw.input.extensions import load_extensions
from matlaw.input.input_file import InputFile
from matlaw.models import Model


def load_model(
    path: str | Path,
    name: str,
    overrides: Sequence[str] = (),
    extensions: Sequence[str | Path] = (),
    sub_batch: Mapping[str, tuple[int, ...]] | None = None,
) -> Model:
    """The model of an input file, as its forward function.

    :param path: the input file
    :param name: name of the model
    :param overrides: assignments such as ``Models/elasticity/E:=1``
    :param extensions: Python files, packages or module names that register further types
    :param sub_batch: sub-batch shapes of variables that ``[Settings]/example_batch_shape`` does not declare
    :raises InputFileError: when the file or the model in it is wrong; the message names file, line and block
    """
    load_extensions(extensions)
    return InputFile(path, overrides).model(name, sub_batch)
