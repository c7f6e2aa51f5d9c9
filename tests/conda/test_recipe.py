"""meta.yaml says what the rest of the repository says."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
yaml = pytest.importorskip("yaml")
tomllib = pytest.importorskip("tomllib")  # Python 3.11
sys.path.insert(0, str(ROOT / "scripts" / "conda"))
render = pytest.importorskip("render")

VARIANTS = yaml.safe_load((ROOT / "recipe" / "conda_build_config.yaml").read_text())
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def meta() -> dict:
    return render.load(ROOT, VARIANTS)


@pytest.fixture(scope="module")
def outputs(meta) -> dict[str, dict]:
    return {output["name"]: output for output in meta["outputs"]}


def test_the_version_is_the_one_of_the_package(meta, version):
    assert meta["package"]["version"] == version


def test_all_outputs_are_there(outputs):
    assert set(outputs) == {"libmatlaw", "matlaw", "matlaw-moose", "nmhit"}


def test_nmhit_is_left_out_where_the_channel_has_it():
    names = [output["name"] for output in render.load(ROOT, VARIANTS)["outputs"]]
    without = render.load(ROOT, VARIANTS | {"package_nmhit": ["no"]})["outputs"]
    left = [output["name"] for output in without if not output.get("build", {}).get("skip")]
    assert left == [name for name in names if name != "nmhit"]


def test_matlaw_needs_what_pyproject_names(outputs):
    """Under conda-forge's names, with the same bounds."""
    wanted = {}
    for text in PROJECT["dependencies"] + PROJECT["optional-dependencies"]["fe"]:
        name, bounds = re.fullmatch(r"([A-Za-z0-9_.-]+)(.*)", text).groups()
        wanted[{"torch": "pytorch"}.get(name.lower(), name.lower())] = bounds
    needed = dict(
        re.fullmatch(r"(\S+) ?(.*)", entry).groups() for entry in outputs["matlaw"]["requirements"]["run"][3:]
    )
    assert needed == wanted


def test_matlaw_brings_a_compiler_and_the_very_libmatlaw_it_was_built_for(outputs):
    first = outputs["matlaw"]["requirements"]["run"][:3]
    assert first == ["python ${{ python }}.*", "${{ pin_subpackage('libmatlaw', exact=True) }}", "cxx-compiler"]


def test_libtorch_is_the_release_that_the_build_asks_for():
    wanted = re.search(r'_matlaw_torch_wanted "([0-9.]+)"', (ROOT / "cmake" / "FindTorchLibraries.cmake").read_text())[
        1
    ]
    assert VARIANTS["libtorch"] == [wanted]
    assert any(text.startswith(f"torch>={wanted},<") for text in PROJECT["dependencies"])


def test_libmatlaw_has_no_python(outputs):
    needs = outputs["libmatlaw"]["requirements"]
    assert not [entry for entry in needs["host"] + needs["run"] if "python" in entry or "pytorch" in entry]


def test_files_of_the_recipe_exist(outputs):
    for output in outputs.values():
        assert (ROOT / output["script"]).is_file()
        for path in output["test"].get("source_files", []):
            assert (ROOT / path).is_dir()


def test_conda_build_finds_the_variants_beside_meta_yaml():
    assert (ROOT / "conda_build_config.yaml").resolve() == ROOT / "recipe" / "conda_build_config.yaml"
