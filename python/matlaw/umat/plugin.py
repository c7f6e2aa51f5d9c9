"""Writing a plugin: the library, its settings and the law, side by side."""

from __future__ import annotations

import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Iterable
from collections.abc import Mapping as Dictionary
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from matlaw import config
from matlaw.errors import FatalError
from matlaw.inspection.locate import artifact_folder, artifacts_of
from matlaw.runtime.load import is_compiled, load_model
from matlaw.umat.mapping import MEANING, Mapping, derive
from matlaw.umat.settings import HOSTS, render


@dataclass
class Plugin:
    """What was written.

    :ivar library: ``<name>-opt.plugin``, which MOOSE loads as ``<name>``
    :ivar shared: ``<name>.so``, for other hosts
    :ivar settings: ``<name>.umat.i``
    :ivar law: where the law lies
    """

    library: Path
    shared: Path
    settings: Path
    law: Path
    mapping: Mapping


def write_plugin(
    path: str | os.PathLike[str],
    model: str,
    output: str | os.PathLike[str],
    *,
    host: str = "moose",
    link: bool = False,
    overrides: Dictionary[str, str] | None = None,
    initial: Dictionary[str, Iterable[float]] | None = None,
) -> Plugin:
    """Write ``<output>-opt.plugin``, ``<output>.so``, ``<output>.umat.i`` and, in the folder ``<output>``, the law.

    :param path: stub, artifact folder, metadata.json, or an input file, which Python then evaluates
    :param model: of the file; may be empty for the only compiled one
    :param output: folder and name of the plugin
    :param host: ``moose`` or ``abaqus``
    :param link: leave the law where it is and refer to it
    :param overrides: what variables are to the host, where the derived mapping is wrong: ``{"x": "predef 2"}``
    :param initial: initial values of state variables, ``{"orientation": (0.1, 0.0, 0.2)}``
    :raises FatalError: the law cannot be loaded or does not fit the interface, or matlaw has no plugin library
    """
    source, output = Path(path), Path(output)
    if host not in HOSTS:
        raise FatalError(f"there is no host '{host}'; choose {' or '.join(HOSTS)}")
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", output.name):
        raise FatalError(f"'{output.name}' is no name for a plugin: letters, digits, _, - and . only")
    compiled = is_compiled(source, model)
    if not compiled and not model:
        raise FatalError(f"{source}: name the model; an input file may hold several")
    plugin, library = libraries()
    original = _folder_of(source, model) if compiled else source
    place = original if link else output / original.resolve().name
    copied = not link and not (place.exists() and place.samefile(original))
    # Nothing appears at the output before all is known to fit.
    with TemporaryDirectory() as staging:
        loaded = _copy(original, Path(staging)) if copied else original
        law = load_model(loaded, model, fallback="none" if compiled else "eager")
        # Of a compiled law those that it was asked to keep changeable; of an input file every one is.
        mapping = derive(law, law.named_parameters() if compiled else ())
        _override(mapping, overrides or {}, law.named_parameters())
        for name, values in (initial or {}).items():
            mapping.start_from(name, values)
        where = os.path.relpath(place, output.parent) if not link else str(place.resolve())
        python = ("", "") if compiled else (_libpython(), str(Path(sys.prefix) / "bin"))
        # It may be the plugin that moves, or the plugin and the environment together.
        evaluator = f"{library}:{os.path.relpath(library, output.parent.resolve())}"
        text = render(mapping, where, model or law.name, evaluator, host, *python)
        output.parent.mkdir(parents=True, exist_ok=True)
        if copied:
            _put(loaded, place)
    settings = output.with_name(output.name + ".umat.i")
    settings.write_text(text, encoding="utf-8")
    moose, shared = output.with_name(output.name + "-opt.plugin"), output.with_name(output.name + ".so")
    for file in (moose, shared):
        # A new file: a host that has the old one loaded keeps that.
        file.unlink(missing_ok=True)
        shutil.copy(plugin, file)
    return Plugin(moose, shared, settings, place, mapping)


def libraries() -> tuple[Path, Path]:
    """The plugin library and libmatlaw_umat of this installation.

    :raises FatalError: they are not there
    """
    folder = config.library_dir()
    found = folder / "libmatlaw_umat_plugin.so", folder / "libmatlaw_umat.so"
    for file in found:
        if not file.exists():
            raise FatalError(f"this installation of matlaw has no {file}; install it again")
    return found


def _folder_of(source: Path, model: str) -> Path:
    """The artifact folder."""
    if source.is_dir():
        return artifact_folder(source, model)
    if source.name == "metadata.json":
        return source.parent
    artifacts = artifacts_of(source)
    return artifacts[model] if model else next(iter(artifacts.values()))


def _copy(source: Path, folder: Path) -> Path:
    """A copy of the law in a folder.

    :raises FatalError: a copy of the file alone would not do
    """
    target = folder / source.resolve().name
    if source.is_dir():
        return Path(shutil.copytree(source, target))
    if re.search(r"^\s*!include\b", source.read_text(encoding="utf-8"), re.MULTILINE):
        raise FatalError(f"{source} includes other files, so a copy of it would not do; refer to it with --link")
    return Path(shutil.copy(source, target))


def _put(law: Path, place: Path) -> None:
    """Moves the law to where it belongs, in place of what is there."""
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.is_dir():
        shutil.rmtree(place)
    place.unlink(missing_ok=True)
    shutil.move(law, place)


def _override(mapping: Mapping, overrides: Dictionary[str, str], parameters: Iterable[str]) -> None:
    for name, source in overrides.items():
        if not source.split() or source.split()[0] not in MEANING:
            raise FatalError(f"'{name}' cannot be '{source}'; expected one of {', '.join(MEANING)}")
        if name in parameters:
            mapping.parameters[name] = source
        elif name in mapping.inputs:
            mapping.inputs[name] = source
        elif name in mapping.outputs:
            mapping.outputs[name] = source
        else:
            known = [*mapping.inputs, *mapping.outputs, *parameters]
            raise FatalError(f"the law has no variable or parameter '{name}'; it has {', '.join(known)}")


def _libpython() -> str:
    """The shared library of this Python.

    :raises FatalError: there is none
    """
    name = sysconfig.get_config_var("INSTSONAME") or ""
    folders = [sysconfig.get_config_var("LIBDIR") or "", str(Path(sys.base_prefix) / "lib")]
    folders.append(str(Path(folders[0]) / (sysconfig.get_config_var("MULTIARCH") or "")))
    for folder in folders:
        if name.startswith("libpython") and ".so" in name and (Path(folder) / name).exists():
            return str(Path(folder) / name)
    raise FatalError(
        f"this Python ({sys.executable}) has no shared libpython that a host could load, so a law that is not compiled "
        "cannot be a plugin; compile it (matlaw-compile), or install libpython (Debian: libpython3-dev)"
    )
