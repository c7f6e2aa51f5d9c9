"""TransientRegression and Verification."""

import numpy as np
import pytest
import torch
from driver_inputs import python_tensor

from matlaw.drivers import run_driver
from matlaw.drivers.compare import difference
from matlaw.drivers.result_file import save
from matlaw.errors import InputFileError

SUM = "type = SR2LinearCombination\n from = 'a b'\n to = c\n weights = '1 -1'"
TENSORS = (
    python_tensor("times", "Scalar(torch.tensor([0.0, 0.5, 2.0]))")
    + python_tensor("A", "SR2(torch.arange(18.0).reshape(3, 6))")
    + python_tensor("B", "SR2(torch.arange(36.0).reshape(3, 2, 6))")
    + python_tensor("C", "SR2(torch.arange(18.0).reshape(3, 1, 6) - torch.arange(36.0).reshape(3, 2, 6))")
    + python_tensor("last", "SR2(torch.arange(12.0, 18.0) - torch.arange(24.0, 36.0).reshape(2, 6))")
)
DRIVER = "prescribed_time = times\n prescribed_SR2_names = 'a b'\n prescribed_SR2_values = 'A B'\n save_as = kept.pt"


@pytest.fixture
def check(drive, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def check(options, kind="Verification"):
        return drive(SUM, DRIVER, TENSORS, more=f" [v]\n type = {kind}\n driver = d\n {options}\n []", name="v")

    return check


@pytest.fixture
def history(drive):
    return drive(SUM, DRIVER, TENSORS).history


def reference(tmp_path, values, name="gold.pt"):
    torch.save(values, tmp_path / name)
    return f"reference = {name}"


def test_regression_agrees_with_itself(check, history, tmp_path):
    outcome = check(reference(tmp_path, history.flat()), "TransientRegression")
    assert outcome.ok and outcome.checks == len(history.flat())


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
def test_regression_reads_npz_and_torchscript(check, history, tmp_path):
    save(history, tmp_path / "gold.npz")
    assert check("reference = gold.npz", "TransientRegression").checks == len(history.flat())
    root = torch.nn.Module()
    for name, value in history.flat().items():
        at = root
        for part in name.split(".")[:-1]:
            if not hasattr(at, part):
                at.add_module(part, torch.nn.Module())
            at = getattr(at, part)
        at.register_buffer(name.split(".")[-1], value)
    torch.jit.script(root).save(str(tmp_path / "script.pt"))
    outcome = check("reference = script.pt", "TransientRegression")
    assert outcome.ok and outcome.checks == len(history.flat())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda v: v | {"output.2.c": v["output.2.c"] + 1e-3}, "output.2.c: differs most by 1.000e-03"),
        (lambda v: v | {"output.3.c": v["output.2.c"]}, "output.3.c: the run has no such value"),
        (lambda v: v | {"output.2.c": torch.ones(3, 6)}, "output.2.c: its shape is"),
        (lambda v: v | {"input.1.a": torch.full((6,), torch.nan)}, "input.1.a: differs"),
    ],
)
def test_regression_finds_what_differs(check, history, tmp_path, change, message):
    outcome = check(reference(tmp_path, change(history.flat())), "TransientRegression")
    assert len(outcome.failures) == 1 and message in outcome.failures[0]


def test_regression_ignores_values_that_only_the_run_has(check, history, tmp_path):
    some = {name: value for name, value in history.flat().items() if name.startswith("output")}
    assert check(reference(tmp_path, some), "TransientRegression").checks == 2


def test_a_check_does_not_replace_its_reference(check, history, tmp_path):
    before = history.flat() | {"output.2.c": history.flat()["output.2.c"] + 1.0}
    outcome = check(reference(tmp_path, before, "kept.pt").replace("gold", "kept"), "TransientRegression")
    assert not outcome.ok and outcome.save_as is None


@pytest.mark.parametrize("content", [b"nothing", b""])
def test_regression_refuses_other_files(check, tmp_path, content):
    (tmp_path / "gold.pt").write_bytes(content)
    with pytest.raises(InputFileError, match=r"cannot be read as a result file"):
        check("reference = gold.pt", "TransientRegression")
    with pytest.raises(InputFileError, match="there is no result file"):
        check("reference = other.pt", "TransientRegression")


def test_verification_compares_all_steps_that_have_the_value(check):
    outcome = check("SR2_names = 'output.c input.b'\n SR2_values = 'C B'")
    assert outcome.ok and outcome.checks == 2 + 3


def test_verification_finds_what_differs(check):
    outcome = check("SR2_names = output.c\n SR2_values = A\n time_steps = '2'")
    assert outcome.failures and outcome.failures[0].startswith("output.2.c: differs most by")


def test_a_single_step_may_be_compared_with_a_snapshot(check):
    assert check("SR2_names = output.c\n SR2_values = last\n time_steps = 2").ok
    assert check("SR2_names = output.c\n SR2_values = C\n time_steps = 2").ok
    assert not check("SR2_names = output.c\n SR2_values = last\n time_steps = 1").ok


def test_a_step_that_was_asked_for_must_be_there(check):
    outcome = check("SR2_names = output.c\n SR2_values = C\n time_steps = '0 1'")
    assert outcome.failures == ["output.0.c: nothing is recorded at this step"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("SR2_names = c\n SR2_values = C", "expected input.<variable> or output.<variable>"),
        ("SR2_names = output.d\n SR2_values = C", "unknown recorded output 'd'"),
        ("SR2_names = output.c\n SR2_values = C\n time_steps = 3", "the steps are 0 to 2"),
        ("SR2_names = output.c\n SR2_values = last", "without an entry for step 2"),
        ("rtol = 1e-3", "nothing to compare"),
    ],
)
def test_verification_names_what_is_wrong(check, options, message):
    with pytest.raises(InputFileError, match=message):
        check(options)


def test_the_checked_driver_must_be_transient(check, tmp_path):
    inner = "SR2_names = output.c\n SR2_values = C\n []\n [w]\n type = TransientRegression\n driver = v\n reference = x"
    assert check(inner).ok
    with pytest.raises(InputFileError, match="'v' is Verification; expected a TransientDriver"):
        run_driver(tmp_path / "law.i", "w")


def test_tolerances_refer_to_the_largest_component_of_the_tensor():
    expected = torch.tensor([[100.0, 0.0], [0.0, 1e-6]])
    assert difference(expected + 5e-4, expected, 1e-5, 1e-8, 1) is not None  # the second row is small
    assert difference(expected[0] + 5e-4, expected[0], 1e-5, 1e-8, 1) is None
    assert difference(expected[0] + 5e-4, expected[0], 1e-5, 1e-8, 0) is not None
    assert difference(torch.tensor(np.nan), torch.tensor(np.nan), 0.0, 0.0) is None
    assert difference(torch.tensor(np.inf), torch.tensor(1.0), 1e-5, 1e-8) is not None
