"""Builds the packages of meta.yaml, in-package tests included, and puts them into a channel: `build.py <folder>`.

The folder also holds the channel that they are built from (`channel`) and the engine's cache of packages.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from packages import SUBDIR, finish, index
from render import render

ROOT = Path(__file__).resolve().parents[2]


def export_sources(target: Path) -> None:
    """Copy what git has, or would take, of the working tree: no environment, nothing that was built."""
    shutil.rmtree(target, ignore_errors=True)
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).exists():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name, follow_symlinks=False)


class Log:
    """What the engine and the scripts of the packages say, in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("w", encoding="utf-8")

    def on_log(self, event: Any) -> None:
        """Write a line."""
        self._file.write(f"{event.message}\n")
        self._file.flush()

    def on_build_step(self, event: Any) -> None:
        """Write the name of a step."""
        self._file.write(f"== {event.step_name}: {event.message}\n")

    def on_download_start(self, event: Any) -> None:
        """Files of this machine need no progress bar."""

    on_download_progress = on_download_complete = on_download_start

    def end(self) -> str:
        """Return the last lines."""
        return "\n".join(self.path.read_text(encoding="utf-8").splitlines()[-120:])


def main(folder: Path) -> None:
    """Build all outputs, each against those before it."""
    cache, output = folder / "cache", folder / "packages"
    os.environ["RATTLER_CACHE_DIR"] = str(cache)
    from rattler_build import (
        JinjaConfig,
        PlatformConfig,
        RattlerBuildError,
        Stage0Recipe,
        ToolConfiguration,
        VariantConfig,
    )

    export_sources(folder / "source")
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    recipe = render(ROOT, folder / "source")
    names = [entry["package"]["name"] for entry in recipe["outputs"]]
    # Packages of an earlier run have the same names, and the cache knows no better.
    for name in names:
        for old in (cache / "pkgs").glob(f"{name}-[0-9]*"):
            shutil.rmtree(old) if old.is_dir() else old.unlink()

    variants = VariantConfig.from_conda_build_config(
        ROOT / "recipe" / "conda_build_config.yaml", JinjaConfig(platform=PlatformConfig(target_platform=SUBDIR))
    ).to_dict()
    variants["python"] = [f"{sys.version_info.major}.{sys.version_info.minor}"]  # the channel has no other
    rendered = Stage0Recipe.from_dict(recipe, recipe_dir=folder / "recipe").render(VariantConfig(variants))
    log = Log(folder / "log.txt")
    for variant in rendered:
        try:
            result = variant.run_build(
                tool_config=ToolConfiguration(test_strategy="native"),
                output_dir=output,
                channels=[output.as_uri(), (folder / "channel").as_uri()],
                progress_callback=log,
                no_build_id=True,
                no_include_recipe=True,
            )
        except RattlerBuildError as error:
            raise SystemExit(f"{log.end()}\n{variant.recipe.package.name}: {error}; all of it: {log.path}") from None
        print(f"{result.name} {result.version}: built and tested in {result.build_time:.0f} s", flush=True)
    index(output)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
    finish()
