"""Turns meta.yaml, conda-build's format, into the recipe that rattler-build takes.

Variants, pins, compilers and hashes are left to that engine: what meta.yaml asks conda-build for with a function
becomes an expression of the engine's own.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import jinja2
import tomllib
import yaml

#: Variables of a compiler cache (CMAKE_CXX_COMPILER_LAUNCHER=ccache) that reach the build; it sees no others.
COMPILER_CACHE = re.compile(r"CMAKE_CXX_COMPILER_LAUNCHER|CCACHE_\w+")


def _expression(text: str) -> str:
    return "${{ " + text + " }}"


def _pin_subpackage(name: str, exact: bool = False, max_pin: str | None = None) -> str:
    how = "exact=True" if exact else f"upper_bound={max_pin!r}"
    return _expression(f"pin_subpackage({name!r}, {how})")


def load(root: Path, variants: dict[str, list[str]]) -> dict[str, Any]:
    """Return meta.yaml as conda-build would read it on Linux, with expressions of the engine where it would ask itself.

    :param root: the folder of meta.yaml
    :param variants: conda_build_config.yaml, of which selectors know the first values
    """
    known = {"linux": True, "osx": False, "win": False} | {key: values[0] for key, values in variants.items()}

    def selected(line: str) -> bool:
        selector = re.search(r"#\s*\[(.+)\]\s*$", line)
        return selector is None or bool(eval(selector[1], {}, known))

    lines = [line for line in (root / "meta.yaml").read_text().splitlines() if selected(line)]
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined)
    text = environment.from_string("\n".join(lines)).render(
        {key: _expression(key) for key in variants},
        compiler=lambda language: _expression(f"compiler({language!r})"),
        stdlib=lambda language: _expression(f"stdlib({language!r})"),
        pin_subpackage=_pin_subpackage,
        load_file_regex=lambda load_file, regex_pattern, from_recipe_dir: re.search(
            regex_pattern, (root / load_file).read_text()
        ),
        load_file_data=lambda name, from_recipe_dir: tomllib.loads((root / name).read_text()),
    )
    meta: dict[str, Any] = yaml.safe_load(text)
    return meta


def _tests(test: dict[str, Any]) -> list[dict[str, Any]]:
    tests: list[dict[str, Any]] = []
    if "imports" in test:
        tests.append({"python": {"imports": test["imports"], "pip_check": False}})
    if "commands" in test:
        tests.append(
            {
                "script": test["commands"],
                "requirements": {"run": test.get("requires", [])},
                "files": {"source": [f"{path}/**" for path in test.get("source_files", [])]},
            }
        )
    return tests


def _output(output: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    build = output.get("build", {})
    environment = dict(entry.split("=", 1) for entry in build.get("script_env", []))
    environment |= {name: value for name, value in os.environ.items() if COMPILER_CACHE.fullmatch(name)}
    requirements = dict(output.get("requirements", {}))
    if "run_exports" in build:
        requirements["run_exports"] = build["run_exports"]
    return {
        "package": {"name": output["name"], "version": str(output.get("version", meta["package"]["version"]))},
        "build": {"script": {"content": f"bash {output['script']}", "env": environment}},
        "requirements": requirements,
        "tests": _tests(output.get("test", {})),
        "about": {key: value for key, value in output["about"].items() if key != "license_family"},
    }


def render(root: Path, source: Path) -> dict[str, Any]:
    """Return the engine's recipe.

    :param root: the folder of meta.yaml
    :param source: the sources, in place of the repository that conda-build clones
    """
    meta = load(root, yaml.safe_load((root / "recipe" / "conda_build_config.yaml").read_text()))
    outputs = [output for output in meta["outputs"] if not output.get("build", {}).get("skip")]
    return {
        "recipe": {"name": meta["package"]["name"], "version": str(meta["package"]["version"])},
        "source": {"path": str(source)},
        "build": {"number": meta["build"]["number"]},
        "outputs": [_output(output, meta) for output in outputs],
    }
