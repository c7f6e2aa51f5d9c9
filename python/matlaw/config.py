"""Where the C++ side of this installation lies: ``python -m matlaw.config --cmake-dir``.

>>> cmake_dir().name
'matlaw'
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from matlaw.errors import FatalError


def prefix() -> Path:
    """Return the folder that holds ``lib/`` and ``include/``: the installed package, or the environment (conda).

    :raises FatalError: the package runs from its sources and was never installed, or its libraries are not there
    """
    # In an editable installation the compiled half lies in another folder than the Python files.
    found = find_spec("matlaw._core")
    if found is None or found.origin is None:
        raise FatalError("the compiled part of matlaw is not installed; run pip install . in its source folder")
    package = Path(found.origin).resolve().parent
    for folder in (package, *package.parents[3:4]):  # <environment>/lib/python3.11/site-packages/matlaw
        if (folder / "lib" / "libmatlaw.so").is_file():
            return folder
    raise FatalError(
        f"there is no lib/libmatlaw.so for the matlaw in {package}; install matlaw (conda: libmatlaw) again"
    )


def cmake_dir() -> Path:
    """Return the folder for ``matlaw_DIR``, holding ``matlawConfig.cmake``."""
    return prefix() / "lib" / "cmake" / "matlaw"


def include_dir() -> Path:
    """Return the folder of the C++ headers."""
    return prefix() / "include"


def library_dir() -> Path:
    """Return the folder of ``libmatlaw.so`` and ``libmatlaw_eager.so``."""
    return prefix() / "lib"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the folders asked for, one a line."""
    parser = argparse.ArgumentParser(prog="python -m matlaw.config", description="Where the C++ side of matlaw lies.")
    places = {
        "prefix": (prefix, "folder that holds lib/ and include/"),
        "cmake-dir": (cmake_dir, "for -Dmatlaw_DIR="),
        "include-dir": (include_dir, "of the headers"),
        "library-dir": (library_dir, "of the shared libraries"),
    }
    for option, (_, text) in places.items():
        parser.add_argument(f"--{option}", action="store_true", help=text)
    chosen = vars(parser.parse_args(arguments))
    wanted = [option for option in places if chosen[option.replace("-", "_")]]
    if not wanted:
        parser.error("name at least one folder")
    for option in wanted:
        print(places[option][0]())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
