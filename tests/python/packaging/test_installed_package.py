"""The installed package serves C++ hosts: relocatable, no trace of where it was built."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import matlaw
from matlaw import config

ROOT = Path(__file__).resolve().parents[3]


def tool(name: str) -> str:
    """A program of the system, else the one of this environment, which need not be activated."""
    return shutil.which(name) or str(Path(sys.executable).with_name(name))


CMAKE, CTEST = tool("cmake"), tool("ctest")


def run(*command: object, **options) -> str:
    done = subprocess.run(
        [str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}"
    return done.stdout


def built(source: Path, build: Path, *options: str) -> Path:
    """A project, built against the installed package."""
    generator = ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}"]
    run(CMAKE, *generator, "-S", source, "-B", build, f"-Dmatlaw_DIR={config.cmake_dir()}",
        f"-DPython3_EXECUTABLE={sys.executable}", *options)  # fmt: skip
    run(CMAKE, "--build", build)
    return build


@pytest.fixture(scope="module")
def hosts(tmp_path_factory) -> Path:
    """The example host, built against the installed package."""
    return built(ROOT / "examples" / "hosts" / "cpp", tmp_path_factory.mktemp("hosts"))


def pkg_config(*arguments: str) -> list[str]:
    """What pkg-config says of the installed package."""
    folder = config.library_dir() / "pkgconfig"
    return run("pkg-config", *arguments, env=dict(os.environ, PKG_CONFIG_PATH=str(folder))).split()


def test_config_prints_folders_that_exist():
    printed = run(sys.executable, "-m", "matlaw.config", "--cmake-dir", "--include-dir", "--library-dir").split()
    assert printed == [str(config.cmake_dir()), str(config.include_dir()), str(config.library_dir())]
    assert (config.cmake_dir() / "matlawConfig.cmake").is_file()
    assert (config.include_dir() / "matlaw" / "Model.h").is_file()
    assert (config.library_dir() / "libmatlaw.so").is_file()
    assert (config.library_dir() / "libmatlaw_eager.so").is_file()


def test_config_wants_to_be_asked_something(capsys):
    with pytest.raises(SystemExit) as stopped:
        config.main([])
    assert stopped.value.code == 2
    assert "name at least one folder" in capsys.readouterr().err


def test_the_cmake_package_names_no_absolute_folder():
    for file in config.cmake_dir().glob("*.cmake"):
        for line in file.read_text().splitlines():
            if line.lstrip().startswith("#"):
                continue
            found = re.search(r'(?:^|[\s";=])(/(?:home|root|usr|opt|tmp|work|build|var)[^\s";]*)', line)
            assert found is None, f"{file.name}: {line}"


@pytest.mark.skipif(shutil.which("readelf") is None, reason="needs readelf")
def test_libraries_find_each_other_relative_to_themselves():
    core = Path(config.prefix()).glob("_core.*.so")
    for library in (config.library_dir() / "libmatlaw.so", config.library_dir() / "libmatlaw_eager.so", *core):
        text = run("readelf", "-d", library)
        paths = re.search(r"\(R(?:UN)?PATH\).*\[(.*)\]", text)
        assert paths is not None, f"{library}\n{text}"
        assert all(path.startswith("$ORIGIN") for path in paths[1].split(":")), f"{library}: {paths[1]}"
        # A host that has no Python could not load them otherwise.
        assert "libpython" not in text
        if library.name == "libmatlaw.so":
            assert "libtorch_python" not in text


def test_a_compiled_host_runs(hosts, artifact):
    out = run(hosts / "compiled", artifact("j2_viscoplastic-native") / "model_aoti.i")
    assert "t = 1.0000" in out


def test_a_compiled_host_says_what_is_wrong(hosts, tmp_path):
    done = subprocess.run([hosts / "compiled", tmp_path / "nothing.i"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "nothing.i" in done.stderr


def test_a_host_without_python_says_what_to_link(hosts, models):
    done = subprocess.run([hosts / "compiled", models / "linear_elastic.i"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "linear_elastic.i is not compiled" in done.stderr
    assert "Link matlaw::eager" in done.stderr
    assert "matlaw-compile" in done.stderr


def test_a_project_with_laws_of_its_own(tmp_path):
    build = built(ROOT / "examples" / "cpp_consumer", tmp_path)
    said = run(CTEST, "--test-dir", build, "--output-on-failure", env=dict(os.environ, GTEST_COLOR="no"))
    assert "100% tests passed" in said
    assert (build / "viscoplastic" / "model_aoti.i").is_file()
    if (build / "test_eager").exists():
        assert all(name in said for name in ("test_eager", "test_own_interpreter", "test_either"))


def test_an_artifact_is_compiled_again_when_what_it_depends_on_changes(tmp_path):
    source, build = tmp_path / "source", tmp_path / "build"
    source.mkdir()
    (source / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\n"
        "project(laws LANGUAGES CXX)\n"
        "find_package(matlaw CONFIG REQUIRED)\n"
        "matlaw_add_artifact(steel INPUT law.i MODEL model DERIVATIVES stress:strain PARAMETERS model.E "
        "BACKEND native OUTPUT_DIR laws)\n"
        "get_target_property(stub steel MATLAW_STUB)\n"
        'message(STATUS "stub: ${stub}")\n'
    )
    law = (ROOT / "examples" / "models" / "linear_elastic.i").read_text()
    (source / "law.i").write_text("# steel\n!include elastic.i\n")
    (source / "elastic.i").write_text(law)
    built(source, build)
    stub, metadata = build / "laws" / "model_aoti.i", build / "laws" / "model" / "metadata.json"
    assert f"stub: {stub}" in run(CMAKE, build)
    entries = json.loads(metadata.read_text())
    assert [p["name"] for p in entries["parameters"]] == ["model.E"]
    assert entries["derivatives"][0]["output"] == "stress"

    assert "Compiling the law" not in run(CMAKE, "--build", build), "nothing changed"
    (source / "elastic.i").write_text(law.replace("0.3", "0.25"))
    assert "Compiling the law" in run(CMAKE, "--build", build)
    assert "0.25" in json.loads(metadata.read_text())["source"]["text"]
    assert "Compiling the law" not in run(CMAKE, "--build", build)


def test_wrong_use_of_matlaw_add_artifact_is_explained(tmp_path):
    head = "cmake_minimum_required(VERSION 3.25)\nproject(x LANGUAGES CXX)\nfind_package(matlaw CONFIG REQUIRED)\n"
    for call, message in [
        ("matlaw_add_artifact(steel MODEL model)", "INPUT is missing"),
        ("matlaw_add_artifact(steel INPUT nowhere.i MODEL model)", "there is no file"),
        ("matlaw_add_artifact(steel INPUT a.i MODEL m DERIVATIVE x:y)", "unknown arguments"),
    ]:
        (tmp_path / "CMakeLists.txt").write_text(head + call + "\n")
        done = subprocess.run(
            [CMAKE, "-S", tmp_path, "-B", tmp_path / "build", f"-Dmatlaw_DIR={config.cmake_dir()}"],
            capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode != 0
        assert message in " ".join(done.stderr.split()), done.stderr


@pytest.fixture(scope="module")
def foreign(tmp_path_factory) -> Path:
    """The folder of an extension module of another project, which links matlaw::matlaw alone."""
    cmake_dir = run(sys.executable, "-m", "pybind11", "--cmakedir").strip()
    source = Path(__file__).parent / "foreign_module"
    build = tmp_path_factory.mktemp("foreign")
    return built(source, build, f"-Dpybind11_DIR={cmake_dir}", f"-DPython_EXECUTABLE={sys.executable}")


@pytest.mark.parametrize("function", ["evaluate", "evaluate_unlocked"])
def test_inside_a_process_that_runs_python(foreign, models, artifact, monkeypatch, function):
    """Here: pytest itself. The eager runtime takes its interpreter; it is found beside libmatlaw."""
    monkeypatch.syspath_prepend(str(foreign))
    import foreign as module

    expected = matlaw.load_model(models / "linear_elastic.i", "model").forward({"strain": np.full((1, 6), 1e-3)})
    for path in (models / "linear_elastic.i", artifact("linear_elastic-native") / "model_aoti.i"):
        row = getattr(module, function)(str(path), "model", 1e-3)
        np.testing.assert_allclose(row, expected["stress"][0], rtol=1e-12)


@pytest.mark.parametrize("first", ["", "import matlaw;"])
def test_inside_a_fresh_python(foreign, models, first):
    """With and without matlaw imported before."""
    code = f"import sys; sys.path.insert(0, {str(foreign)!r}); {first} import torch, foreign; "
    code += f"print(foreign.evaluate({str(models / 'linear_elastic.i')!r}, 'model', 0.001)[3])"
    assert float(run(sys.executable, "-c", code)) == pytest.approx(200000 / 1.3 * 1e-3)


def test_inside_a_python_that_cannot_import_matlaw(foreign, models):
    """The remedy is one line. Without site-packages there is no matlaw and no torch."""
    code = (
        f"import sys; sys.path.insert(0, {str(foreign)!r}); import foreign\n"
        f"try: foreign.evaluate({str(models / 'linear_elastic.i')!r}, 'model', 0.001)\n"
        "except RuntimeError as e: print(e)"
    )
    said = run(sys.executable, "-I", "-S", "-c", code)
    assert "cannot import matlaw; set PYTHONPATH" in said
    assert said.count("\n") == 1


@pytest.mark.skipif(shutil.which("pkg-config") is None, reason="needs pkg-config")
def test_pkg_config(tmp_path, artifact):
    flags = pkg_config("--cflags", "--libs", "matlaw")
    program = tmp_path / "compiled"
    run("c++", ROOT / "examples" / "hosts" / "cpp" / "compiled.cpp", "-o", program, *flags)
    assert "t = 1.0000" in run(program, artifact("linear_elastic-native") / "model_aoti.i")
    assert pkg_config("--modversion", "matlaw") == [matlaw.__version__]
    assert "-lmatlaw_eager" in pkg_config("--libs", "matlaw-eager")
    for file in (config.library_dir() / "pkgconfig").glob("*.pc"):
        assert "=/" not in file.read_text(), "relocatable"
