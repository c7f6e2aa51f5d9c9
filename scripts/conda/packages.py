"""Conda packages and channels: putting files together, writing a package, indexing, installing. Through rattler."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

SUBDIR = "linux-64"
PLATFORMS = [SUBDIR, "noarch"]


def place(folder: Path, contents: Any) -> None:
    """Put the files of a package into a folder, as they lie in an environment."""
    folder.mkdir(parents=True)
    for path, source in contents.files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        source = source.resolve()
        try:
            os.link(source, target)
        except OSError:
            shutil.copy2(source, target)
    for path, goal in contents.links.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(goal)


def assemble(channel: Path, staging: Path, name: str, version: str, depends: Sequence[str]) -> None:
    """Write a package of the files in `staging/name`. Fast rather than small: it stays on this machine."""
    from rattler_build import assemble_package, collect_files

    (channel / SUBDIR).mkdir(parents=True, exist_ok=True)
    assemble_package(
        name=name,
        version=version,
        target_platform=SUBDIR,
        build_string="0",
        output_dir=channel / SUBDIR,
        files=collect_files(staging / name, include_hidden=True),
        depends=depends,
        license="as of the package that it was made of",
        compression_level=1,
        detect_prefix=False,
    )


def index(channel: Path) -> None:
    """Make a folder of packages a channel."""
    from rattler.index import index_fs

    for platform in PLATFORMS:
        (channel / platform).mkdir(exist_ok=True)
    asyncio.run(index_fs(channel))


def install(specs: Sequence[str], prefix: Path, channels: Sequence[Path], cache: Path) -> None:
    """Make an environment with these packages and what they need."""
    import rattler

    async def solve_and_install() -> None:
        records = await rattler.solve(
            [rattler.Channel(channel.resolve().as_uri()) for channel in channels],
            specs,
            platforms=PLATFORMS,
            virtual_packages=rattler.VirtualPackage.detect(),
        )
        await rattler.install(records, target_prefix=prefix, cache_dir=cache, show_progress=False)

    asyncio.run(solve_and_install())


def finish() -> NoReturn:
    """End the process at once: rattler's threads sometimes crash an interpreter that takes itself apart."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
