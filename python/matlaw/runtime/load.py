"""The one loader: a compiled law or an input file, by path and model name."""

from __future__ import annotations

import inspect
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nmhit
import torch

from matlaw.errors import FatalError
from matlaw.hit import STUB_HEAD, parse_file
from matlaw.inspection.locate import artifacts_in, is_artifact
from matlaw.runtime import embedding

if TYPE_CHECKING:
    from matlaw.eager import EagerModel
    from matlaw.runtime.compiled import CompiledModel

_RUNTIMES = ("auto", "aoti", "eager")
_FALLBACKS = ("eager", "none")
_BACKENDS = ("auto", "native", "inductor")
_DTYPES = ("float64", "float32")


def load_model(
    path: str | os.PathLike[str],
    name: str = "",
    *,
    device: str | torch.device = "cpu",
    dtype: str | torch.dtype | None = None,
    backend: str = "auto",
    threads: int | None = None,
    max_chunk_rows: int | None = None,
    max_bytes: int | None = None,
    runtime: str = "auto",
    fallback: str = "eager",
    extensions: Sequence[str] = (),
) -> CompiledModel | EagerModel:
    """Load the law `name`.

    A stub (``<name>_aoti.i``), an artifact folder, its ``metadata.json`` or the folder that matlaw-compile wrote it to
    gives a :class:`CompiledModel`; any other input file a :class:`matlaw.eager.EagerModel`. Both have the same
    operations. A model of a stub that is not the compiled one is evaluated with ``runtime="eager"`` only.

    A compiled law that is sound but does not fit this machine (CPU, C library, torch, no build for the device, or its
    build was not copied along) is evaluated eagerly from the source in its artifact, which is said once on stderr.

    :param path: stub, artifact folder, ``metadata.json``, output folder or input file
    :param name: of the model; may be left out for a compiled law that is the only one there
    :param device: where the law runs, ``cpu`` or ``cuda``
    :param dtype: ``float64`` or ``float32``; by default the one that a compiled law was made for, else ``float64``
    :param backend: of a compiled law: ``auto``, ``native`` or ``inductor``
    :param threads: of one call of a compiled law; by default what torch uses
    :param max_chunk_rows: largest number of rows that run through a compiled law together; by default what
        fits the cache
    :param max_bytes: most memory that a call of a compiled law may work in, all threads together, without inputs,
        outputs and what ``.pt2`` graphs allocate inside; by default there is no bound
    :param runtime: ``auto``, or ``aoti`` or ``eager`` to insist; ``eager`` runs the source of a compiled law
    :param fallback: ``eager``, or ``none`` to raise when a compiled law does not fit this machine
    :param extensions: Python files, packages or dotted names that register further model types, for input files
    :raises FatalError: nothing is there, the file is wrong or damaged, it has no such model, or a compiled law does not
        fit this machine and may not, or cannot, be evaluated eagerly; the message says which
    """
    options = core_options(
        device=device,
        dtype=dtype,
        backend=backend,
        threads=threads,
        max_chunk_rows=max_chunk_rows,
        max_bytes=max_bytes,
        runtime=runtime,
        fallback=fallback,
        extensions=extensions,
    )
    place = checked_place(path, name)
    # Of a stub's models that are not compiled, the C++ loader says which are.
    if not is_compiled(place, name) and (runtime == "eager" or (runtime == "auto" and not is_stub(place))):
        return embedding.load(
            os.fspath(place), name, options["extensions"], options["device"], options.get("dtype", "")
        )
    from matlaw import _core
    from matlaw.runtime.compiled import CompiledModel

    law = _core.load_model(os.fspath(place), name, **options)
    return CompiledModel(law) if isinstance(law, _core.Model) else law


def checked_place(path: Any, name: Any) -> Path:
    """Return the path of a law, checked with its name.

    :raises FatalError: they are not of the types that :func:`load_model` takes, or the path is empty
    """
    if not isinstance(path, str | os.PathLike):
        raise FatalError(f"load_model: path must be a string or a path; got {path!r}")
    if not os.fspath(path):
        raise FatalError("load_model: the path is empty; pass a stub, an artifact folder or an input file")
    if not isinstance(name, str):
        raise FatalError(f"load_model: name must be a string, the name of a model; got {name!r}")
    return Path(path)


def core_options(**options: Any) -> dict[str, Any]:
    """Return options of :func:`load_model`, checked, as the C++ loader takes them.

    :raises FatalError: a value is none of those that there are
    :raises TypeError: there is no such option
    """
    unknown = set(options) - set(inspect.signature(load_model).parameters)
    if unknown:
        raise TypeError(f"load_model has no option '{min(unknown)}'")
    given = {name: value for name, value in options.items() if value is not None}
    for name, choices in (("runtime", _RUNTIMES), ("fallback", _FALLBACKS), ("backend", _BACKENDS)):
        _one_of(name, given.get(name, choices[0]), choices)
    for name in ("threads", "max_chunk_rows", "max_bytes"):
        if not hasattr(given.get(name, 0), "__index__"):
            raise FatalError(f"load_model: {name} must be a whole number; got {given[name]!r}")
    if "dtype" in given:
        given["dtype"] = _one_of("dtype", str(given["dtype"]).removeprefix("torch."), _DTYPES)
    if "device" in given:
        given["device"] = str(given["device"])
    if "extensions" in given:
        if isinstance(given["extensions"], str):
            raise FatalError(f"load_model: extensions must be a list, such as [{given['extensions']!r}]")
        given["extensions"] = [os.fspath(extension) for extension in given["extensions"]]
    return given


def is_compiled(place: Path, name: str = "") -> bool:
    """True for an artifact folder, its ``metadata.json``, a folder with such, and a stub whose model is compiled.

    :param place: an existing file or folder
    :param name: of the model; when empty, one compiled model in the file is enough
    :raises FatalError: nothing is there, a folder holds no compiled law, or the file cannot be parsed
    """
    if place.is_dir():
        return is_artifact(place) or bool(artifacts_in(place))
    if not place.exists():
        raise _missing(place)
    if not place.is_file():  # a pipe would be waited for
        raise FatalError(
            f"{place} is neither a regular file nor a folder; pass a stub, an artifact folder or an input file"
        )
    if place.suffix == ".json":
        return True
    models = parse_file(place).find("Models")
    if models is None:
        return False
    types = {block.path(): block.param_optional_str("type", "") for block in models.children(nmhit.NodeType.Section)}
    if name:
        return types.get(name) == "AOTIModel"
    return "AOTIModel" in types.values()


def is_stub(place: Path) -> bool:
    """True for an input file that matlaw-compile wrote beside an artifact."""
    with place.open("rb") as file:
        return file.readline().startswith(STUB_HEAD.encode())


def _missing(place: Path) -> FatalError:
    return FatalError(
        f"there is no file or folder {place} (looked from {Path.cwd()}); pass a stub, an artifact folder, "
        "its metadata.json, or an input file"
    )


def _one_of(option: str, value: str, choices: Sequence[str]) -> str:
    if value not in choices:
        raise FatalError(f"load_model: {option} must be one of {', '.join(choices)}; got {value!r}")
    return value
