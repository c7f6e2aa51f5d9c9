"""Build the library of a ``.pt2`` for a CPU from the C++ that Inductor generates.

Two thirds of that C++ are the same for every graph: the interface through which a library is called. It is compiled
once and kept; what is the graph's own takes about half of the time that Inductor would take.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, Final, Protocol

import torch

from matlaw.errors import CompileError

#: In place of Inductor's ``-O3``, which takes twice as long: its loops are explicitly vectorised already.
_LEVEL: Final = "-O1"
#: Includes headers that are there to be precompiled.
_UNUSED_DEFINITION: Final = "TORCH_INDUCTOR_PRECOMPILE_HEADERS"
_LINK: Final = ("-shared", "-s", "-Wl,--build-id=none", "-Wl,--as-needed", "-Wl,-z,noexecstack")


class ObjectStore(Protocol):
    """Keeps compiled code under keys."""

    def made(self, key: str, make: Callable[[], bytes]) -> bytes:
        """What is stored under a key, or else what ``make`` gives."""


def build_library(package: Path | IO[bytes], store: ObjectStore) -> tuple[bytes, dict[str, bytes]]:
    """Compile and link what Inductor generated.

    :param package: from Inductor with ``aot_inductor.package_cpp_only``
    :param store: where the object code of the interface is kept and looked for
    :returns: the shared library, and the other files that belong into a package by the ends of their names
    :raises CompileError: the compiler refused
    """
    with zipfile.ZipFile(package) as archive:
        content = {Path(name).name: archive.read(name) for name in archive.namelist() if "/aotinductor/model/" in name}
    [source] = [name for name in content if name.endswith(".wrapper.cpp")]
    stem = source.removesuffix(".wrapper.cpp")
    compile_flags = json.loads(content[f"{stem}.wrapper_compile_flags.json"])
    link_flags = json.loads(content[f"{stem}.wrapper_linker_flags.json"])
    text = content[source].decode()
    with tempfile.TemporaryDirectory(prefix="matlaw-library-") as name:
        folder = Path(name)
        objects = []
        parts = _split(text)
        if parts is not None:
            interface, text = parts
            (folder / "interface.o").write_bytes(_interface(interface, compile_flags, folder, store))
            objects.append("interface.o")
        _compile(text, "graph", compile_flags, folder)
        objects.append("graph.o")
        for other in (n for n in content if n.endswith(".o")):
            objects.append(f"constants{len(objects)}.o")
            (folder / objects[-1]).write_bytes(content[other])
        libraries = [f"-L{d}" for d in link_flags["libraries_dirs"]] + [f"-l{x}" for x in link_flags["libraries"]]
        _run([link_flags["compiler"], *objects, "-o", "graph.so", *_LINK, *libraries], folder)
        library = (folder / "graph.so").read_bytes()
    dropped = (".cpp", ".o", "_flags.json", "CMakeLists.txt", ".ld")
    return library, {n.removeprefix(stem): data for n, data in content.items() if not n.endswith(dropped)}


def _split(text: str) -> tuple[str, str] | None:
    """The interface and the graph's own part; ``None`` when a text is made in another way than known."""
    interface = Path(torch.__file__).parent / "_inductor/codegen/aoti_runtime/interface.cpp"
    if not interface.is_file():
        return None
    shared = interface.read_text(encoding="utf-8").strip()
    head, found, rest = text.partition(shared)
    return (f"{head}{shared}\n", f"{head}{rest}") if found else None


def _interface(text: str, flags: dict[str, Any], folder: Path, store: ObjectStore) -> bytes:
    compiler = Path(flags["compiler"])
    version = subprocess.run([str(compiler), "--version"], capture_output=True, text=True, check=False).stdout
    parts = [torch.__version__, version, text, _options(flags, for_key=True)]
    key = f"interface-{hashlib.sha256(repr(parts).encode()).hexdigest()}"

    def compiled() -> bytes:
        _compile(text, "interface", flags, folder)
        return (folder / "interface.o").read_bytes()

    return store.made(key, compiled)


def _options(flags: dict[str, Any], for_key: bool = False) -> list[str]:
    found = [f"-D{d.strip()}" for d in flags["definitions"] if d.strip() != _UNUSED_DEFINITION]
    found += [f"-{x}" for x in flags["cflags"] if not x.startswith("O")]
    found += [x for joined in flags["passthrough_args"] for x in joined.split()]
    return [*found, _LEVEL, *([] if for_key else [f"-I{d}" for d in flags["include_dirs"]])]


def _compile(text: str, name: str, flags: dict[str, Any], folder: Path) -> None:
    (folder / f"{name}.cpp").write_text(text, encoding="utf-8")
    _run([flags["compiler"], *_options(flags), "-w", "-c", f"{name}.cpp", "-o", f"{name}.o"], folder)


def _run(command: list[str], folder: Path) -> None:
    environment = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        messages = "\n".join(done.stderr.strip().splitlines()[:8])
        raise CompileError(f"{command[0]} failed with exit code {done.returncode}:\n{messages}")
