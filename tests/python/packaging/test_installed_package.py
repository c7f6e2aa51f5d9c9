"""The installed package serves C++ hosts: relocatable, no trace of where it was built."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from matlaw import config

ROOT = Path(__file__).resolve().parents[3]


def run(*command: object, **options) -> str:
    done = subprocess.run(
        [str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}"
    return done.stdout


@pytest.fixture(scope="module")
def hosts(tmp_path_factory) -> Path:
    """The example hosts, built against the installed package."""
    build = tmp_path_factory.mktemp("hosts")
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    source = ROOT / "examples" / "hosts" / "cpp"
    run("cmake", *generator, "-S", source, "-B", build, f"-Dmatlaw_DIR={config.cmake_dir()}",
        f"-DPython3_EXECUTABLE={sys.executable}")  # fmt: skip
    run("cmake", "--build", build)
    return build


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


def test_an_eager_host_runs(hosts, models):
    if not (hosts / "eager").exists():
        pytest.skip("libpython was not found")
    # The interpreter in the program takes the environment of the first python3 on PATH.
    environment = dict(os.environ, PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    out = run(hosts / "eager", models / "linear_elastic.i", "model", env=environment)
    assert "stress: 4 rows" in out
    assert "0 rows failed" in out
