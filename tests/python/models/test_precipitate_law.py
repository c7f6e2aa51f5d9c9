"""Precipitates in classes of size: a law whose only unknown has a sub-batch axis."""

from pathlib import Path

import pytest
import torch

from matlaw.eager import EagerModel

LAW = Path(__file__).parents[3] / "examples" / "models" / "precipitate_growth.i"
START = torch.tensor([[2e-4, 1e-4, 5e-5, 0, 0, 0, 0, 0], [0, 0, 0, 1e-5, 2e-5, 1e-5, 0, 0]], dtype=torch.float64)
TIMES = [1.0, 5.0, 20.0, 60.0, 200.0]
#: After the last step: neml2 3.1.0 with torch 2.12.1, float64, on the same file and steps.
CONCENTRATION = [0.0109331818932946, 0.0126286414265593]
NUMBER_DENSITY = [
    [
        0.000102217983801564,
        0.000136772201920484,
        8.55988850828438e-05,
        2.17074393264653e-05,
        3.31048220358916e-06,
        3.60179128063343e-07,
        3.05616015220513e-08,
        2.26693546834933e-09,
    ],
    [
        0.0,
        0.0,
        0.0,
        7.1554035859067e-06,
        1.74393847018654e-05,
        1.2425037711478e-05,
        2.58462357839922e-06,
        3.95550422350675e-07,
    ],
]


@pytest.fixture
def history():
    """Outputs of every step."""
    law = EagerModel(LAW, "model")
    assert law.output_sub_batch_shapes[law.output_names.index("number_density")] == (8,)
    values = {"number_density~1": START, "t~1": torch.zeros(2, dtype=torch.float64)}
    found = []
    for time in TIMES:
        values["t"] = torch.full((2,), time, dtype=torch.float64)
        found.append(law.forward(values))
        values = {"number_density~1": found[-1]["number_density"], "t~1": values["t"]}
    return found


def test_history_of_another_program(history):
    last = history[-1]
    for name, expected in (("concentration", CONCENTRATION), ("number_density", NUMBER_DENSITY)):
        expected = torch.tensor(expected, dtype=torch.float64)
        torch.testing.assert_close(last[name], expected, rtol=1e-9, atol=1e-9 * expected.abs().max().item())


def test_precipitates_and_solutes_are_kept(history):
    radii = torch.linspace(1.5, 8.5, 8, dtype=torch.float64)
    volumes = 4.0 / 3.0 * torch.pi * radii**3
    for step in history:
        torch.testing.assert_close(step["number_density"].sum(1), START.sum(1), rtol=1e-10, atol=0.0)
        fraction = (step["number_density"] * volumes).sum(1)
        torch.testing.assert_close(step["volume_fraction"], fraction, rtol=1e-13, atol=0.0)
        solutes = step["concentration"] * (1.0 - fraction) + 0.8 * fraction
        torch.testing.assert_close(solutes, torch.full((2,), 0.04, dtype=torch.float64), rtol=1e-12, atol=0.0)


def test_supersaturated_precipitates_grow_until_the_solution_is_at_equilibrium(history):
    fractions = torch.stack([step["volume_fraction"] for step in history])
    concentrations = torch.stack([step["concentration"] for step in history])
    assert bool((fractions.diff(dim=0) > 0.0).all())
    assert bool((concentrations.diff(dim=0) < 0.0).all()) and bool((concentrations > 0.01).all())
