"""Single crystals and a polycrystal over a history of deformation rates, compared with another program.

Expected values: neml2 3.1.0 with torch 2.12.1, float64, on the same files and steps, absolute tolerance 1e-12. The
programs rotate by the same angle up to its fifth power, so that orientations drift apart from the second step on.
"""

import json
from pathlib import Path

import pytest
import torch

from matlaw.eager import EagerModel
from matlaw.errors import InputFileError

EXAMPLES = Path(__file__).parents[3] / "examples" / "models"
EXPECTED = json.loads(Path(__file__).parents[2].joinpath("data", "crystals_of_neml2_3.1.0.json").read_text())
TIGHT = ["Solvers/newton/abs_tol:=1e-12", "Solvers/newton/rel_tol:=1e-14"]

RATE = 1e-3 * torch.tensor([1.0, -0.4, -0.6, 0.1, 0.2, 0.3], dtype=torch.float64)
SPIN = 1e-3 * torch.tensor([0.1, 0.2, -0.1], dtype=torch.float64)
ORIENTATIONS = torch.tensor([[0, 0, 0], [0.1, 0.2, 0.3], [-0.2, 0.1, 0.05], [0.3, -0.1, 0.2]], dtype=torch.float64)
#: Time, and the factor of the deformation rate: loading, a reversal, loading again.
STEPS = [(0.5, 1.0), (1.0, 1.0), (2.0, 1.0), (4.0, 1.0), (6.0, -1.0), (8.0, 1.0)]


def start(law, overrides=()):
    """A law and its values before the first step: four rows of one crystal, or two rows of four grains."""
    model = EagerModel(EXAMPLES / f"{law}.i", "model", overrides=list(overrides))
    rows = 2 if law == "taylor_polycrystal" else 4
    shapes = zip(model.input_names, model.input_sub_batch_shapes, model.input_base_shapes, strict=True)
    values = {name: torch.zeros(rows, *sub, *base, dtype=torch.float64) for name, sub, base in shapes}
    values["orientation~1"] = ORIENTATIONS.expand(values["orientation~1"].shape)
    values["vorticity"] = SPIN.expand(rows, 3)
    return model, values


def prescribe(values, law, time, factor):
    """The inputs of one step."""
    values["t"] = torch.full_like(values["t"], time)
    rows = torch.tensor([1.0, 0.5], dtype=torch.float64)[:, None] if law == "taylor_polycrystal" else torch.ones(4, 1)
    values["deformation_rate"] = factor * RATE * rows


def run(law, overrides=()):
    """The law, and its outputs of every step."""
    model, values = start(law, overrides)
    for time, factor in STEPS:
        prescribe(values, law, time, factor)
        result = model.evaluate(values)
        assert result.ok
        yield result.outputs
        follow = {
            p.old: result.outputs[p.current] if p.role == "state" else values[p.current] for p in model.state_pairs
        }
        values |= follow


@pytest.mark.parametrize("law", EXPECTED)
def test_history_of_another_program(law):
    for step, (found, expected) in enumerate(zip(run(law, TIGHT), EXPECTED[law], strict=True)):
        assert found.keys() == expected.keys()
        for name, value in expected.items():
            value = torch.tensor(value, dtype=torch.float64)
            tolerance = 1e-12 if step == 0 else 1e-9
            torch.testing.assert_close(
                found[name], value, rtol=tolerance, atol=tolerance * max(value.abs().max().item(), 0.1)
            )


def test_integrating_the_orientation_with_the_rest_converges_to_the_same_history():
    """Both are of first order in time: a hundredth of the step takes away some 99 % of the difference."""
    ends = {}
    for law in ("single_crystal", "single_crystal_coupled"):
        for size in (1.0, 0.01):
            model, values = start(law, TIGHT)
            prescribe(values, law, size, 1.0)
            ends[law, size] = model.evaluate(values).outputs["orientation"] - values["orientation~1"]
    coarse = (ends["single_crystal", 1.0] - ends["single_crystal_coupled", 1.0]).abs().max()
    fine = (ends["single_crystal", 0.01] - ends["single_crystal_coupled", 0.01]).abs().max()
    assert 0.0 < fine < 0.01 * coarse


def test_a_grain_of_the_polycrystal_is_a_single_crystal():
    single, grains = list(run("single_crystal", TIGHT)), list(run("taylor_polycrystal", TIGHT))
    for a, b in zip(single, grains, strict=True):
        for name in ("elastic_strain", "slip_hardening", "orientation"):
            torch.testing.assert_close(b[name][0], a[name], rtol=1e-11, atol=1e-15)
        torch.testing.assert_close(b["mean_stress"][0], a["stress"].mean(0), rtol=1e-11, atol=1e-10)


@pytest.mark.parametrize(
    ("law", "stress"), [("single_crystal_coupled", "stress"), ("taylor_polycrystal", "mean_stress")]
)
def test_tangent_through_the_state_of_the_grains(law, stress):
    model, values = start(law, TIGHT)
    prescribe(values, law, 1.0, 1.0)
    _, blocks = model.jacobian(values)
    assert set(blocks[stress]) == {
        n for n, s in zip(model.input_names, model.input_sub_batch_shapes, strict=True) if not s
    }
    block = blocks[stress]["deformation_rate"]
    assert block.shape == (values["t"].shape[0], 6, 6)
    step = 1e-8
    for c in range(6):
        sides = []
        for sign in (1.0, -1.0):
            moved = values["deformation_rate"].clone()
            moved[:, c] += sign * step
            sides.append(model.forward({**values, "deformation_rate": moved})[stress])
        torch.testing.assert_close(
            block[:, :, c], (sides[0] - sides[1]) / (2.0 * step), rtol=1e-5, atol=1e-6 * block.abs().max().item()
        )


def test_groups_of_unknowns_change_nothing():
    groups = [
        "EquationSystems/equations/unknowns:='elastic_strain; slip_hardening'",
        "EquationSystems/equations/residuals:='elastic_strain_residual; slip_hardening_residual'",
        "EquationSystems/equations/structure:='block dense'",
    ]
    for a, b in zip(run("single_crystal"), run("single_crystal", groups), strict=True):
        assert all(torch.equal(a[name], b[name]) for name in a)
    groups[1] = "EquationSystems/equations/residuals:='elastic_strain_residual slip_hardening_residual'"
    with pytest.raises(InputFileError, match="expected groups of 1, 1 residuals, as the unknowns have, got 2"):
        start("single_crystal", groups)
