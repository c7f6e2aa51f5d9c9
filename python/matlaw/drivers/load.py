"""Drivers and their laws from input files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from matlaw.drivers.driver import Driver, Outcome, Progress
from matlaw.drivers.law import Law
from matlaw.errors import InputFileError
from matlaw.input import InputFile, load_extensions
from matlaw.input.suggestion import unknown_name


def load_driver(
    path: str | os.PathLike[str],
    name: str,
    overrides: Sequence[str] = (),
    extensions: Sequence[str | Path] = (),
    *,
    device: str = "cpu",
    dtype: str = "float64",
) -> tuple[Driver, Law]:
    """A driver of an input file and the law that it drives.

    A model of type AOTIModel gives the compiled law, any other model the eager one.

    :param path: the input file
    :param name: of the driver; may be empty for the only one
    :param overrides: assignments such as ``Models/elasticity/E:=1``
    :param extensions: Python files, packages or module names that register further types
    :param device: where an eager law runs
    :param dtype: ``float64`` or ``float32``, of an eager law
    :raises InputFileError: the file is wrong or has no such driver
    :raises FatalError: the law cannot be loaded
    """
    load_extensions(extensions)
    file = InputFile(Path(path), overrides)
    if not file.names("Drivers"):
        raise InputFileError(
            f"{file.path}: there is no block of [Drivers] that says what to do with a model; see docs/run.md, or "
            "matlaw-syntax --section Drivers"
        )
    drivers = file.names("Drivers")
    if not name and len(drivers) > 1:
        listed = ", ".join(f"{driver} ({file.type_of('Drivers', driver)})" for driver in drivers)
        raise InputFileError(f"{file.path} has {len(drivers)} drivers: name the one to run: {listed}")
    name = name or drivers[0]
    if name not in drivers:
        raise InputFileError(f"{file.path}: {unknown_name('driver', name, drivers)}")
    driver: Driver = file.build("Drivers", name)
    owner, model = driver.model_owner, driver.model_name
    if model not in file.names("Models"):
        raise owner.context.unknown("model", model, file.names("Models"), "model")
    if file.type_of("Models", model) == "AOTIModel":
        _refuse_overrides_of_what_is_compiled(file, model, overrides)
        return driver, file.build("Models", model).compiled
    from matlaw.eager import EagerModel

    return driver, EagerModel(
        file.path,
        model,
        extensions,
        dtype=dtype,
        device=device,
        overrides=overrides,
        sub_batch=owner.sub_batch_shapes(),
    )


def _refuse_overrides_of_what_is_compiled(file: InputFile, model: str, overrides: Sequence[str]) -> None:
    """A stub keeps the blocks that its law was compiled from: a value set there would change nothing."""
    for override in overrides:
        block = override.split("/")[:2]
        if block[0] == "Models" and block[1:] != [model]:
            raise InputFileError(
                f"{file.path}: the override '{override}' changes nothing, because '{model}' is compiled; run the input "
                "that it was compiled from, or compile it again with this override"
            )


def run_driver(
    path: str | os.PathLike[str],
    name: str,
    overrides: Sequence[str] = (),
    extensions: Sequence[str | Path] = (),
    *,
    progress: Progress | None = None,
) -> Outcome:
    """Loads and runs a driver; writes no file. See :func:`load_driver`.

    :raises ConvergenceError: rows did not converge; the message names step, time and rows
    """
    driver, law = load_driver(path, name, overrides, extensions)
    return driver.run(law, progress)
