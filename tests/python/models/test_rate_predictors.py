"""The initial guess of a rate from a linearised driving force."""

import pytest
import torch

from matlaw.errors import InputFileError
from matlaw.tensors import Scalar

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
