"""The initial guess of a rate from a linearised driving force."""

from contextlib import nullcontext

import pytest
import torch

from matlaw.errors import InputFileError
from matlaw.input import InputFile
from matlaw.models.provenance import observed_by
from matlaw.tensors import Scalar, to_internal, to_public

FORCE = """
[force]
  type = VoceIsotropicHardening
  equivalent_plastic_strain = g
  isotropic_hardening = k
  saturated_hardening = 3
  saturation_rate = R
[]
[m]
  type = RateCondensation
  model = force
  rate = g
  driving_force = k
[]
"""
LAW = """
[law]
  type = PerzynaPlasticFlowRate
  yield_function = f
  reference_stress = 2
  exponent = n
[]
[m]
  type = CoordinateDescentPredictor
  rate_law = law
  driving_force_input = f
  coupling = A
  trial_driving_force = b
  {}
[]
"""


def test_condensation_is_value_and_slope_at_zero(model):
    m = model(FORCE)
    assert set(m.inputs) == {"R"} and list(m.outputs) == ["coupling", "trial_driving_force"]
    found = m.evaluate({"R": Scalar(torch.tensor([2.0, 5.0], dtype=torch.float64))})
    assert found["coupling"].data.tolist() == [-6.0, -15.0]
    assert found["trial_driving_force"].data.tolist() == [0.0, 0.0]
    assert set(m.named_parameters()) == {"force.R"}


@pytest.mark.parametrize("options", ["", "bisections = 4\n  polish = 6", "sweeps = 1"])
def test_the_rate_solves_the_condensed_equation(model, options):
    m = model(LAW.format(options))
    b = torch.tensor([-1.0, 0.0, 3.0, 5.0], dtype=torch.float64)
    A = torch.tensor([1.0, 1.0, 0.0, 2.0], dtype=torch.float64)
    n = torch.tensor([3.0, 3.0, 3.0, 1.0], dtype=torch.float64)
    rate = m.evaluate({"A": Scalar(A), "b": Scalar(b), "n": Scalar(n)})["rate"].data
    force = b - A * rate
    torch.testing.assert_close(rate, (force / 2.0).clamp(min=0.0) ** n, rtol=1e-9, atol=1e-12)
    assert rate[:2].tolist() == [0.0, 0.0]
    # tau + 2 tau / 2 = 5
    assert rate[3].item() == pytest.approx(1.25, rel=1e-9)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("rate = g", "rate = h", "unknown input of model 'force' 'h'"),
        ("driving_force = k", "driving_force = g", "unknown output of model 'force' 'g'"),
    ],
)
def test_condensation_names_what_is_missing(model, old, new, message):
    with pytest.raises(InputFileError, match=message):
        model(FORCE.replace(old, new))


def test_a_negative_count_is_refused(model):
    with pytest.raises(InputFileError, match="expected no negative number, got -1"):
        model(LAW.format("polish = -1"))


COORDINATES = """
  [law]
    type = PowerLawSlipRule
    resolved_shears = 'tau'
    slip_strengths = 'strength'
    slip_rates = 'rate'
    gamma0 = 0.1
    n = 3
  []
  [m]
    type = CoordinateDescentPredictor
    rate_law = 'law'
    driving_force_input = 'tau'
    coupling = 'coupling'
    trial_driving_force = 'trial'
    rate = 'rate'
  []
"""


def test_several_coordinates_balance_each_other(write):
    """Expected rates: neml2 3.1.0 with torch 2.12.1, float64."""
    shapes = {"coupling": (3, 3), "trial": (3,), "strength": (3,)}
    model = InputFile(write(f"[Models]{COORDINATES}[]")).model("m", shapes)
    A = torch.tensor([[200.0, 50.0, -30.0], [50.0, 150.0, 40.0], [-30.0, 40.0, 100.0]], dtype=torch.float64)
    A = torch.stack([A, 0.1 * A])
    b = torch.tensor([[30.0, -50.0, 10.0], [5.0, 60.0, -100.0]], dtype=torch.float64)
    strength = torch.tensor([[20.0, 25.0, 30.0], [40.0, 10.0, 15.0]], dtype=torch.float64)
    values = {"coupling": to_internal(A, Scalar, 2), "trial": to_internal(b, Scalar, 1)}
    values["strength"] = to_internal(strength, Scalar, 1)
    rate = to_public(model.evaluate(values)["rate"], (2,)).detach()
    expected = [
        [0.09700227595940503, -0.17161633029601153, 0.020591983467905625],
        [-0.034062199306960986, 3.3569273393374774, -5.610583166853551],
    ]
    torch.testing.assert_close(rate, torch.tensor(expected, dtype=torch.float64), rtol=1e-13, atol=0.0)
    force = torch.sign(rate) * (rate.abs() / 0.1) ** (1.0 / 3.0) * strength
    torch.testing.assert_close(force + torch.einsum("bij,bj->bi", A, rate), b, rtol=0.0, atol=1e-12)


def test_axes_that_do_not_belong_together_are_refused(write):
    path = write(f"[Models]{COORDINATES}[]")
    with pytest.raises(InputFileError, match=r"expected sub-batch axes \(m, m\) of 'coupling' and \(m,\) of 'trial'"):
        InputFile(path).model("m", {"coupling": (3, 2), "trial": (3,), "strength": (3,)})


@pytest.mark.parametrize("bisections", [0, 3, 16])
def test_many_rows_and_few_rows_and_recorded_rows_agree(model, bisections):
    """One evaluation stands for several halvings where there are few rows and nothing is recorded."""
    m = model(LAW.format(f"bisections = {bisections}\npolish = 0"))
    generator = torch.Generator().manual_seed(3)
    many = {name: 4.0 * torch.rand(2000, dtype=torch.float64, generator=generator) + 0.5 for name in m.inputs}
    found = m.evaluate({name: Scalar(x) for name, x in many.items()})["rate"].data
    few = {name: Scalar(x[:7]) for name, x in many.items()}
    torch.testing.assert_close(m.evaluate(few)["rate"].data, found[:7], rtol=1e-11, atol=0.0)
    with observed_by(lambda _: nullcontext()):
        torch.testing.assert_close(m.evaluate(few)["rate"].data, found[:7], rtol=1e-14, atol=0.0)
