"""Build the library of a ``.pt2`` for a CPU from the C++ that Inductor generates.

Two thirds of that C++ are the same for every graph: the interface through which a library is called. It comes compiled
with matlaw (``cpp/src/aoti_interface``); what is the graph's own takes about half of the time that Inductor would take.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import zipfile
from pathlib import Path
from typing import IO, Any, Final

import torch

from matlaw.core_library import load_core
from matlaw.errors import CompileError
from matlaw.lower.inductor.headers import including

#: In place of Inductor's ``-O3``, which takes twice as long: its loops are explicitly vectorised already.
_LEVEL: Final = "-O1"
#: Includes headers that are there to be precompiled.
_UNUSED_DEFINITION: Final = "TORCH_INDUCTOR_PRECOMPILE_HEADERS"
_LINK: Final = ("-shared", "-s", "-Wl,--build-id=none", "-Wl,--as-needed", "-Wl,-z,noexecstack")


def build_library(package: Path | IO[bytes], headers: Path | None = None) -> tuple[bytes, dict[str, bytes]]:
    """Compile and link what Inductor generated.

    :param package: from Inductor with ``aot_inductor.package_cpp_only``
    :param headers: folder for precompiled headers, where many libraries are built
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
        objects = ["graph.o"]
        compiler, options = compile_flags["compiler"], _options(compile_flags)
        own = _own_part(text)
        if own is not None:
            text, interface = own
            objects.append(str(interface))
            options += including(compiler, options, folder, headers)
        (folder / "graph.cpp").write_text(text, encoding="utf-8")
        _run([compiler, *options, "-w", "-c", "graph.cpp", "-o", "graph.o"], folder)
        for other in (n for n in content if n.endswith(".o")):
            objects.append(f"constants{len(objects)}.o")
            (folder / objects[-1]).write_bytes(content[other])
        _run([compiler, *objects, "-o", "graph.so", *_LINK, *_libraries(compiler, link_flags, folder)], folder)
        library = (folder / "graph.so").read_bytes()
    dropped = (".cpp", ".o", "_flags.json", "CMakeLists.txt", ".ld")
    return library, {n.removeprefix(stem): data for n, data in content.items() if not n.endswith(dropped)}


def _own_part(text: str) -> tuple[str, Path] | None:
    """The graph's own part of a text, and the compiled interface.

    ``None`` when the text is made in another way than known, or matlaw was built with another torch.
    """
    release = torch.__version__.partition("+")[0]
    compiled = Path(str(load_core().__file__)).with_name(f"aoti_interface-{release}.o")
    source = Path(torch.__file__).parent / "_inductor/codegen/aoti_runtime/interface.cpp"
    if not compiled.is_file() or not source.is_file():
        return None
    head, found, rest = text.partition(source.read_text(encoding="utf-8").strip())
    return (f"{head}{rest}", compiled) if found else None


def _options(flags: dict[str, Any]) -> list[str]:
    options = [f"-D{d.strip()}" for d in flags["definitions"] if d.strip() != _UNUSED_DEFINITION]
    options += [f"-{x}" for x in flags["cflags"] if not x.startswith("O")]
    options += [x for joined in flags["passthrough_args"] for x in joined.split()]
    return [*options, _LEVEL, *(f"-I{d}" for d in flags["include_dirs"])]


def _libraries(compiler: str, flags: dict[str, Any], folder: Path) -> list[str]:
    """Options that link the libraries of a graph.

    An empty library stands in for torch's own, in whose seventy thousand symbols the linker looks for a quarter of a
    second. They are found when the graph is loaded.
    """
    (folder / "empty.c").touch()
    stub = "libtorch_cpu.so"
    _run([compiler, "-shared", "-nostdlib", f"-Wl,-soname,{stub}", "empty.c", "-o", stub], folder)
    found = [f"-L{d}" for d in flags["libraries_dirs"]]
    others = [f"-l{x}" for x in flags["libraries"] if not x.startswith("torch")]
    return ["-Wl,--no-as-needed", stub, "-Wl,--as-needed", *found, *others]


def _run(command: list[str], folder: Path) -> None:
    environment = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        messages = "\n".join(done.stderr.strip().splitlines()[:8])
        raise CompileError(f"{command[0]} failed with exit code {done.returncode}:\n{messages}")
