"""A conda channel of this machine's own, from what pip has put into this environment: `channel.py <folder>`.

It holds everything that the packages of meta.yaml need, under the names that conda-forge has for it, so that they can
be built and installed without conda and without a network. Compilers are those of the system: their packages are empty.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
from dataclasses import dataclass, field
from importlib.metadata import Distribution, distribution
from pathlib import Path

import tomllib
from interpreter import stage_interpreter
from packages import SUBDIR, assemble, finish, index, place
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
SITE = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
PYTHON = f"python {sys.version_info.major}.{sys.version_info.minor}.*"

#: Tools of a recipe's build and host environments; what matlaw itself needs is read from pyproject.toml.
TOOLS = ["pip", "setuptools", "scikit-build-core", "pybind11", "cmake", "ninja"]
#: Python's name -> conda-forge's, where they differ.
CONDA_NAMES = {"torch": "pytorch"}
#: What meta.yaml packages itself.
OUR_OWN = {"matlaw", "nmhit"}
#: Compilers and C library of the system, and what only pins versions.
EMPTY = {"gcc": "12", "gxx": "12", "sysroot": "2.28"}
EMPTY_ANYWHERE = {"cxx-compiler": "1.11", "pybind11-abi": "11"}


@dataclass
class Contents:
    """Files of a package: where each lies now, by its path in an environment; and the packages that it needs."""

    files: dict[str, Path] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    depends: list[str] = field(default_factory=list)


def conda_name(name: str) -> str:
    """Return conda-forge's name for a Python package."""
    name = canonicalize_name(name)
    return CONDA_NAMES.get(name, name)


def requirements(package: Distribution) -> list[Requirement]:
    """Return what a Python package needs on this machine, extras aside."""
    parsed = [Requirement(text) for text in package.requires or []]
    return [r for r in parsed if r.marker is None or r.marker.evaluate({"extra": ""})]


def everything_needed(roots: list[str]) -> list[Distribution]:
    """Return the installed packages of that name and, again and again, what they need."""
    found: dict[str, Distribution] = {}
    waiting = list(roots)
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name in found or name in OUR_OWN:
            continue
        found[name] = distribution(name)
        waiting += [requirement.name for requirement in requirements(found[name])]
    return list(found.values())


def contents_of(package: Distribution) -> Contents:
    """Return an installed Python package as files of a conda environment."""
    contents = Contents(depends=[PYTHON])
    for requirement in requirements(package):
        if canonicalize_name(requirement.name) not in OUR_OWN:
            contents.depends.append(f"{conda_name(requirement.name)} {requirement.specifier}".strip())
    for file in package.files or []:
        path, text = Path(str(package.locate_file(file))), str(file)
        if not text.startswith("..") and "__pycache__" not in text and path.exists():
            contents.files[f"{SITE}/{text}"] = path
    return contents


def programs_of(package: Distribution) -> Contents:
    """Return the programs that a Python package brings, without the Python around them: CMake and Ninja."""
    contents = Contents()
    for file in package.files or []:
        text = str(file)
        _, data, inside = text.partition("/data/")
        if data and inside.split("/")[0] in ("bin", "share"):
            contents.files[inside] = Path(str(package.locate_file(file)))
        elif text.startswith("../../../bin/") and Path(text).name == package.metadata["Name"]:
            contents.files[f"bin/{Path(text).name}"] = Path(str(package.locate_file(file)))
    return contents


def split_torch(torch: Contents) -> Contents:
    """Take libtorch out of torch as conda-forge does: what is in its folders moves to the prefix, links stay behind."""
    libtorch = Contents()
    for path in list(torch.files):
        inside = path.removeprefix(f"{SITE}/torch/")
        folder, _, rest = inside.partition("/")
        if inside == path or folder not in ("lib", "include", "share"):
            continue
        libtorch.files[inside] = torch.files.pop(path)
        entry = f"{folder}/{rest.split('/')[0]}"
        torch.links[f"{SITE}/torch/{entry}"] = f"../../../../../{entry}"
    python_half = "lib/libtorch_python.so"
    torch.files[python_half] = libtorch.files.pop(python_half)
    return libtorch


def system_files(headers: str, libraries: tuple[str, ...], cmake: str) -> Contents:
    """Return a library of the system's packages: its headers, static libraries and CMake files."""
    contents, usr = Contents(), Path("/usr")
    multiarch = f"lib/{platform.machine()}-linux-gnu"
    places = [usr / "include" / headers]
    places += [usr / folder / cmake for folder in ("share/cmake", "lib/cmake", f"{multiarch}/cmake")]
    places += [usr / multiarch / name for name in libraries]
    for place_ in places:
        for file in [place_] if place_.is_file() else place_.rglob("*"):
            if file.is_file():
                contents.files[str(file.relative_to(usr))] = file
    if not contents.files:
        raise SystemExit(f"{usr / 'include' / headers} is missing; scripts/install_system_packages.sh installs it")
    return contents


def main(channel: Path) -> None:
    """Write the channel."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = [*project["dependencies"], *project["optional-dependencies"]["fe"]]
    packages = everything_needed([Requirement(text).name for text in needed] + TOOLS)
    # A channel that was made from these very packages is kept.
    stamp = channel / "made-of.txt"
    made_of = "\n".join(sorted(f"{p.metadata['Name']} {p.version}" for p in packages)) + f"\n{sys.version}\n"
    made_of += "".join(file.read_text() for file in sorted(Path(__file__).parent.glob("*.py")))
    if stamp.is_file() and stamp.read_text() == made_of:
        return
    shutil.rmtree(channel, ignore_errors=True)
    staging = channel / "staging"

    for package in packages:
        name = conda_name(package.metadata["Name"])
        contents = programs_of(package) if name in ("cmake", "ninja") else contents_of(package)
        version = package.version.split("+")[0]
        if name == "pytorch":
            place(staging / "libtorch", split_torch(contents))
            assemble(channel, staging, "libtorch", version, [])
            contents.depends.append(f"libtorch {version}")
        place(staging / name, contents)
        assemble(channel, staging, name, version, contents.depends)
    stage_interpreter(staging / "python")
    assemble(channel, staging, "python", platform.python_version(), [])
    for name, contents in {
        "nlohmann_json": system_files("nlohmann", (), "nlohmann_json"),
        "gtest": system_files("gtest", ("libgtest.a", "libgtest_main.a"), "GTest"),
    }.items():
        place(staging / name, contents)
        assemble(channel, staging, name, "1.14" if name == "gtest" else "3.11", [])
    for name, version in {**{f"{n}_{SUBDIR}": v for n, v in EMPTY.items()}, **EMPTY_ANYWHERE}.items():
        place(staging / name, Contents())
        assemble(channel, staging, name, version, [])
    shutil.rmtree(staging)
    index(channel)
    stamp.write_text(made_of)


if __name__ == "__main__":
    os.umask(0o022)
    main(Path(sys.argv[1]).resolve())
    finish()
