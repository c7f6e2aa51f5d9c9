"""Install a real MOOSE for tests: the PyPI package rabbit-fem, a build of MOOSE with solid mechanics.

    python scripts/install_moose_wheel.py [FOLDER]

puts it into FOLDER (default: ``moose`` in the environment of this Python) and writes ``FOLDER/rabbit-opt``, which
starts it. It needs the C library of Debian 13 and a few more: these are unpacked from Debian's packages into FOLDER, on
Debian 12 and 13 alike; nothing of the system is changed and no root is needed. Elsewhere, and where a download fails,
this says so and exits with 0: the tests that need MOOSE are then skipped.

What is downloaded comes through pip and apt as they are set up on this machine.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

WHEEL = "rabbit-fem==2026.10.1"
WHEEL_PLATFORM = "manylinux_2_38_x86_64"
RUNTIME_RELEASE = "trixie"
#: What MOOSE's libraries need of Debian 13; all in a folder of their own, so that they fit each other.
RUNTIME_PACKAGES = [
    "libc6",
    "libstdc++6",
    "libgcc-s1",
    "zlib1g",
    "libtirpc3t64",
    "libgssapi-krb5-2",
    "libkrb5-3",
    "libk5crypto3",
    "libkrb5support0",
    "libcom-err2",
    "libkeyutils1",
]
LIBRARIES = "usr/lib/x86_64-linux-gnu"


class NotHereError(Exception):
    """The machine cannot have MOOSE; the text says why."""


def check_system() -> None:
    """Make sure that this is a machine on which all this works.

    :raises NotHereError: it is another
    """
    try:
        system = platform.freedesktop_os_release()
    except OSError:
        system = {}
    if platform.machine() != "x86_64" or system.get("ID") != "debian" or system.get("VERSION_ID") not in ("12", "13"):
        name = system.get("PRETTY_NAME", platform.system())
        raise NotHereError(f"this is {name} on {platform.machine()}, not Debian 12 or 13 on x86_64")


def run(*command: str, cwd: Path | None = None) -> str:
    """What a command prints.

    :raises NotHereError: it fails
    """
    try:
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    except FileNotFoundError as error:
        raise NotHereError(f"there is no {command[0]}") from error
    if done.returncode != 0:
        raise NotHereError(f"{' '.join(command)} failed:\n{(done.stderr or done.stdout).strip()}")
    return done.stdout


def unpack_wheel(folder: Path, downloads: Path) -> None:
    """MOOSE itself, below ``folder/rabbit``."""
    run(
        *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"),
        *("--platform", WHEEL_PLATFORM, "--dest", str(downloads), WHEEL),
    )
    with zipfile.ZipFile(next(downloads.glob("rabbit_fem-*.whl"))) as archive:
        archive.extractall(folder)


def apt_source(release: str) -> str:
    """A source for another release of Debian: where this machine gets its own from."""
    codename = platform.freedesktop_os_release()["VERSION_CODENAME"]
    targets = run("apt-get", "indextargets", "--format", "$(CREATED_BY) $(REPO_URI) $(RELEASE) $(COMPONENT)")
    for line in targets.splitlines():
        kind, uri, *rest = line.split()
        if kind == "Packages" and rest == [codename, "main"]:
            # Debian's own keyring names the key; it knows the next release's key before that release is out.
            return f"deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] {uri} {release} main\n"
    raise NotHereError(f"apt has no source for {codename} main, so where to get {release} from is not known")


def unpack_runtime(folder: Path, downloads: Path) -> None:
    """The packages of Debian 13, below ``folder``; apt's own state and the system stay as they are."""
    sources = downloads / "sources.list"
    sources.write_text(apt_source(RUNTIME_RELEASE))
    for name in ("lists/partial", "archives/partial"):
        (downloads / name).mkdir(parents=True)
    (downloads / "status").touch()
    options = [
        f"Dir::Etc::SourceList={sources}",
        "Dir::Etc::SourceParts=/dev/null",
        f"Dir::State::Lists={downloads / 'lists'}",
        f"Dir::State::status={downloads / 'status'}",
        f"Dir::Cache={downloads}",
        "APT::Update::Post-Invoke-Success::=",
        "Acquire::Languages=none",
    ]
    if os.geteuid() == 0:
        options.append("APT::Sandbox::User=root")  # the folder is ours, not that of apt's own user
    apt = ["apt-get", "-qq", *(part for option in options for part in ("-o", option))]
    run(*apt, "update")
    run(*apt, "download", *RUNTIME_PACKAGES, cwd=downloads)
    for package in sorted(downloads.glob("*.deb")):
        run("dpkg-deb", "--extract", str(package), str(folder))


def write_launcher(folder: Path) -> Path:
    """``folder/rabbit-opt``: MOOSE on the libraries that were unpacked."""
    launcher = folder / "rabbit-opt"
    binaries = folder / "rabbit" / "bin"
    program = binaries / "rabbit"
    program.chmod(0o755)
    # MOOSE looks for its data beside the program that runs, which is the loader: so that lies there, too.
    loader = binaries / "ld-linux-x86-64.so.2"
    shutil.copy(folder / LIBRARIES / loader.name, loader)
    paths = f"{folder / LIBRARIES}:{folder / 'rabbit' / 'lib'}"
    launcher.write_text(f'#!/bin/sh\nexec "{loader}" --library-path "{paths}" "{program}" "$@"\n')
    launcher.chmod(0o755)
    return launcher


def install(folder: Path) -> Path:
    """MOOSE in ``folder``; returns what starts it. Does nothing where it runs already."""
    check_system()
    launcher = folder / "rabbit-opt"
    stamp = folder / "version"
    if launcher.exists() and stamp.exists() and stamp.read_text() == WHEEL:
        return launcher
    folder.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    with tempfile.TemporaryDirectory() as name:
        downloads = Path(name)
        unpack_wheel(folder, downloads)
        unpack_runtime(folder, downloads)
    write_launcher(folder)
    version = run(str(launcher), "--version")
    stamp.write_text(WHEEL)
    print(f"{launcher}: {version.strip()}")
    return launcher


def main() -> int:
    """Install it, or say why not."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=Path(sys.prefix) / "moose")
    folder = parser.parse_args().folder.absolute()
    try:
        install(folder)
    except NotHereError as error:
        shutil.rmtree(folder, ignore_errors=True)
        print(f"MOOSE was not installed, tests that need it will be skipped: {error}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
