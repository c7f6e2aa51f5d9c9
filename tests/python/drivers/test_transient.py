"""TransientDriver: which value an input has at which step."""

import pytest
import torch
from driver_inputs import python_tensor

from matlaw.drivers import load_driver, run_driver
from matlaw.errors import ConvergenceError, FatalError, InputFileError

RATE = "type = ScalarVariableRate\n variable = a\n variable_rate = da"
SUM = "type = SR2LinearCombination\n from = 'a b'\n to = c\n weights = '1 -1'"
TIMES = python_tensor("times", "Scalar(torch.tensor([0.0, 0.5, 2.0]))")
VALUES = python_tensor("values", "Scalar(torch.tensor([[1.0, 1.0], [2.0, 3.0], [5.0, 9.0]]))")
A = python_tensor("A", "SR2(torch.arange(18.0).reshape(3, 6))")
B = python_tensor("B", "SR2(torch.arange(36.0).reshape(3, 2, 6))")
RAMP = "prescribed_time = times\n prescribed_Scalar_names = a\n prescribed_Scalar_values = values\n"


def test_old_values_of_inputs_are_those_of_the_step_before(drive):
    history = drive(RATE, RAMP, TIMES + VALUES).history
    assert history.stacked("output", "da")[1:].tolist() == [[2.0, 4.0], [2.0, 4.0]]
    assert history.get("input", 2, "a~1").tolist() == [2.0, 3.0]
    assert history.get("input", 2, "t~1").item() == 0.5


def test_step_zero_is_recorded_and_not_evaluated(drive):
    history = drive(RATE, RAMP, TIMES + VALUES).history
    assert history.get("output", 0, "da") is None
    assert set(history.inputs[0]) == {"t", "a"}
    assert torch.isnan(history.stacked("output", "da")[0]).all()


def test_an_initial_condition_of_an_input_replaces_its_value_at_step_zero(drive):
    history = drive(RATE, RAMP + "ic_Scalar_names = a\n ic_Scalar_values = 7", TIMES + VALUES).history
    assert history.get("input", 1, "a~1").item() == 7.0
    assert history.get("output", 1, "da").tolist() == [-10.0, -8.0]


def test_a_number_holds_at_all_steps(drive):
    history = drive(
        RATE, "prescribed_time = times\n prescribed_Scalar_names = a\n prescribed_Scalar_values = 2.5", TIMES
    ).history
    assert [step["a"].item() for step in history.inputs] == [2.5, 2.5, 2.5]
    assert history.get("output", 2, "da").item() == 0.0


def test_times_may_differ_between_rows(drive):
    times = python_tensor("times", "Scalar(torch.tensor([[0.0, 0.0], [1.0, 2.0], [2.0, 6.0]]))")
    history = drive(RATE, RAMP, times + VALUES).history
    assert history.stacked("output", "da")[1:].tolist() == [[1.0, 1.0], [3.0, 1.5]]


def test_time_may_have_another_name(drive):
    model = RATE + "\n time = clock"
    history = drive(model, RAMP + "time = clock", TIMES + VALUES).history
    assert history.get("input", 2, "clock").item() == 2.0
    assert history.get("output", 1, "da").tolist() == [2.0, 4.0]


def test_batch_shapes_broadcast_and_several_batch_axes_are_kept(drive):
    tensors = TIMES + A + python_tensor("C", "SR2(torch.ones(3, 2, 4, 6) * torch.arange(4.0).reshape(4, 1))")
    history = drive(
        SUM, "prescribed_time = times\n prescribed_SR2_names = 'a b'\n prescribed_SR2_values = 'A C'", tensors
    ).history
    c = history.get("output", 2, "c")
    assert c.shape == (2, 4, 6)
    assert c[1, 3].tolist() == [9.0, 10.0, 11.0, 12.0, 13.0, 14.0]


def test_what_nothing_sets_is_zero_and_is_reported(drive):
    outcome = drive(SUM, "prescribed_time = times\n prescribed_SR2_names = a\n prescribed_SR2_values = A", TIMES + A)
    assert outcome.history.get("output", 1, "c").tolist() == [6.0, 7.0, 8.0, 9.0, 10.0, 11.0]
    assert len(outcome.warnings) == 1 and "'b'" in outcome.warnings[0]


def test_a_state_that_is_no_output_is_reported(drive):
    members = (
        "[]\n[integrate]\ntype = ScalarForwardEulerTimeIntegration\nvariable = x\nrate = v\n[]\n"
        "[double]\ntype = ScalarLinearCombination\nfrom = x\nto = y\nweights = 2"
    )
    law = "type = ComposedModel\nmodels = 'integrate double'\n{}" + members
    driver = "prescribed_time = times\n prescribed_Scalar_names = v\n prescribed_Scalar_values = 1"
    [warning] = drive(law.format(""), driver, TIMES).warnings
    assert "'x~1' of model 'm' is not prescribed" in warning
    assert warning.endswith("if the law computes 'x', list that in additional_outputs")
    assert drive(law.format("additional_outputs = x\n"), driver, TIMES).warnings == []


def test_state_feeds_its_old_value(compiled):
    history = run_driver(compiled / "eager.i", "tension").history
    for step in range(2, history.steps):
        for name in ("plastic_strain", "equivalent_plastic_strain"):
            assert torch.equal(history.get("input", step, f"{name}~1"), history.get("output", step - 1, name))
    assert float(history.get("output", 40, "equivalent_plastic_strain").min()) > 0.01


def test_compiled_and_eager_laws_give_the_same_history(compiled):
    eager, aot = (run_driver(compiled / f"{name}.i", "tension").history.flat() for name in ("eager", "aot"))
    assert hasattr(load_driver(compiled / "aot.i", "tension")[1], "handle")
    assert eager.keys() == aot.keys()
    for name, value in eager.items():
        assert value.shape == aot[name].shape
        assert torch.allclose(aot[name], value, rtol=1e-8, atol=1e-10 * float(value.abs().max())), name


def test_an_override_of_what_is_compiled_is_refused(compiled):
    override = "Models/hardening/saturated_hardening:=5"
    assert run_driver(compiled / "eager.i", "tension", [override]).history is not None
    with pytest.raises(InputFileError, match="changes nothing, because 'model' is compiled"):
        run_driver(compiled / "aot.i", "tension", [override])


def test_initial_conditions_of_states_change_the_answer(compiled):
    extra = ["Drivers/tension/ic_Scalar_names:=equivalent_plastic_strain", "Drivers/tension/ic_Scalar_values:=0.05"]
    plain = run_driver(compiled / "aot.i", "tension").history.get("output", 40, "stress")
    hard = run_driver(compiled / "aot.i", "tension", extra).history.get("output", 40, "stress")
    assert bool((hard[:, 0] > plain[:, 0] + 5.0).all())


@pytest.mark.parametrize("name", ["eager", "aot"])
def test_a_step_that_does_not_converge_is_named(compiled, name, tmp_path):
    text = (compiled / f"{name}.i").read_text()
    # Row 1 goes to 200 % strain within a step.
    start = text.index("torch.linspace(0.0, 0.02, 41).reshape(41, 1, 1) * direction")
    text = text[:start] + text[start:].replace(
        "* direction", "* torch.tensor([1.0, 100.0, 1.0]).reshape(3, 1) * direction", 1
    )
    path = compiled / f"{name}_diverges.i"
    path.write_text(text)
    with pytest.raises(ConvergenceError, match=r"step 1 of 40, time .* 1 of 3 rows did not converge: 1 of") as caught:
        run_driver(path, "tension")
    assert caught.value.failed_rows == [1]
    assert f"{path}:" in str(caught.value) and "[Drivers]/[tension]" in str(caught.value)


@pytest.mark.parametrize(
    ("driver", "message"),
    [
        ("prescribed_time = 1.0", "first axis is the steps"),
        ("prescribed_time = A", r"expected Scalar, but \[Tensors\]/\[A\] is SR2"),
        ("prescribed_time = nothing", "unknown block of .Tensors. 'nothing'"),
        ("prescribed_time = times\n prescribed_SR2_names = 'a b'\n prescribed_SR2_values = A", "as many values"),
        ("prescribed_time = times\n prescribed_SR2_names = a\n prescribed_SR2_values = 2.0", "got the number 2.0"),
        ("prescribed_time = times\n prescribed_SR2_names = a\n prescribed_SR2_values = S", "must have 3 entries"),
        ("prescribed_time = times\n prescribed_SR2_names = aa\n prescribed_SR2_values = A", "did you mean 'a'"),
        ("prescribed_time = times\n prescribed_SR2_names = 'a a'\n prescribed_SR2_values = 'A A'", "given twice"),
        ("prescribed_time = times\n prescribed_Scalar_names = a\n prescribed_Scalar_values = 1", "is SR2, not Scalar"),
        ("prescribed_time = times\n ic_SR2_names = zz\n ic_SR2_values = S", "unknown variable of model 'm' 'zz'"),
        ("prescribed_time = times\n prescribed_SR2_name = a", "did you mean 'prescribed_SR2_names'"),
        (
            "prescribed_time = times\n prescribed_SR2_names = 'a b'\n prescribed_SR2_values = 'B C'",
            "step 1: the law cannot take these inputs",
        ),
    ],
)
def test_what_is_wrong_is_named(drive, driver, message):
    single = python_tensor("S", "SR2(torch.arange(6.0))")
    three = python_tensor("C", "SR2(torch.ones(3, 3, 6))")
    with pytest.raises(InputFileError, match=message) as caught:
        drive(SUM, driver, TIMES + A + B + single + three)
    assert "law.i:" in str(caught.value)


def test_an_unknown_driver_or_model_is_named(write):
    driver = "[Drivers]\n [d]\n type = TransientDriver\n model = m\n prescribed_time = t\n []\n[]\n"
    tensors = "[Tensors]\n" + python_tensor("t", "Scalar(torch.ones(2))") + "[]\n"
    path = write("[Models]\n[]\n" + driver + tensors)
    with pytest.raises(InputFileError, match=r"unknown driver 'e'\. Known: d"):
        run_driver(path, "e")
    with pytest.raises(InputFileError, match="unknown model 'm'"):
        run_driver(path, "d")


@pytest.mark.parametrize("rows", [0, 1])
def test_no_row_is_refused_and_one_is_enough(drive, rows):
    tensors = python_tensor("times", "Scalar([0.0, 1.0])") + python_tensor("e", f"SR2(torch.zeros(2, {rows}, 6))")
    law = "type = LinearIsotropicElasticity\n strain = e\n stress = s\n coefficients = '1 0'\n"
    law += "coefficient_types = 'YOUNGS_MODULUS POISSONS_RATIO'"
    driver = "prescribed_time = times\n prescribed_SR2_names = e\n prescribed_SR2_values = e"
    if rows:
        assert drive(law, driver, tensors).history.stacked("output", "s").shape == (2, 1, 6)
    else:
        with pytest.raises(FatalError, match=r"step 1 of 1, time 1: .* batch shape \(0,\), so that there is no row"):
            drive(law, driver, tensors)


@pytest.mark.parametrize(("times", "warnings"), [([0.0], 0), ([0.0, 1.0, 1.0], 0), ([0.0, 1.0, 0.5], 1)])
def test_time_that_goes_back_is_reported(drive, times, warnings):
    tensors = python_tensor("times", f"Scalar({times})")
    copy = "type = CopyScalar\n from = t\n to = now"
    outcome = drive(copy, "prescribed_time = times", tensors)
    found = [w for w in outcome.warnings if "time goes back at step 2, from 1 to 0.5" in w]
    assert len(found) == warnings
