"""The command: exit codes, one clear message, nothing written when something is wrong."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from matlaw.cli.compile import main


def run(models: Path, tmp_path: Path, *options: str, law: str = "linear_elastic") -> int:
    arguments = [
        str(models / f"{law}.i"),
        "--model",
        "model",
        "--output-dir",
        str(tmp_path / "out"),
        "--backend",
        "native",
    ]
    return main([*arguments, *options])


def test_progress_summary_and_second_run(models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(models, tmp_path, "-d", "stress:strain") == 0
    out = capsys.readouterr().out
    assert "[4/4] model_aoti.i\n" in out
    assert "statements per row" in out
    assert "self-check" in out
    before = (tmp_path / "out/model/metadata.json").stat().st_mtime_ns
    assert run(models, tmp_path, "-d", "stress:strain") == 0
    assert "up to date" in capsys.readouterr().out
    assert (tmp_path / "out/model/metadata.json").stat().st_mtime_ns == before
    assert run(models, tmp_path, "-d", "stress:strain", "--force", "-q") == 0
    assert (tmp_path / "out/model/metadata.json").stat().st_mtime_ns != before
    assert capsys.readouterr().out == ""


def test_changed_options_and_damage_compile_again(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(models, tmp_path, "-q")
    run(models, tmp_path, "-d", ":")
    assert "up to date" not in capsys.readouterr().out
    kernel = tmp_path / "out/model/cpu/float64/model.x86-64-v3.so"
    kernel.write_bytes(kernel.read_bytes()[:100])
    run(models, tmp_path, "-d", ":")
    assert "up to date" not in capsys.readouterr().out
    run(models, tmp_path, "-d", ":", "Models/model/coefficients:='1.0 0.2'")
    assert "up to date" not in capsys.readouterr().out


def test_overrides_are_compiled_in(models: Path, tmp_path: Path) -> None:
    assert run(models, tmp_path, "Models/model/coefficients:='3.5 0.25'", "-p", "model.E", "-q", "--no-stub") == 0
    text = (tmp_path / "out/model/metadata.json").read_text()
    assert "3.5" in text
    assert not (tmp_path / "out/model_aoti.i").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-d", "stress:strian"], "unknown input 'strian'; did you mean 'strain'?"),
        (["-d", "stress"], "expected OUT:IN"),
        (["-p", "model.EE"], "unknown parameter 'model.EE'"),
        (["--device", "cuda"], "--device cuda: native kernels are for CPUs"),
        (["Models/modle/x:=1"], "modle"),
    ],
)
def test_mistakes_give_one_message_and_write_nothing(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    assert run(models, tmp_path, *options) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("error:") == 1
    assert "Traceback" not in captured.err
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a CUDA device")
def test_cuda_without_a_device(models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(models, tmp_path, "--device", "cpu", "cuda", "--backend", "both") == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.endswith("--device cuda: this torch sees no CUDA device; compile with --device cpu")
    assert not (tmp_path / "out").exists()


def test_tolerances_that_float32_cannot_meet(models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    quick = ["--dtype", "float32", "--verify", "none", "-q"]
    warning = "matlaw-compile: warning: Solvers/newton has abs_tol = 1e-10 and rel_tol = 1e-12, finer than float32"
    for _ in range(2):  # the second time nothing is compiled
        assert run(models, tmp_path, *quick, law="j2_viscoplastic") == 0
        [line] = capsys.readouterr().err.splitlines()
        assert line.startswith(warning)
        assert "Solvers/newton/abs_tol:=1e-07" in line
    assert run(models, tmp_path, *quick, law="linear_elastic") == 0
    assert run(models, tmp_path, *quick, "Solvers/newton/abs_tol:=1e-7", law="j2_viscoplastic") == 0
    assert run(models, tmp_path, *quick[2:], law="j2_viscoplastic") == 0
    assert capsys.readouterr().err == ""


def test_a_stub_is_refused(models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(models, tmp_path, "--backend", "native", "-q") == 0
    [stub] = tmp_path.rglob("model_aoti.i")
    assert main([str(stub), "--model", "model", "--output-dir", str(tmp_path / "again")]) == 2
    assert "'model' is compiled already: this is a stub" in capsys.readouterr().err
    assert not (tmp_path / "again").exists()


def test_metadata_that_is_a_pipe_is_replaced_and_not_waited_for(models: Path, tmp_path: Path) -> None:
    assert run(models, tmp_path, "--backend", "native", "-q") == 0
    [metadata] = tmp_path.rglob("metadata.json")
    metadata.unlink()
    os.mkfifo(metadata)
    assert run(models, tmp_path, "--backend", "native", "-q") == 0
    assert metadata.is_file()


def test_unknown_model_and_bad_file(models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ["--output-dir", str(tmp_path / "out")]
    assert main([str(models / "linear_elastic.i"), "--model", "modle", *out]) == 2
    assert "did you mean 'model'?" in capsys.readouterr().err
    assert main([str(tmp_path / "missing.i"), "--model", "model", *out]) == 2
    assert "missing.i" in capsys.readouterr().err
    bad = tmp_path / "bad.i"
    bad.write_text("[Models]\n  [model]\n    type = \n")
    assert main([str(bad), "--model", "model", *out]) == 2
    assert "bad.i" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_killed_compile_leaves_no_artifact(models: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import sys; from matlaw.cli.compile import main; sys.exit(main())"]
    options = [
        str(models / "j2_plastic.i"),
        "--model",
        "model",
        "--output-dir",
        str(tmp_path),
        "-d",
        ":",
        "--backend",
        "native",
        "--no-cache",
    ]
    process = subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 120
        while not list(tmp_path.glob(".model.*.building")):
            assert process.poll() is None, "ended before it wrote anything"
            assert time.monotonic() < deadline
            time.sleep(0.01)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert not (tmp_path / "model").exists()
    assert not (tmp_path / "model_aoti.i").exists()
    assert run_here(models, tmp_path) == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model", "model_aoti.i"]


def test_failed_compile_leaves_no_folder(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compiler that refuses everything does so after the artifact's folder was made."""
    monkeypatch.setenv("CXX", "false")
    (tmp_path / "there").mkdir()
    for place in (tmp_path / "new" / "out", tmp_path / "there"):
        options = ["--model", "model", "-o", str(place), "--backend", "native", "-q", "--no-cache"]
        assert main([str(models / "linear_elastic.i"), *options]) == 2
        assert "false failed with exit code 1" in capsys.readouterr().err
    assert list(tmp_path.rglob("*")) == [tmp_path / "there"]


def run_here(models: Path, tmp_path: Path) -> int:
    return main(
        [
            str(models / "linear_elastic.i"),
            "--model",
            "model",
            "--output-dir",
            str(tmp_path),
            "--backend",
            "native",
            "-q",
        ]
    )


EXTENSION = '''"""A model with an operation that has no scalar form."""

import torch

from matlaw.models.declaration import Input, Output
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import SR2


@register("CumulativeForTest")
class Cumulative(Leaf):
    """Cumulative sum of the components."""

    x = Input(SR2, "x")
    y = Output(SR2, "y")

    def forward(self, x):
        """The sum."""
        return SR2(torch.cumsum(x.data, 0))
'''


@pytest.fixture(scope="module")
def extension(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One file for all tests of the process: a type is registered once."""
    path = tmp_path_factory.mktemp("extension") / "cumulative.py"
    path.write_text(EXTENSION)
    return path


def with_extension(tmp_path: Path, law: str, extension: Path) -> list[str]:
    (tmp_path / "law.i").write_text(law)
    output = ["--output-dir", str(tmp_path / "out")]
    return [str(tmp_path / "law.i"), "--model", "model", *output, "--load", str(extension)]


def test_unsupported_operation_names_itself_and_the_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], extension: Path
) -> None:
    law = "[Models]\n  [model]\n    type = CumulativeForTest\n    x = 'x'\n    y = 'y'\n  []\n[]\n"
    assert main([*with_extension(tmp_path, law, extension), "--backend", "native"]) == 2
    error = capsys.readouterr().err
    assert "aten.cumsum.default" in error
    assert "--backend both" in error
    assert not (tmp_path / "out").exists()


CUSTOM_OPERATION = '''
import torch
from matlaw.models import Input, Leaf, Output, register
from matlaw.tensors import SR2


@torch.library.custom_op("matlaw_test::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return 2.0 * x


@twice.register_fake
def _(x):
    return torch.empty_like(x)


@register("TwiceForTest")
class TwiceForTest(Leaf):
    """Twice the input, by an operation of its own."""

    x = Input(SR2, "x")
    y = Output(SR2, "y")

    def forward(self, x):
        """Twice the input."""
        return SR2(twice(x.data))
'''


@pytest.mark.inductor
def test_an_operation_without_derivatives_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    extension = tmp_path / "twice.py"
    extension.write_text(CUSTOM_OPERATION)
    law = "[Models]\n  [model]\n    type = TwiceForTest\n    x = 'x'\n    y = 'y'\n  []\n[]\n"
    assert main([*with_extension(tmp_path, law, extension), "-d", "y:x", "--no-cache"]) == 2
    error = capsys.readouterr().err
    assert re.search(
        r"law\.i:2: \[Models\]/\[model\] \(model 'model', graph model_jvp\): the forward function calls "
        r"matlaw_test\.twice\.default, .* has no derivatives .*Write it with operations of torch, or keep it out of",
        error,
    ), error


FAILING = '''
from matlaw.models import Input, Leaf, Output, register
from matlaw.tensors import SR2


def helper(x):
    return x.trace_of_all


@register("FailingForTest")
class FailingForTest(Leaf):
    """A forward function with a misspelt attribute in a helper, and one without its result."""

    x = Input(SR2, "x")
    y = Output(SR2, "y")

    def forward(self, x):
        """Fails."""
        return helper(x)


@register("ForgetfulForTest")
class ForgetfulForTest(FailingForTest):
    """Returns nothing."""

    def forward(self, x):
        """Nothing."""
'''


@pytest.fixture(scope="module")
def failing_extension(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("extension") / "failing.py"
    path.write_text(FAILING)
    return path


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (
            "FailingForTest",
            r"AttributeError\(\"'SR2' object has no attribute 'trace_of_all'\"\) \(.*/failing.py:7\)",
        ),
        ("ForgetfulForTest", "'NoneType' object has no attribute"),
    ],
)
def test_a_forward_function_that_raises_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], failing_extension: Path, kind: str, message: str
) -> None:
    law = f"[Models]\n  [model]\n    type = {kind}\n    x = 'x'\n    y = 'y'\n  []\n[]\n"
    arguments = with_extension(tmp_path, law, failing_extension)
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert re.search(
        r"^matlaw-compile: error: .*law\.i:2: \[Models\]/\[model\]: cannot be evaluated with the sub-batch shapes "
        rf"x \(\): .*{message}",
        error,
    ), error
    assert "Traceback" not in error


@pytest.mark.inductor
def test_unsupported_operation_leaves_its_graphs_to_inductor(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], extension: Path
) -> None:
    law = """[Models]
  [elasticity]
    type = LinearIsotropicElasticity
    coefficients = '200 0.3'
    coefficient_types = 'YOUNGS_MODULUS POISSONS_RATIO'
    strain = 'strain'
    stress = 'trial'
  []
  [cumulative]
    type = CumulativeForTest
    x = 'trial'
    y = 'stress'
  []
  [model]
    type = ComposedModel
    models = 'elasticity cumulative'
  []
[]
"""
    assert main([*with_extension(tmp_path, law, extension), "-d", "stress:strain"]) == 0
    out = capsys.readouterr().out
    for stem in ("model", "model_jvp"):
        assert f"{stem}: no native kernel, left to Inductor (aten.cumsum.default has no scalar form)" in out
    files = {p.name for p in (tmp_path / "out/model/cpu/float64").iterdir()}
    assert files == {"model.pt2", "model_jvp.pt2"}
    from matlaw import load_model

    loaded = load_model(str(tmp_path / "out/model_aoti.i"), "model")
    strain = torch.tensor([[4e-3, -1e-3, 0, 2e-3, 0, 0], [1e-3, 2e-3, 3e-3, 0, 0, 1e-3]], dtype=torch.float64)
    outputs, blocks = loaded.jacobian({"strain": strain})
    mu, lam = 200 / 2.6, 200 * 0.3 / (1.3 * 0.4)
    hooke = 2 * mu * torch.eye(6, dtype=torch.float64)
    hooke[:3, :3] += lam
    stiffness = torch.tril(torch.ones(6, 6, dtype=torch.float64)) @ hooke
    torch.testing.assert_close(outputs["stress"], strain @ stiffness.T, rtol=1e-12, atol=1e-13)
    torch.testing.assert_close(blocks["stress"]["strain"].expand(2, 6, 6), stiffness.expand(2, 6, 6))


def test_verification_levels(models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import json

    metadata = tmp_path / "out/model/metadata.json"
    found = {}
    for level in ("none", "quick", "full"):
        assert run(models, tmp_path, "-d", ":", "-p", "model.nu", "--verify", level, "--no-cache") == 0
        out = capsys.readouterr().out
        m = json.loads(metadata.read_text())
        assert m["verification_level"] == level
        found[level] = m["verification"]
        checked = m["builds"]["cpu/float64"]["verified_cpu_targets"]
        assert checked == ([] if level == "none" else ["x86-64-v3"])
        assert ("skipped (--verify none)" in out) == (level == "none")
        assert bool(re.search(r"\n  stress +\d\.\de[-+]\d\d +\d+ rows  model(_jvp)?\n", out)) == (level != "none")
    assert found["none"] == {}
    assert found["full"].keys() == found["quick"].keys() == {f"cpu/float64/{stem}" for stem in ("model", "model_jvp")}
    for stem, errors in found["quick"].items():
        full = found["full"][stem]
        assert all(full[what] >= error for what, error in errors.items() if what != "outputs")
        assert all(full["outputs"][name]["error"] >= x["error"] for name, x in errors["outputs"].items())


def test_kept_source_compiles_to_the_kernel(models: Path, tmp_path: Path) -> None:
    import json

    from matlaw.lower.native import build

    assert run(models, tmp_path, "-d", ":", "--keep-source", "-q", "-p", "model.E") == 0
    folder = tmp_path / "out/model"
    source = (folder / "source/cpu/float64/model_jvp.cpp").read_text()
    assert "strain[0]" in source
    assert {"source/cpu/float64/model.cpp", "source/cpu/float64/model_jvp.cpp"} <= json.loads(
        (folder / "metadata.json").read_text()
    )["files"].keys()
    build(source, tmp_path / "again.so", "x86-64-v3")
    assert (tmp_path / "again.so").read_bytes() == (folder / "cpu/float64/model_jvp.x86-64-v3.so").read_bytes()


def test_cached_files_are_marked(models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("Models/model/coefficients:='7.5 0.3'", "--force")
    run(models, tmp_path, *options)
    capsys.readouterr()
    run(models, tmp_path, *options)
    out = capsys.readouterr().out
    assert "[1/3] model/cpu/float64/model.x86-64-v3.so  (cached)" in out
    assert "1 graph files" in out
    assert "1 from the cache" in out
    run(models, tmp_path, *options, "--no-cache")
    assert "cached)" not in capsys.readouterr().out


def test_bars_on_a_terminal() -> None:
    """Files stand above the bars as they land; nothing is taken for markup."""
    import io

    from rich.console import Console

    from matlaw.cli.progress import Bars

    text = io.StringIO()
    with Bars(Console(file=text, force_terminal=True, width=100)) as bars:
        bars.planned(["m/cpu/a.so", "m/cpu/b.pt2"])
        bars.started("m/cpu/a.so")
        bars.started("m/cpu/b.pt2")
        bars.landed(1, 2, "m/cpu/b.pt2", 1.25, False)
        bars.landed(2, 2, "m/cpu/a.so", 0.0, True)
    assert "[1/2] m/cpu/b.pt2  1.2 s" in text.getvalue()
    assert "[2/2] m/cpu/a.so  (cached)" in text.getvalue()


MISSPELT = """[Models]
  [elasticity]
    type = LinearIsotropicElasticity
    coefficients = '2e5 0.3'
    coefficient_types = 'YOUNGS_MODULUS POISSONS_RATIO'
    strain = 'strian'
  []
  [rate]
    type = SR2VariableRate
    variable = 'strain'
  []
  [model]
    type = ComposedModel
    models = 'elasticity rate'
  []
[]
"""


def test_the_summary_lists_what_goes_in_and_comes_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "law.i").write_text(MISSPELT)
    arguments = [str(tmp_path / "law.i"), "--model", "model", "-o", str(tmp_path / "out"), "--backend", "native"]
    assert main([*arguments, "--rename-input", "t=time", "t~1=time~1"]) == 0
    found = capsys.readouterr()
    lines = [line.split(maxsplit=3) for line in found.out.splitlines() if line.startswith(("  input", "  output"))]
    assert sorted(lines) == [
        ["input", "strain", "SR2", "and strain~1, its value at the last step"],
        ["input", "strian", "SR2"],
        ["input", "time", "Scalar", "and time~1, its value at the last step"],
        ["output", "strain_rate", "SR2"],
        ["output", "stress", "SR2"],
    ]
    [note] = found.err.splitlines()
    assert note.startswith(f"matlaw-compile: note: {tmp_path}/law.i:6: input 'strian' resembles input 'strain'")
    assert main([*arguments, "--force", "-q"]) == 0
    assert capsys.readouterr() == ("", "")


UNPAIRED = """[Models]
  [rate]
    type = ScalarVariableRate
    variable = 'opening'
  []
  [law]
    type = ScalarLinearCombination
    from = 'opening_rate {old}'
    to = 'y'
  []
  [doubled]
    type = ScalarLinearCombination
    from = 'y'
    to = 'z'
    weights = '2.0'
  []
  [model]
    type = ComposedModel
    models = 'rate law doubled'
  []
[]
"""


@pytest.mark.parametrize(
    ("old", "current", "hint"),
    [
        ("temperature~1", "temperature", "to step. Correct the name if it is misspelt, or compile the model that"),
        ("opening~3", "opening~2", "to step. Correct the name if it is misspelt, or compile the model that"),
        ("openning~1", "openning", "to step; did you mean 'opening'? Correct the name"),
        ("y~1", "y", "to step. Correct the name if it is misspelt, or list 'y' in additional_outputs"),
        ("opening~2", None, ""),
        ("z~1", None, ""),
    ],
)
def test_an_old_value_that_no_host_can_give(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, current: str | None, hint: str
) -> None:
    (tmp_path / "law.i").write_text(UNPAIRED.format(old=old))
    arguments = [str(tmp_path / "law.i"), "--model", "model", "-o", str(tmp_path / "out"), "--backend", "native", "-q"]
    assert main(arguments) == (0 if current is None else 2)
    if current is None:
        assert (tmp_path / "out/model/metadata.json").is_file()
        return
    error = capsys.readouterr().err
    assert error.count("error:") == len(error.splitlines()) == 1
    start = f"{tmp_path}/law.i:8: [Models]/[law]: model 'model' takes '{old}', the old value of '{current}'"
    assert f"error: {start}, but neither takes nor gives '{current}', so that no host knows" in error
    assert hint in error
    assert [path.name for path in tmp_path.iterdir()] == ["law.i"]


def test_an_old_value_in_part_of_a_law(models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An implicit update alone takes the old value of what the rest of the law computes."""
    out = ["-o", str(tmp_path / "out"), "-q"]
    assert main([str(models / "single_crystal.i"), "--model", "update", *out]) == 2
    error = capsys.readouterr().err
    line = (models / "single_crystal.i").read_text().splitlines().index("    from = 'orientation~1'") + 1
    assert f"single_crystal.i:{line}: [Models]/[old_orientation]: model 'update' takes 'orientation~1'" in error
    assert main([str(models / "j2_closed_form.i"), "--model", "hardening", *out]) == 2
    assert "[Models]/[hardening]: model 'hardening' takes 'equivalent_plastic_strain~1'" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("hardening.saturated_hardening", "'update.system.hardening.R' (Models/hardening/saturated_hardening)"),
        ("hardening.R", "'update.system.hardening.R' (Models/hardening/saturated_hardening)"),
        ("voce.saturated_hardening", "'update.system.hardening.R' (Models/hardening/saturated_hardening)"),
        ("sy", "'update.system.normality.flow.yield.sy' (Models/yield/yield_stress)"),
    ],
)
def test_a_parameter_is_found_by_its_option(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, meant: str
) -> None:
    assert run(models, tmp_path, "-p", name, law="j2_viscoplastic") == 2
    assert f"unknown parameter '{name}'; did you mean {meant}?" in capsys.readouterr().err


def test_a_state_stands_beside_its_variable(models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(models, tmp_path, law="j2_plastic") == 0
    found = capsys.readouterr()
    assert "state, plastic_strain~1 at the next step" in found.out
    assert "  input   plastic_strain~1" not in found.out
    assert "note" not in found.err


def test_no_note_on_the_examples(models: Path) -> None:
    from matlaw.artifact.lookalikes import notes_of_lookalikes
    from matlaw.input import InputFile
    from matlaw.trace import partition

    for path in sorted(models.glob("*.i")):
        source = InputFile(path)
        assert notes_of_lookalikes(source, partition(source.model("model"))) == [], path
