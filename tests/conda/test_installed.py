"""Packages of `make conda` in an environment: compiling, C++ hosts, finite elements; and after it was moved."""

from __future__ import annotations

import csv
import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
MODELS = ROOT / "examples" / "models"


@pytest.fixture(scope="module")
def law(environment, tmp_path_factory) -> Path:
    """A stub with its artifact, compiled in the environment."""
    folder = tmp_path_factory.mktemp("law")
    environment.run(
        "matlaw-compile", MODELS / "j2_viscoplastic.i", "--model", "model", "-d", "stress:strain",
        "--backend", "native", "--output-dir", folder,
    )  # fmt: skip
    return folder / "model_aoti.i"


@pytest.fixture(scope="module")
def host(environment, tmp_path_factory) -> Path:
    """The C++ host of the examples, built with what the environment holds."""
    build = tmp_path_factory.mktemp("host")
    environment.run(
        "cmake", "-G", "Ninja", "-S", ROOT / "examples" / "hosts" / "cpp", "-B", build,
        f"-DCMAKE_PREFIX_PATH={environment.prefix}",
    )  # fmt: skip
    environment.run("cmake", "--build", build)
    return build / "compiled"


def test_packages_have_the_version_of_the_sources(environment, version):
    code = "import matlaw, matlaw.config; print(matlaw.__version__, matlaw.config.prefix())"
    said = environment.run("python", "-c", code)
    assert said.split() == [version, str(environment.prefix.resolve())]
    names = {path.name.rsplit("-", 2)[0] for path in (environment.prefix / "conda-meta").glob("*.json")}
    assert {"libmatlaw", "matlaw", "matlaw-moose", "nmhit", "libtorch", "pytorch"} <= names


def test_libraries_name_no_absolute_folder(environment):
    libraries = [
        *environment.prefix.glob("lib/libmatlaw*.so"),
        *environment.prefix.glob("lib/python*/site-packages/matlaw/*.so"),
    ]
    assert {path.name.split(".")[0] for path in libraries} == {
        "libmatlaw", "libmatlaw_eager", "libmatlaw_umat", "libmatlaw_umat_plugin", "_core",
    }  # fmt: skip
    for library in libraries:
        paths = re.search(r"\(R(?:UN)?PATH\).*\[(.*)\]", environment.run("readelf", "-d", library))
        for path in paths[1].split(":") if paths else []:
            assert path.startswith("$ORIGIN"), f"{library}: {path}"


def test_a_cpp_host_runs_a_law_that_was_compiled_there(environment, host, law):
    assert "t = 1.0000" in environment.run(host, law)
    used = re.findall(r"=> (\S*lib(?:matlaw|torch|c10)\S*)", environment.run("ldd", host))
    assert used
    assert all(Path(path).resolve().is_relative_to(environment.prefix.resolve()) for path in used), used


def test_a_project_may_find_torch_itself(environment, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\n"
        "project(both LANGUAGES CXX)\n"
        "find_package(Torch REQUIRED)\n"
        "find_package(matlaw CONFIG REQUIRED)\n"
        'message(STATUS "torch of matlaw: ${MATLAW_TORCH_LIBDIR} = ${TORCH_INSTALL_PREFIX}/lib")\n'
        "add_executable(both main.cpp)\n"
        'target_link_libraries(both PRIVATE matlaw::matlaw "${TORCH_LIBRARIES}")\n'
    )
    (tmp_path / "main.cpp").write_text(
        "#include <matlaw/torch_release.h>\n#include <ATen/core/Tensor.h>\n#include <ATen/ops/ones.h>\n"
        "int main() { matlaw::check_torch_release(); return at::ones({2}).sum().item<double>() == 2.0 ? 0 : 1; }\n"
    )
    said = environment.run("cmake", "-G", "Ninja", "-S", tmp_path, "-B", tmp_path / "build",
                           f"-DCMAKE_PREFIX_PATH={environment.prefix}")  # fmt: skip
    places = re.search(r"torch of matlaw: (\S+) = (\S+)", said)
    assert Path(places[1]).resolve() == Path(places[2]).resolve() == (environment.prefix / "lib").resolve()
    environment.run("cmake", "--build", tmp_path / "build")
    environment.run(tmp_path / "build" / "both")


@pytest.mark.skipif(shutil.which("pkg-config") is None, reason="needs pkg-config")
def test_pkg_config(environment, law, tmp_path):
    """Without CMake."""
    folder = str(environment.prefix / "lib" / "pkgconfig")
    flags = environment.run("pkg-config", "--cflags", "--libs", "matlaw", PKG_CONFIG_PATH=folder).split()
    environment.run("c++", ROOT / "examples" / "hosts" / "cpp" / "compiled.cpp", "-o", tmp_path / "compiled", *flags)
    assert "t = 1.0000" in environment.run(tmp_path / "compiled", law)


def columns(path: Path) -> dict[str, np.ndarray]:
    with path.open() as file:
        rows = list(csv.DictReader(file))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


def test_finite_elements_give_the_gold_values(environment, tmp_path):
    shutil.copytree(ROOT / "moose_app" / "test", tmp_path / "moose_app" / "test")
    shutil.copytree(MODELS, tmp_path / "examples" / "models")
    folder = tmp_path / "moose_app" / "test" / "tests" / "plasticity"
    environment.run("matlaw-fe", "uniaxial.i", cwd=folder)
    found, gold = columns(folder / "uniaxial_out.csv"), columns(folder / "gold" / "uniaxial_out.csv")
    assert found.keys() == gold.keys()
    for name in gold:
        np.testing.assert_allclose(found[name], gold[name], rtol=1e-6, atol=1e-9, err_msg=name)


def test_matlaw_moose_holds_the_application_and_sets_matlaw_dir(environment):
    app = environment.prefix / "share" / "matlaw" / "moose_app"
    for file in (ROOT / "moose_app" / "test").rglob("*.i"):
        assert (app / file.relative_to(ROOT / "moose_app")).read_bytes() == file.read_bytes()
    activated = f". {environment.prefix}/etc/conda/activate.d/matlaw-moose.sh"
    left = f". {environment.prefix}/etc/conda/deactivate.d/matlaw-moose.sh"
    said = environment.run("sh", "-c", f"{activated}; echo $MATLAW_DIR; {left}; echo ${{MATLAW_DIR-unset}}")
    assert said.split() == [str(environment.prefix), "unset"]
    said = environment.run("sh", "-c", f"{activated}; {left}; echo $MATLAW_DIR", MATLAW_DIR="/before")
    assert said.split() == ["/before"]


def test_law_plugin_and_host_work_after_the_environment_moved(environment, host, law, tmp_path):
    """Last in this file: it takes the environment away."""
    beside = environment.prefix.with_name("plugins")  # moves together with the environment
    for folder in (tmp_path / "plugins", beside):
        environment.run("matlaw-umat", law, "--model", "model", "-o", folder / "steel")
    place = environment.prefix.parent.rename(environment.prefix.parent.with_name("moved"))
    moved = type(environment)(place / environment.prefix.name, place / environment.home.name)
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(law.parent, elsewhere / "law")
    shutil.move(tmp_path / "plugins", elsewhere / "plugins")

    assert "t = 1.0000" in moved.run(
        host, elsewhere / "law" / "model_aoti.i", LD_LIBRARY_PATH=str(moved.prefix / "lib")
    )
    tests = {"PYTHONPATH": str(ROOT / "tests" / "python" / "umat")}
    # A plugin that lay elsewhere, in a program of the environment, which need not be activated.
    code = (
        "import sys, numpy as np, matlaw, matlaw.config\n"
        "from umat_host import Point, Umat\n"
        "law = matlaw.load_model(sys.argv[1], 'model')\n"
        "values = {n: np.zeros((3, *s)) for n, s in zip(law.input_names, law.input_base_shapes)}\n"
        "values['strain'] = np.tile([1e-3, 0, 0, 0, 0, 0], (3, 1)); values['t'] = np.ones(3)\n"
        "stress = law.evaluate(values).outputs['stress']\n"
        "point = Point(strain_increment=np.array([1e-3, 0, 0, 0, 0, 0]))\n"
        "Umat(sys.argv[2])(point)\n"
        "np.testing.assert_allclose(point.stress[:3], stress[0, :3], rtol=1e-10)\n"
        "print(matlaw.config.prefix(), point.stress[0])\n"
    )
    said = moved.run(
        "python", "-c", code, elsewhere / "law" / "model_aoti.i", elsewhere / "plugins" / "steel.so",
        CONDA_PREFIX="", **tests,
    )  # fmt: skip
    prefix, stress = said.split()[-2:]
    assert prefix == str(moved.prefix.resolve())
    # In a program of another place: by the way from plugin to environment, and by the activated environment.
    code = (
        "import sys, numpy as np\n"
        "from umat_host import Point, Umat\n"
        "point = Point(strain_increment=np.array([1e-3, 0, 0, 0, 0, 0]))\n"
        "Umat(sys.argv[1])(point)\n"
        "print(point.stress[0])\n"
    )
    for plugin, activated in ((place / "plugins", ""), (elsewhere / "plugins", str(moved.prefix))):
        said = moved.run(sys.executable, "-c", code, plugin / "steel.so", CONDA_PREFIX=activated, **tests)
        assert float(said) == pytest.approx(float(stress), rel=1e-12)
