"""Time steppers, and going on from checkpoints."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import netCDF4
import numpy as np
import pytest
import stand_in
from places import TESTS
from write_input import dirichlet, generated, solid

from matlaw.cli.fe import main
from matlaw.errors import FatalError, InputFileError
from matlaw.fe import RunResult, run
from matlaw.fe.output.exodus import ExodusWriter

JUMP = TESTS / "cutback" / "jump.i"


@pytest.fixture
def marched(stand_in_law: Callable[[object], None], tmp_path: Path) -> Callable[..., RunResult]:
    """Runs a bar with a time stepper."""

    def go(stepper: dict[str, object], steps: int = 20, **blocks: dict[str, object]) -> RunResult:
        stand_in_law(stand_in.ElasticLaw())
        (tmp_path / "law.i").write_text("")
        path = tmp_path / "bar.i"
        path.write_text(
            solid(
                2,
                generated(2, "QUAD4", 1),
                BCs={
                    "x": dirichlet("disp_x", "left", 0.0),
                    "y": dirichlet("disp_y", "bottom", 0.0),
                    "pull": dirichlet("disp_x", "right", "1e-3*t"),
                },
                Executioner={"type": "Transient", "end_time": 4, "num_steps": steps, "TimeStepper": stepper},
                **blocks,
            )
        )
        return run(path, output=tmp_path, quiet=True)

    return go


def test_steps_from_a_function(marched: Callable[..., RunResult]) -> None:
    times = {"f": {"type": "PiecewiseLinear", "x": "0 2 4", "y": "0.5 1.5 0.5"}}
    result = marched({"type": "FunctionDT", "function": "f"}, Functions=times)
    expected, time = [], 0.0
    while time < 4.0 - 1e-12:
        expected.append(min(float(np.interp(time, [0, 2, 4], [0.5, 1.5, 0.5])), 4.0 - time))
        time += expected[-1]
    assert [record.dt for record in result.records] == pytest.approx(expected)
    slow = marched({"type": "FunctionDT", "function": "f", "growth_factor": 1.1, "min_dt": 0.6}, Functions=times)
    assert slow.records[0].dt == pytest.approx(0.6)
    assert slow.records[1].dt == pytest.approx(0.66)
    with pytest.raises(InputFileError, match=r"function = '1 - t': it gives 0 at time 1: a step has a positive length"):
        marched({"type": "FunctionDT", "function": "1 - t"})


def test_steps_to_given_times(marched: Callable[..., RunResult]) -> None:
    stepper = {"type": "TimeSequenceStepper", "time_sequence": "0 0.5 1.25 3"}
    assert [record.time for record in marched(stepper).records] == pytest.approx([0.5, 1.25, 3.0, 4.0])
    last = marched({**stepper, "use_last_dt_after_last_t": "true"})
    assert [record.time for record in last.records] == pytest.approx([0.5, 1.25, 3.0, 4.0])
    with pytest.raises(InputFileError, match="the times must increase"):
        marched({"type": "TimeSequenceStepper", "time_sequence": "1 1"})


def test_a_step_of_a_sequence_that_fails_is_cut(
    marched: Callable[..., RunResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[float] = []

    def fail(strain: np.ndarray, t: float) -> np.ndarray:
        tries.append(t)
        return np.full(len(strain), t == 3.0 and tries.count(3.0) == 1)

    monkeypatch.setattr(stand_in.Batch, "fail", fail)
    result = marched({"type": "TimeSequenceStepper", "time_sequence": "1 3"})
    assert [record.time for record in result.records] == pytest.approx([1.0, 2.0, 3.0, 4.0])
    assert [len(record.cutbacks) for record in result.records] == [0, 1, 0, 0]


def test_a_postprocessor_limits_the_step(marched: Callable[..., RunResult]) -> None:
    limit = {"limit": {"type": "FunctionValuePostprocessor", "function": "if(t < 2, 10, 0.25)"}}
    stepper = {"type": "IterationAdaptiveDT", "dt": 1, "timestep_limiting_postprocessor": "limit"}
    result = marched(stepper, Postprocessors=limit)
    assert [record.dt for record in result.records[:4]] == pytest.approx([1.0, 2.0, 0.25, 0.25])


def test_laws_limit_the_step(marched: Callable[..., RunResult], monkeypatch: pytest.MonkeyPatch) -> None:
    verdict = stand_in.Verdict

    def hesitant(*arguments: object) -> stand_in.Verdict:
        return verdict(*arguments, dt_factor=0.5)  # type: ignore[arg-type]

    monkeypatch.setattr(stand_in, "Verdict", hesitant)
    result = marched(
        {"type": "IterationAdaptiveDT", "dt": 1, "timestep_limiting_postprocessor": "limit"},
        steps=4,
        Postprocessors={"limit": {"type": "MatlawTimeStepLimit", "laws": "law"}},
    )
    assert [record.dt for record in result.records[:4]] == pytest.approx([1.0, 0.5, 0.25, 0.125])


@pytest.fixture
def recovered(artifact: Callable[[str], Path], tmp_path: Path) -> Callable[..., RunResult]:
    """Runs the viscoplastic bar with its jump."""

    def go(folder: str, *overrides: str, **options: object) -> RunResult:
        law = f"Matlaw/steel/input:={artifact('j2_viscoplastic-native') / 'model_aoti.i'}"
        settings = [law, "Outputs/checkpoint:=true", "Outputs/exodus:=true", *overrides]
        return run(JUMP, settings, tmp_path / folder, quiet=True, **options)  # type: ignore[arg-type]

    return go


def test_a_run_goes_on_bit_for_bit(recovered: Callable[..., RunResult], tmp_path: Path) -> None:
    """Half of a run and the rest give the whole: state of the law, step sizes, tables, Exodus files."""
    whole = recovered("whole")
    first = recovered("parts", "Executioner/num_steps:=6")
    rest = recovered("parts", recover="")
    assert len(first.records) + len(rest.records) == len(whole.records)
    assert np.array_equal(rest.problem.u, whole.problem.u)
    name = "jump_out.csv"
    assert (tmp_path / "parts" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    with (
        netCDF4.Dataset(str(tmp_path / "parts" / "jump_out.e")) as ours,
        netCDF4.Dataset(str(tmp_path / "whole" / "jump_out.e")) as theirs,
    ):
        assert list(ours.variables) == list(theirs.variables)
        for variable in theirs.variables:
            assert np.array_equal(np.ma.filled(ours[variable][:]), np.ma.filled(theirs[variable][:])), variable
    assert len(list((tmp_path / "parts" / "jump_out_cp").iterdir())) == 2  # MOOSE's num_files
    assert recovered("half", half=True).problem.time == 2.5


def test_files_that_cannot_be_written(
    recovered: Callable[..., RunResult], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "blocked").mkdir()
    (tmp_path / "blocked" / "jump_out_cp").touch()
    with pytest.raises(FatalError, match=r"the checkpoint .*0001.npz cannot be written: File exists"):
        recovered("blocked")

    def full(*_: object) -> None:
        raise RuntimeError("NetCDF: HDF error")

    monkeypatch.setattr(ExodusWriter, "close", full)
    with pytest.raises(FatalError, match=r"jump_out.e.* cannot be finished: NetCDF: HDF error"):
        recovered("full")
    with pytest.raises(FatalError, match=r"the checkpoint .* cannot be written"):
        recovered("blocked")


def test_checkpoints_that_do_not_fit(
    recovered: Callable[..., RunResult], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(FatalError, match=r"no checkpoint at .*jump_out_cp"):
        recovered("none", recover="")
    recovered("parts", "Executioner/num_steps:=2")
    files = sorted((tmp_path / "parts" / "jump_out_cp").iterdir())
    for name in ("jump_out_cp", "jump_out_cp/LATEST", "jump_out", f"jump_out_cp/{files[-1].name}"):
        assert len(recovered("parts", "Executioner/num_steps:=3", recover=name).records) == 1
        for extra in set((tmp_path / "parts" / "jump_out_cp").iterdir()) - set(files):
            extra.unlink()
        recovered("parts", "Executioner/num_steps:=2")
    monkeypatch.chdir(tmp_path)
    assert len(recovered("other", "Executioner/num_steps:=3", recover="parts/jump_out_cp").records) == 1
    with pytest.raises(FatalError, match="no checkpoint at /"):
        recovered("parts", recover="/")
    with pytest.raises(FatalError, match="belongs to another input"):
        recovered("parts", "Mesh/cube/nx:=2", recover="")
    with np.load(files[-1]) as file:
        contents = dict(file)
    for spoilt in ({**contents, "u": contents["u"][:-1]}, {k: v for k, v in contents.items() if k != "u"}):
        np.savez(files[-1], **spoilt)
        with pytest.raises(FatalError, match=r"is damaged: 'u' has to be numbers of shape \(\d+,\); it has "):
            recovered("parts", recover="")
    files[-1].write_bytes(files[-1].read_bytes()[:100])
    with pytest.raises(FatalError, match="is no checkpoint, or is damaged"):
        recovered("parts", recover="")


def test_one_line_per_step(artifact: Callable[[str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    law = f"Matlaw/steel/input:={artifact('j2_plastic-native') / 'model_aoti.i'}"
    source = TESTS / "plasticity" / "uniaxial.i"
    assert main([str(source), law, "Executioner/end_time:=0.5", "-q", "--no-png", "-o", str(tmp_path)]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Step ")]
    assert [line.split(",")[0] for line in lines] == ["Step 1: time 0.25", "Step 2: time 0.5"]
    assert lines[0].endswith("50 %") and lines[1].endswith("100 %")
