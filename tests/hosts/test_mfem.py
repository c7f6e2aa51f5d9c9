"""The MFEM example gives the numbers of matlaw-fe on the same mesh, and cuts a step that its law does not survive."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from matlaw import config
from matlaw.fe import run as run_fe

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "hosts" / "mfem"


def tool(name: str) -> str:
    """A program of the system, else the one of this environment, which need not be activated."""
    return shutil.which(name) or str(Path(sys.executable).with_name(name))


def mfem_dir() -> Path:
    """Folder of MFEM's CMake package in the PyPI wheel."""
    found = find_spec("mfem")
    for place in (found.submodule_search_locations or []) if found else []:
        folder = Path(place) / "external" / "ser" / "lib" / "cmake" / "mfem"
        if folder.is_dir():
            return folder
    pytest.skip("MFEM is not installed: pip install --no-deps -r scripts/requirements-hosts.txt (Linux on x86-64)")


@pytest.fixture(scope="module")
def program(tmp_path_factory) -> Path:
    """The example, built against the installed matlaw."""
    build = tmp_path_factory.mktemp("mfem")
    for command in (
        [tool("cmake"), "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}", "-S", EXAMPLE, "-B", build,
         f"-Dmatlaw_DIR={config.cmake_dir()}", f"-Dmfem_DIR={mfem_dir()}"],
        [tool("cmake"), "--build", build],
    ):  # fmt: skip
        done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert done.returncode == 0, done.stdout
    return build / "pull"


def pull(program: Path, law: Path, output: Path, *options: str) -> str:
    """Run the example; what it prints."""
    done = subprocess.run(
        [str(program), "--law", str(law / "model_aoti.i"), "--output", str(output), *options],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return done.stdout


def table(path: Path) -> np.ndarray:
    return np.loadtxt(path, delimiter=",", skiprows=1)


def by_place(points: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Rows of `values` in an order of their places that does not depend on the program."""
    return values[np.lexsort(np.round(points, 9).T)]


def test_it_gives_the_numbers_of_matlaw_fe(program, artifact, tmp_path):
    law = artifact("j2_plastic-native")
    out = pull(program, law, tmp_path)
    result = run_fe(EXAMPLE / "pull.i", [f"Matlaw/steel/input:={law / 'model_aoti.i'}"], tmp_path / "fe", quiet=True)

    history = table(tmp_path / "history.csv")
    expected = np.array([[time, values["force"]] for time, values in result.history])
    assert history.shape == (11, 2)
    np.testing.assert_allclose(history[:, 0], expected[:, 0], rtol=1e-12)
    np.testing.assert_allclose(history[:, 1], expected[:, 1], rtol=1e-8, atol=1e-8)
    # Well beyond the yield stress of 250 MPa on 1 mm^2 of a block that cannot contract at its ends.
    assert history[-1, 1] > 250.0
    assert history[-1, 1] - history[-2, 1] < 0.1 * history[1, 1]

    nodes = table(tmp_path / "displacements.csv")
    theirs = np.stack([result.problem.nodal_field(f"disp_{axis}") for axis in "xyz"], axis=1)
    got, wanted = by_place(nodes[:, :3], nodes[:, 3:]), by_place(result.problem.mesh.points, theirs)
    np.testing.assert_allclose(got, wanted, rtol=1e-8, atol=1e-8 * np.abs(wanted).max())

    # Exact tangent: few iterations to 1e-10.
    iterations = [int(n) for n in re.findall(r"Newton iterations (\d+)", out)]
    assert len(iterations) == 10
    assert max(iterations) <= 7
    pieces = list((tmp_path / "fields").rglob("*.vtu"))
    assert len(pieces) == 11
    assert (tmp_path / "fields" / "fields.pvd").is_file()


def test_a_step_that_the_law_does_not_survive_is_cut(program, artifact, tmp_path):
    law = artifact("j2_viscoplastic-native")
    options = ("-n", "1", "--stretch", "0.4", "--end", "1e-3", "-dtm", "1e-7")
    out = pull(program, law, tmp_path / "cut", *options, "-dt", "5e-4")
    assert "the law did not converge at" in out
    assert "the step is cut" in out
    # A rejected step leaves no trace: the same history as with the small steps at once.
    assert "cut" not in pull(program, law, tmp_path / "small", *options, "-dt", "6.25e-5")
    cut, small = (table(tmp_path / name / "history.csv") for name in ("cut", "small"))
    assert cut.shape == small.shape == (17, 2)
    np.testing.assert_allclose(cut, small, rtol=1e-10)


def test_a_wrong_law_is_no_reason_to_cut(program, artifact, tmp_path):
    done = subprocess.run([str(program), "--law", str(tmp_path / "nothing.i")], capture_output=True, text=True)
    assert done.returncode == 1
    assert "nothing.i" in done.stderr
    assert "cut" not in done.stdout
