"""Whole runs: convergence, cutbacks, agreement of the routes, equilibrium, and the Exodus file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import meshio
import netCDF4
import numpy as np
import pytest
import stand_in
from places import ROOT, TESTS

from matlaw.fe import RunResult, run
from matlaw.fe.executioner.time_steppers import SmallestStepFailedError

BAR = ROOT / "examples" / "fe" / "notched_bar.i"
SMALL = ["Mesh/bar/nx:=14", "Mesh/bar/ny:=6", "Mesh/bar/nz:=1"]
JUMP = TESTS / "cutback" / "jump.i"

Artifact = Callable[[str], Path]


def law(artifact: Artifact, name: str) -> str:
    return f"Matlaw/steel/input:={artifact(name) / 'model_aoti.i'}"


def columns(result: RunResult) -> dict[str, np.ndarray]:
    return {name: np.array([values[name] for _, values in result.history]) for name in result.history[0][1]}


def test_newton_converges_quadratically(artifact: Artifact, tmp_path: Path) -> None:
    result = run(
        BAR,
        [
            law(artifact, "j2_plastic-native"),
            *SMALL,
            "Functions/stretch/y:=0 0.09 0.09 0.09",
            "Executioner/end_time:=5",
            "Executioner/nl_rel_tol:=1e-12",
            "Executioner/nl_abs_tol:=1e-9",
        ],
        tmp_path,
        quiet=True,
    )
    assert columns(result)["largest_plastic_strain"][-1] > 1e-3
    orders = []
    for record in result.records:
        norms = np.array(record.norms)
        if len(norms) < 4:
            continue
        relative = np.log10(norms / norms[0])
        for a, b, c in zip(relative, relative[1:], relative[2:], strict=False):
            if -9.0 < c < -4.0 and b < -1.5:  # in the basin, above rounding
                orders.append((c - b) / (b - a))
    assert len(orders) >= 3
    assert np.median(orders) > 1.7, orders


def test_cutback_equals_small_steps_from_the_start(artifact: Artifact, tmp_path: Path) -> None:
    native = law(artifact, "j2_viscoplastic-native")
    common = [native, "Executioner/end_time:=3", "Executioner/TimeStepper/type:=ConstantDT"]
    cut = run(JUMP, [*common, "Executioner/TimeStepper/growth_factor:=1"], tmp_path / "cut", quiet=True)
    assert sum(len(record.cutbacks) for record in cut.records) >= 3
    sizes = [record.dt for record in cut.records]
    first = sizes.count(1.0)
    # the same step sizes without a failure: the large ones, then the small ones from where the first run was cut
    assert sizes == [1.0] * first + [sizes[-1]] * (len(sizes) - first)
    table = _steps_as_given(cut)
    smooth = _run_with_steps(JUMP, [native], sizes, tmp_path / "smooth")
    assert [record.cutbacks for record in smooth.records] == [[]] * len(sizes)
    assert np.array_equal(_steps_as_given(smooth), table)
    assert np.array_equal(smooth.problem.u, cut.problem.u)
    for ours, theirs in zip(smooth.problem.laws, cut.problem.laws, strict=True):
        for name in ("stress", "plastic_strain", "equivalent_plastic_strain"):
            assert np.array_equal(ours.output(name), theirs.output(name)), name


def _steps_as_given(result: RunResult) -> np.ndarray:
    values = columns(result)
    return np.stack([values[name] for name in ("stress_xx", "strain_xx", "equivalent_plastic_strain", "dt")])


def _run_with_steps(path: Path, overrides: list[str], sizes: list[float], folder: Path) -> RunResult:
    """A run that takes exactly these steps."""
    from matlaw.fe.executioner.time_steppers import ConstantDT

    left = iter(sizes[1:])
    original_first, original_next = ConstantDT.first, ConstantDT.next
    ConstantDT.first = lambda self, time: sizes[0]  # type: ignore[method-assign]
    ConstantDT.next = lambda self, time: next(left, 1.0)  # type: ignore[method-assign]
    try:
        overrides = [
            *overrides,
            f"Executioner/num_steps:={len(sizes)}",
            "Executioner/TimeStepper/type:=ConstantDT",
        ]
        return run(path, overrides, folder, quiet=True)
    finally:
        ConstantDT.first, ConstantDT.next = original_first, original_next  # type: ignore[method-assign]


def test_failed_attempts_leave_no_trace(stand_in_law: Callable[[object], None], tmp_path: Path) -> None:
    """A law that fails at random attempts gives the same accepted states as one that never does."""
    overrides = ["Executioner/dt:=0.25", "Executioner/end_time:=1", "Matlaw/steel/input:=" + str(BAR)]
    patch = TESTS / "elasticity" / "patch.i"
    stand_in_law(stand_in.J2Law())
    smooth = run(patch, overrides, tmp_path / "a", quiet=True)
    seen: set[float] = set()

    def fail(strain: np.ndarray, time: float) -> np.ndarray:
        rows = np.zeros(len(strain), bool)
        if time not in (0.25, 0.5, 0.75, 1.0):
            seen.add(time)
            rows[[3, 17]] = True
        return rows

    stand_in.Batch.fail = staticmethod(fail)
    try:
        stepper = [
            "Executioner/TimeStepper/type:=IterationAdaptiveDT",
            "Executioner/TimeStepper/dt:=0.25",
            "Executioner/TimeStepper/growth_factor:=1.2",
            "Executioner/TimeStepper/cutback_factor_at_failure:=0.8333333333333334",
        ]
        rough = run(patch, [*overrides, *stepper], tmp_path / "b", quiet=True)
    finally:
        stand_in.Batch.fail = None
    assert seen
    failed = [record.cutbacks for record in rough.records if record.cutbacks]
    assert failed
    assert "did not converge at 2 of 56 quadrature points" in failed[0][0][1]
    assert np.allclose(rough.problem.u, smooth.problem.u, rtol=0, atol=1e-12)


def test_substeps_of_the_law_spare_the_host_its_cutbacks(artifact: Artifact, tmp_path: Path) -> None:
    law_with_substeps = law(artifact, "j2_viscoplastic-substepping")
    steps = ["Executioner/TimeStepper/type:=ConstantDT", "Executioner/end_time:=4"]
    result = run(JUMP, [law_with_substeps, *steps], tmp_path / "substeps", quiet=True)
    assert [record.dt for record in result.records] == [1.0] * 4
    assert [record.cutbacks for record in result.records] == [[]] * 4
    # The global Newton has the tangent of the chain of substeps.
    assert all(record.newton_iterations <= 6 for record in result.records)
    cut = run(JUMP, [law(artifact, "j2_viscoplastic-native"), *steps], tmp_path / "cut", quiet=True)
    assert any(record.cutbacks for record in cut.records)


def test_smallest_step_is_an_error(artifact: Artifact, tmp_path: Path) -> None:
    with pytest.raises(SmallestStepFailedError, match=r"dtmin 0\.6: law 'steel' did not converge at 8 of 8"):
        run(JUMP, [law(artifact, "j2_viscoplastic-native"), "Executioner/dtmin:=0.6"], tmp_path, quiet=True)


@pytest.mark.inductor
def test_eager_compiled_and_native_agree(artifact: Artifact, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = TESTS / "viscoplasticity" / "uniaxial.i"
    both = law(artifact, "j2_viscoplastic-both")
    results = {"eager": columns(run(source, [], tmp_path / "eager", quiet=True))}
    for backend in ("native", "inductor"):
        monkeypatch.setenv("MATLAW_BACKEND", backend)
        results[backend] = columns(run(source, [both], tmp_path / backend, quiet=True))
    for backend in ("native", "inductor"):
        for name, expected in results["eager"].items():
            assert np.allclose(results[backend][name], expected, rtol=1e-10, atol=1e-14), (backend, name)


def test_bar_is_in_equilibrium_and_exodus_reads_back(artifact: Artifact, tmp_path: Path) -> None:
    result = run(
        BAR,
        [law(artifact, "j2_viscoplastic-native"), *SMALL, "Executioner/num_steps:=5"],
        tmp_path,
        picture=True,
        quiet=True,
    )
    problem = result.problem
    force = problem.internal.reshape(-1, 3)
    assert force.sum(axis=0) == pytest.approx([0, 0, 0], abs=1e-6 * np.abs(force).sum())
    left, right = problem.mesh.boundary_nodes("left"), problem.mesh.boundary_nodes("right")
    assert force[right, 0].sum() == pytest.approx(-force[left, 0].sum(), rel=1e-8)
    assert force[right, 0].sum() == pytest.approx(columns(result)["force"][-1], rel=1e-12)
    assert [path.name for path in result.files] == [
        "notched_bar_out.e",
        "notched_bar_out.csv",
        "notched_bar_out.png",
    ]
    assert (tmp_path / "notched_bar_out.png").read_bytes().startswith(b"\x89PNG")
    mesh = meshio.read(tmp_path / "notched_bar_out.e")
    assert np.array_equal(mesh.points, problem.mesh.points)
    assert np.array_equal(mesh.cells_dict["hexahedron"], problem.mesh.elements)
    assert {"notch", "left", "right"} <= set(mesh.point_sets)
    with netCDF4.Dataset(str(tmp_path / "notched_bar_out.e")) as file:
        assert len(file["time_whole"]) == 6
        assert np.array_equal(file["vals_nod_var1"][-1], problem.u[::3])
        variables = [bytes(row).split(b"\0")[0].decode() for row in file["name_elem_var"][:].filled(b"\0")]
        stress = np.asarray(file[f"vals_elem_var{variables.index('vonmises_stress') + 1}eb1"][-1])
        assert stress.shape == (problem.mesh.n_elements,)
        assert stress.max() == pytest.approx(columns(result)["largest_vonmises_stress"][-1])
        names = [bytes(row).split(b"\0")[0].decode() for row in file["ss_names"][:].filled(b"\0")]
        assert "notch" in names
        # a side of the side set lies where its name says
        side = names.index("right") + 1
        corners = {1: (0, 1, 5, 4), 2: (1, 2, 6, 5), 3: (2, 3, 7, 6), 4: (0, 4, 7, 3), 5: (0, 3, 2, 1), 6: (4, 5, 6, 7)}
        connect = np.asarray(file["connect1"][:]) - 1
        for element, number in zip(file[f"elem_ss{side}"][:], file[f"side_ss{side}"][:], strict=True):
            nodes = connect[element - 1][list(corners[int(number)])]
            assert np.all(problem.mesh.points[nodes, 0] == 30.0)


def test_two_laws_on_two_blocks(tmp_path: Path) -> None:
    """A stiff and a soft block in series carry the same stress; without lateral strain the answer is exact."""
    text = (TESTS / "elasticity" / "pressure.i").read_text()
    text = text.replace(
        "    zmax = 4\n  []\n",
        "    zmax = 4\n  []\n  [half]\n    type = SubdomainBoundingBoxGenerator\n    input = cube\n"
        "    bottom_left = '0 0 0'\n    top_right = '1 3 4'\n    block_id = 7\n    block_name = soft\n  []\n",
    )
    elastic = (ROOT / "examples" / "models" / "linear_elastic.i").read_text()
    (tmp_path / "stiff.i").write_text(elastic.replace("200000 0.3", "200000 0.0"))
    (tmp_path / "soft.i").write_text(elastic.replace("200000 0.3", "100000 0.0"))
    text = text.replace(
        "    input = '../../../../examples/models/linear_elastic.i'\n  []\n",
        "    input = stiff.i\n    block = 0\n  []\n  [soft]\n    input = soft.i\n    block = soft\n  []\n",
    )
    source = tmp_path / "series.i"
    source.write_text(text)
    values = columns(run(source, ["Executioner/num_steps:=1"], tmp_path, quiet=True))
    assert values["force"][-1] == pytest.approx(-1200.0, rel=1e-10)
    assert values["stress_xx"][-1] == pytest.approx(-100.0, rel=1e-10)
    assert values["shortening"][-1] == pytest.approx(-100.0 / 200000 - 100.0 / 100000, rel=1e-10)


def test_large_systems_are_solved_iteratively(
    stand_in_law: Callable[[object], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in_law(stand_in.J2Law())
    overrides = [f"Matlaw/steel/input:={BAR}", "Mesh/bar/nx:=24", "Mesh/bar/ny:=8", "Mesh/bar/nz:=2"]
    overrides += ["Executioner/num_steps:=2", "Executioner/TimeStepper/dt:=3.3"]
    direct = run(BAR, overrides, tmp_path / "a", quiet=True)
    monkeypatch.setattr("matlaw.fe.solve.linear.DIRECT_LIMIT", {2: 10, 3: 10})
    iterative = run(BAR, overrides, tmp_path / "b", quiet=True)
    assert iterative.records[0].newton_iterations > 2
    assert iterative.records[0].linear_iterations > 2 * iterative.records[0].newton_iterations
    assert np.allclose(iterative.problem.u, direct.problem.u, rtol=0, atol=1e-8)
