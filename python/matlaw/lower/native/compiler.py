"""Compile generated C++ with the system's compiler."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Final

from matlaw.errors import CompileError
from matlaw.output_file import naming

#: What a kernel may be compiled for: the levels of the x86-64 psABI, or this very machine.
CPU_TARGETS: Final = ("x86-64-v2", "x86-64-v3", "x86-64-v4", "native")

_INCLUDE = Path(__file__).parent / "include"
#: From here on the time that the optimiser's second level costs is not earned back.
_MANY_STATEMENTS = 5000

# Contraction stays off: a row's bits then depend on its values only, not on how the compiler pairs operations, and
# all CPU targets agree except in the functions of libmvec.
_FLAGS: Final = (
    "-std=c++17",
    "-shared",
    "-fPIC",
    "-fvisibility=hidden",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-asynchronous-unwind-tables",
    "-Wall",
    "-Wno-psabi",
)
_LINK: Final = (
    "-s",
    "-Wl,--build-id=none",
    "-Wl,--as-needed",
    "-Wl,-z,noexecstack",
    "-Wl,-z,defs",
    "-nodefaultlibs",
    "-lmvec",
    "-lm",
    "-lc",
)


def find_compiler() -> str:
    """The C++ compiler: ``$CXX``, else g++.

    :raises CompileError: there is none
    """
    wanted = os.environ.get("CXX") or "g++"
    found = shutil.which(wanted.split()[0])
    if found is None:
        raise CompileError(
            f"no C++ compiler: '{wanted}' is not on PATH, and native kernels need one. Install g++ "
            "(Debian: apt install g++), set CXX to a GCC 9 or newer, or compile with --backend inductor."
        )
    return found


@lru_cache
def _version_of(compiler: str, modified: float) -> str:
    done = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False)
    return done.stdout.split("\n", 1)[0]


def compiler_version() -> str:
    """What the C++ compiler calls itself; empty without one."""
    compiler = shutil.which((os.environ.get("CXX") or "g++").split()[0])
    return _version_of(compiler, os.stat(compiler).st_mtime) if compiler else ""


def optimisation(statement_count: int) -> str:
    """The compiler's optimisation level for a kernel of this size."""
    return "-O1" if statement_count > _MANY_STATEMENTS else "-O2"


def recipe(cpu_target: str, statement_count: int) -> list[str]:
    """Everything but the source that decides what :func:`build` makes: compiler, options, included headers."""
    headers = hashlib.sha256(b"".join(file.read_bytes() for file in sorted(_INCLUDE.glob("*.h")))).hexdigest()
    return [compiler_version(), *_FLAGS, *_LINK, optimisation(statement_count), cpu_target, headers]


def build(source: str, library: Path, cpu_target: str, statement_count: int = 0) -> None:
    """Compile one kernel.

    :param source: from :func:`matlaw.lower.native.kernel_source.emit`
    :param library: the file to write
    :param cpu_target: one of :data:`CPU_TARGETS`
    :param statement_count: of the kernel, chooses the optimisation level
    :raises CompileError: no compiler, an unknown target, or the compiler refused
    """
    if cpu_target not in CPU_TARGETS:
        raise CompileError(f"unknown CPU target '{cpu_target}'; choose one of {', '.join(CPU_TARGETS)}")
    compiler = find_compiler()
    with tempfile.TemporaryDirectory(prefix="matlaw-native-") as folder:
        with naming(Path(folder) / "kernel.cpp"):
            (Path(folder) / "kernel.cpp").write_text(source, encoding="utf-8")
        command = [
            compiler,
            *_FLAGS,
            optimisation(statement_count),
            f"-march={cpu_target}",
            "-I",
            str(_INCLUDE),
            "kernel.cpp",
            "-o",
            str(library.resolve()),
            *_LINK,
        ]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        messages = "\n".join(done.stderr.strip().splitlines()[:8])
        raise CompileError(f"{library.name}: {compiler} failed with exit code {done.returncode}:\n{messages}")
