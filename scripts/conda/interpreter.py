"""The Python that runs this, as files of a conda environment that can lie anywhere."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
#: Parts of the standard library that no package of the channel needs, and what belongs to other packages.
LEFT_OUT = (
    "__pycache__",
    "site-packages",
    "dist-packages",
    "test",
    "tests",
    "idlelib",
    "tkinter",
    "turtledemo",
    "ensurepip",
)


def stage_interpreter(folder: Path) -> None:
    """Put interpreter, standard library, libpython and headers into a folder.

    :raises SystemExit: the interpreter links libpython, which is not where its configuration says
    """
    binary = folder / "bin" / f"python{VERSION}"
    binary.parent.mkdir(parents=True)
    shutil.copy2(Path(getattr(sys, "_base_executable", sys.executable)).resolve(), binary)
    for link in ("python3", "python"):
        (binary.parent / link).symlink_to(binary.name)
    library = folder / "lib" / f"python{VERSION}"
    shutil.copytree(sysconfig.get_path("stdlib"), library, ignore=shutil.ignore_patterns(*LEFT_OUT), symlinks=False)
    (library / "site-packages").mkdir()
    (library / "site-packages" / "README.txt").write_text("Packages of this environment.\n")
    shutil.copytree(
        sysconfig.get_path("include", vars={"installed_base": sys.base_prefix}), folder / "include" / f"python{VERSION}"
    )
    _copy_libpython(folder, binary)
    _forget_the_old_place(library)
    _forget_debian(library)


def _copy_libpython(folder: Path, binary: Path) -> None:
    name = str(sysconfig.get_config_var("INSTSONAME") or "")
    places = [Path(str(sysconfig.get_config_var(key))) for key in ("LIBDIR", "LIBPL")]
    found = [place / name for place in places if ".so" in name and (place / name).exists()]
    if found:
        shutil.copy2(found[0].resolve(), folder / "lib" / name)
        (folder / "lib" / f"libpython{VERSION}.so").symlink_to(name)
        subprocess.run(["patchelf", "--set-rpath", "$ORIGIN/../lib", str(binary)], check=True)
    elif name.endswith(".so"):
        raise SystemExit(f"{name} is in none of {', '.join(map(str, places))}; the Python {sys.executable} is damaged")


def _forget_the_old_place(library: Path) -> None:
    """Let the configuration name the folder where the interpreter lies then."""
    for file in library.glob("_sysconfigdata*.py"):
        text = file.read_text()
        text += (
            "\nimport sys as _sys\n"
            f"_old = {sys.base_prefix!r}\n"
            "build_time_vars = {\n"
            "    key: value.replace(_old, _sys.base_prefix) if isinstance(value, str) else value\n"
            "    for key, value in build_time_vars.items()\n"
            "}\n"
            "build_time_vars['LIBDIR'] = _sys.base_prefix + '/lib'\n"
        )
        file.write_text(text)


def _forget_debian(library: Path) -> None:
    """Use site-packages: Debian's own Python installs into dist-packages of /usr/local."""
    for name, pattern, new in (
        ("site.py", r"is_virtual_environment = .*", "is_virtual_environment = True"),
        ("sysconfig.py", r"prefix_scheme = 'posix_local'", "prefix_scheme = 'posix_prefix'"),
        ("sysconfig/__init__.py", r"prefix_scheme = 'posix_local'", "prefix_scheme = 'posix_prefix'"),
    ):
        file = library / name
        if file.is_file():
            file.write_text(re.sub(pattern, new, file.read_text()))
