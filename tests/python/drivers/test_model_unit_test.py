"""ModelUnitTest."""

import pytest
from driver_inputs import python_tensor

from matlaw.drivers import run_driver
from matlaw.errors import InputFileError

VOCE = """type = VoceIsotropicHardening
 saturated_hardening = 100
 saturation_rate = 20
 equivalent_plastic_strain = ep
 isotropic_hardening = k"""
#: 100 (1 - exp(-0.2)) and its slope 2000 exp(-0.2).
VALUE, SLOPE = 18.12692469220181, 1637.4615061559637
INPUT = "input_Scalar_names = ep\n input_Scalar_values = 0.01\n"


def unit(drive, options, tensors="", model=VOCE):
    return drive(model, options, tensors, kind="ModelUnitTest")


def test_values_and_differences_agree(drive):
    outcome = unit(drive, INPUT + f"output_Scalar_names = k\n output_Scalar_values = {VALUE}")
    assert outcome.ok and outcome.checks == 2 and outcome.history is None


@pytest.mark.parametrize("option", ["output_rel_tol", "value_rel_tol"])
def test_the_tolerance_of_outputs_has_two_names(drive, option):
    wrong = INPUT + f"output_Scalar_names = k\n output_Scalar_values = {VALUE * (1 + 1e-4)}\n"
    assert not unit(drive, wrong + f"{option} = 0.9e-4").ok
    assert unit(drive, wrong + f"{option} = 1.1e-4").ok


def test_both_names_of_a_tolerance_are_too_many(drive):
    with pytest.raises(InputFileError, match="'output_abs_tol' and 'value_abs_tol' are the same"):
        unit(drive, INPUT + "output_abs_tol = 1\n value_abs_tol = 1")


def test_a_parameter_per_row_broadcasts_with_the_inputs(drive):
    model = VOCE.replace("saturated_hardening = 100", "saturated_hardening = K")
    tensors = python_tensor("K", "Scalar([[100.0], [200.0]])") + python_tensor("e", "Scalar([0.01, 0.01, 0.01])")
    tensors += python_tensor("expected", f"Scalar([[{VALUE}] * 3, [{2 * VALUE}] * 3])")
    options = (
        "input_Scalar_names = ep\n input_Scalar_values = e\n output_Scalar_names = k\n output_Scalar_values = expected"
    )
    outcome = unit(drive, options, tensors, model)
    assert outcome.ok and outcome.checks == 2


def test_a_wrong_value_is_found(drive):
    outcome = unit(drive, INPUT + f"output_Scalar_names = k\n output_Scalar_values = {VALUE * (1 + 1e-4)}")
    assert len(outcome.failures) == 1 and "output 'k'" in outcome.failures[0]


@pytest.mark.parametrize(("factor", "ok"), [(1.0, True), (1.001, False)])
def test_given_derivatives_are_compared(drive, factor, ok):
    given = python_tensor("slope", f"Scalar({SLOPE * factor})")
    outcome = unit(drive, INPUT + "derivative_pairs = k:ep\n derivative_values = slope", given)
    assert outcome.ok is ok and outcome.checks == 2


def test_tensors_and_batches(drive):
    model = (
        "type = LinearIsotropicElasticity\n coefficients = '100 0.3'\n"
        " coefficient_types = 'YOUNGS_MODULUS POISSONS_RATIO'"
    )
    tensors = python_tensor("e", "SR2(torch.eye(6).reshape(2, 3, 6))") + python_tensor("C", "SSR4(torch.eye(6))")
    outcome = unit(drive, "input_SR2_names = strain\n input_SR2_values = e", tensors, model)
    assert outcome.ok and outcome.checks == 1
    wrong = unit(
        drive,
        "input_SR2_names = strain\n input_SR2_values = e\n derivative_pairs = stress:strain\n derivative_values = C",
        tensors, model,
    )  # fmt: skip
    assert not wrong.ok


def test_a_derivative_that_is_wrong_is_found(write, tmp_path):
    extension = tmp_path / "wrong_slope.py"
    extension.write_text(
        "from matlaw.input import Input, Output, register\n"
        "from matlaw.models import Leaf\n"
        "from matlaw.tensors import Scalar\n"
        "@register('DetachedSquare')\n"
        "class DetachedSquare(Leaf):\n"
        "    x = Input(Scalar)\n"
        "    y = Output(Scalar)\n"
        "    def forward(self, x):\n"
        "        return Scalar(x.data.detach() * x.data)\n"
    )
    path = write(
        "[Models]\n [m]\n type = DetachedSquare\n []\n[]\n[Drivers]\n [d]\n type = ModelUnitTest\n model = m\n"
        " input_Scalar_names = x\n input_Scalar_values = 3\n []\n[]\n"
    )
    outcome = run_driver(path, "d", extensions=[extension])
    assert len(outcome.failures) == 1 and "derivative of 'y' by 'x'" in outcome.failures[0]


def test_implicit_laws(compiled):
    for name in ("eager", "aot"):
        path = compiled / f"{name}_unit.i"
        path.write_text(
            (compiled / f"{name}.i").read_text() + "[Drivers]\n [u]\n type = ModelUnitTest\n model = model\n"
            " input_SR2_names = strain\n input_SR2_values = e\n input_Scalar_names = t\n"
            " input_Scalar_values = 1\n derivative_rel_tol = 1e-4\n []\n[]\n"
            "[Tensors]\n" + python_tensor("e", "SR2(torch.tensor([0.002, -0.001, -0.001, 0.0, 0.0, 0.001]))") + "[]\n"
        )
        outcome = run_driver(path, "u", ["Solvers/newton/rel_tol:=1e-12"] if name == "eager" else [])
        assert outcome.ok, outcome.failures
        assert outcome.checks == (15 if name == "eager" else 1)


def test_what_is_not_given_is_zero_and_reported(drive):
    outcome = unit(drive, "output_Scalar_names = k\n output_Scalar_values = 0")
    assert outcome.ok and "'ep'" in outcome.warnings[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("input_Scalar_names = epp\n input_Scalar_values = 1", "did you mean 'ep'"),
        ("output_SR2_names = k\n output_SR2_values = s", "'k' is Scalar, not SR2"),
        ("check_derivatives = false", "nothing to compare"),
        ("derivative_pairs = k:ep", "as many values as pairs"),
        ("derivative_pairs = k:x\n derivative_values = s", "unknown derivative 'k:x'"),
    ],
)
def test_what_is_wrong_is_named(drive, options, message):
    tensors = python_tensor("s", "SR2(torch.ones(6))")
    with pytest.raises(InputFileError, match=message):
        unit(drive, options, tensors)


def test_outputs_are_batched_like_the_inputs(drive):
    tensors = python_tensor("ep", "Scalar(torch.tensor([0.0, 0.01]))")
    tensors += python_tensor("k", f"Scalar(torch.tensor([0.0, {VALUE}]))")
    outcome = unit(
        drive,
        "input_Scalar_names = ep\n input_Scalar_values = ep\n output_Scalar_names = k\n output_Scalar_values = k",
        tensors,
    )  # fmt: skip
    assert outcome.ok and outcome.checks == 2


def test_values_bring_their_sub_batch_axes(drive):
    tensors = python_tensor("g", "Scalar(torch.tensor([[1.0, -2.0, 3.0], [0.5, 0.5, 0.5]]), sub_batch_ndim=1)")
    tensors += python_tensor("total", "Scalar(torch.tensor([6.0, 1.5]))")
    given = "input_Scalar_names = rates\n input_Scalar_values = g\n"
    model = "type = SumSlipRates\n slip_rates = rates\n sum_slip_rates = sum"
    outcome = unit(drive, given + "output_Scalar_names = sum\n output_Scalar_values = total", tensors, model)
    assert outcome.ok and outcome.checks == 2 and not outcome.warnings


DIFFERENCE = "type = SR2IntermediateDiff\n from = a\n to = b\n reduces = site\n dim = 0"
AT_SITES = python_tensor("sites", "SR2(torch.linspace(0.0, 1.0, 18).reshape(3, 6), sub_batch_ndim=1)")


@pytest.mark.parametrize("factor", [1.0, 1.1])
def test_derivatives_by_values_of_sites_are_compared(drive, factor):
    """The difference of neighbours: minus one and one, for the same component."""
    neighbours = "torch.tensor([[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]]).reshape(2, 1, 3, 1)"
    slopes = f"{factor} * {neighbours} * torch.eye(6).reshape(1, 6, 1, 6)"
    tensors = AT_SITES + python_tensor("slopes", f"R2(({slopes}).reshape(24, 3, 3))")
    options = "input_SR2_names = a\n input_SR2_values = sites\n derivative_pairs = b:a\n derivative_values = slopes"
    outcome = unit(drive, options, tensors, DIFFERENCE)
    assert outcome.checks == 2
    assert outcome.ok is (factor == 1.0)
