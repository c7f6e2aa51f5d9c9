"""`pip install`: an sdist, the wheel that is built from it, a C++ project with that wheel. Minutes of compiling."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import matlaw

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(
    "MATLAW_DISTRIBUTIONS" not in os.environ,
    reason="`make distributions` builds the sdist and the wheel, and runs this",
)


def run(*command: object, **options) -> str:
    done = subprocess.run(
        [str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}"
    return done.stdout


def tool(name: str) -> str:
    return shutil.which(name) or str(Path(sys.executable).with_name(name))


@pytest.fixture(scope="module")
def sdist(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    code = f"from scikit_build_core.build import build_sdist; build_sdist({str(folder)!r})"
    run(sys.executable, "-c", code, cwd=ROOT)
    (archive,) = folder.glob("*.tar.gz")
    return archive


@pytest.fixture(scope="module")
def wheel(sdist, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(
        sys.executable, "-m", "pip", "wheel", sdist, "--no-deps", "--no-build-isolation", "-w", folder,
        "-C", "cmake.define.MATLAW_PRECOMPILE=ON",
        env=dict(os.environ, PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}"),
    )  # fmt: skip
    (archive,) = folder.glob("*.whl")
    return archive


@pytest.fixture(scope="module")
def package(wheel, tmp_path_factory) -> Path:
    """The wheel, unpacked beside a link to torch as in site-packages."""
    site = tmp_path_factory.mktemp("site")
    run(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", site, wheel)
    import torch

    (site / "torch").symlink_to(Path(torch.__file__).parent)
    return site / "matlaw"


def test_the_version_comes_from_one_place(sdist, wheel):
    assert sdist.name == f"matlaw-{matlaw.__version__}.tar.gz"
    assert wheel.name.startswith(f"matlaw-{matlaw.__version__}-")
    with tarfile.open(sdist) as archive:
        names = archive.getnames()
    assert f"matlaw-{matlaw.__version__}/python/matlaw/version.py" in names


def test_the_sdist_holds_sources_alone(sdist):
    with tarfile.open(sdist) as archive:
        names = [name.split("/", 1)[1] for name in archive.getnames() if "/" in name]
    assert {"CMakeLists.txt", "meta.yaml", "LICENSE", "recipe/build_matlaw.sh"} <= set(names)
    assert not [name for name in names if name.endswith((".so", ".o", ".pt2", ".pyc"))]
    assert not [name for name in names if name.split("/")[0] in ("build", "out", ".venv", ".git")]


def test_the_wheel_holds_no_trace_of_the_build(wheel):
    """Neither folders of the build nor files that only the build needs."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        assert "matlaw/lib/libmatlaw.so" in names
        assert any(name.startswith("matlaw/_core.") for name in names)
        [interface] = [name for name in names if name.startswith("matlaw/aoti_interface-")]
        assert not re.search(rb"/(home|root|tmp|work)/", archive.read(interface))
        names.remove(interface)
        assert not [name for name in names if name.endswith((".o", ".a", ".ninja")) or "CMakeFiles" in name]
        for name in names:
            if not name.endswith((".cmake", ".pc")):
                continue
            for line in archive.read(name).decode().splitlines():
                found = re.search(
                    r'(?:^|[\s";=])(/(?:home|root|usr|opt|tmp|work|build|var)[^\s";]*)', line.split("#")[0]
                )
                assert found is None, f"{name}: {line}"
                assert "_deps" not in line and "BUILD_INTERFACE" not in line, f"{name}: {line}"


def test_the_licence_travels(wheel):
    with zipfile.ZipFile(wheel) as archive:
        assert [name for name in archive.namelist() if name.endswith("licenses/LICENSE")]


def test_a_cpp_project_in_an_empty_folder(package, artifact, tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    shutil.copy(ROOT / "examples" / "hosts" / "cpp" / "compiled.cpp", project)
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\n"
        "project(empty LANGUAGES CXX)\n"
        "find_package(matlaw CONFIG REQUIRED)\n"
        "add_executable(compiled compiled.cpp)\n"
        "target_link_libraries(compiled PRIVATE matlaw::matlaw)\n"
    )
    run(tool("cmake"), "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}", "-S", project, "-B", project / "build",
        f"-Dmatlaw_DIR={package / 'lib' / 'cmake' / 'matlaw'}")  # fmt: skip
    run(tool("cmake"), "--build", project / "build")
    assert "t = 1.0000" in run(project / "build" / "compiled", artifact("j2_viscoplastic-native") / "model_aoti.i")


def test_python_loads_it(package, artifact):
    """From the wheel, not from the installed package."""
    stub = artifact("linear_elastic-native") / "model_aoti.i"
    code = f"import matlaw; print(matlaw.__file__); matlaw.load_model({str(stub)!r}, 'model')"
    said = run(sys.executable, "-c", code, env=dict(os.environ, PYTHONPATH=str(package.parent)))
    assert Path(said.strip()).parent == package


def test_the_libraries_alone_need_no_python(tmp_path):
    """Configured as docs/install.md says, from the sources."""
    import torch

    said = run(
        tool("cmake"), "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}", "-S", ROOT, "-B", tmp_path / "build",
        f"-DCMAKE_INSTALL_PREFIX={tmp_path / 'prefix'}", "-DMATLAW_PYTHON=OFF",
        f"-DMATLAW_TORCH_ROOT={Path(torch.__file__).parent}", env=dict(os.environ, PATH="/usr/bin:/bin"),
    )  # fmt: skip
    assert "pybind11" not in said and "Python" not in said
    targets = run(tool("ninja"), "-C", tmp_path / "build", "-t", "targets", "all")
    assert "libmatlaw.so" in targets and "_core" not in targets and "libmatlaw_eager" not in targets
