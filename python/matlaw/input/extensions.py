"""Python files that add types."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from matlaw.errors import FatalError
from matlaw.models.loaded import LOADED


def load_extensions(extensions: str | Path | Iterable[str | Path]) -> None:
    """Imports each extension once, which registers its types for the whole process.

    :param extensions: paths of files or package folders, or dotted module names; a single one may come without a list
    :raises FatalError: when one cannot be found or imported
    """
    for extension in [extensions] if isinstance(extensions, str | Path) else extensions:
        path = Path(extension)
        key = str(path.resolve()) if path.exists() else str(extension)
        if key in LOADED:
            continue
        try:
            if path.exists():
                module = _import_path(path.resolve())
            elif path.suffix == ".py" or "/" in str(extension):
                raise FileNotFoundError(f"no such file: {path}")
            else:
                module = importlib.import_module(str(extension))
        except Exception as error:
            raise FatalError(f"extension '{extension}': {type(error).__name__}: {error}") from error
        LOADED[key] = module


def _import_path(path: Path) -> ModuleType:
    file = path / "__init__.py" if path.is_dir() else path
    name = f"matlaw_extension_{path.stem}_{len(LOADED)}"
    spec = importlib.util.spec_from_file_location(
        name, file, submodule_search_locations=[str(path)] if path.is_dir() else None
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"not a Python file: {file}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
