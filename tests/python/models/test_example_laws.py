"""The laws of examples/models over a load history, and their stresses compared with another program.

Expected stresses: neml2 3.1.0 with torch 2.12.1, float64, on the same files and steps, absolute tolerance 1e-12.
"""

import json
import math
from pathlib import Path

import pytest
import torch

from matlaw.eager import EagerModel
from matlaw.evaluation import Status

EXAMPLES = Path(__file__).parents[3] / "examples" / "models"
STRESSES = json.loads(Path(__file__).parents[2].joinpath("data", "stresses_of_neml2_3.1.0.json").read_text())

#: Time and size of the strain: loading, unloading, reversal, a pause, loading again.
STEPS = [
    (1.0, 1e-3),
    (2.0, 3e-3),
    (3.0, 6e-3),
    (4.0, 4e-3),
    (5.0, 0.0),
    (6.0, -4e-3),
    (7.0, -6e-3),
    (17.0, -6e-3),
    (18.0, -2e-3),
    (19.0, 4e-3),
]
#: Direction of the strain.
DIRECTION = torch.tensor([1.0, -0.4, -0.3, 0.1, 0.0, 0.5], dtype=torch.float64)
#: Inputs that a step does not change, and old values to start from.
CONSTANTS = {
    "kocks_mecking": {"temperature": 1100.0},
    "mixed_control": {"control": [0.0, 1.0, 1.0, 0.0, 1.0, 1.0]},
    "gurson": {"void_fraction~1": 0.01},
}
#: Prescribed components per unit of strain.
PRESCRIBED = torch.tensor([1.0, 0.0, 0.0, 0.2, 0.0, 0.0], dtype=torch.float64)
TIGHT = ["Solvers/newton/abs_tol:=1e-12", "Solvers/newton/rel_tol:=0", "Solvers/newton/max_its:=60"]
#: Laws that a strain or a jump does not drive; see test_crystal_laws.py and test_precipitate_law.py.
OTHERS = {"single_crystal", "single_crystal_coupled", "taylor_polycrystal", "precipitate_growth"}
LAWS = sorted({path.stem for path in EXAMPLES.glob("*.i")} - OTHERS)


def start(law, overrides=()):
    """A law and its values before the first step."""
    model = EagerModel(EXAMPLES / f"{law}.i", "model", overrides=list(overrides))
    values = {p.old: torch.tensor(p.initial, dtype=torch.float64) for p in model.state_pairs}
    values = {name: v[0] if v.numel() == 1 else v for name, v in values.items()}
    values |= {k: torch.tensor(v, dtype=torch.float64) for k, v in CONSTANTS.get(law, {}).items()}
    return model, values


def run(model, values, steps):
    """Outputs of every step."""
    for step in steps:
        values |= step
        result = model.evaluate({name: values[name] for name in model.input_names})
        yield result
        for pair in model.state_pairs:
            values[pair.old] = result.outputs[pair.current] if pair.role == "state" else values[pair.current]


def strain_steps(size=1.0):
    for t, strain in STEPS:
        yield {
            "t": torch.tensor(t, dtype=torch.float64),
            "strain": size * strain * DIRECTION,
            "prescribed": size * strain * PRESCRIBED,
        }


def jump_steps():
    for jump in ([0.0, 0.0, 0.0], [5e-5, 2e-5, 0.0], [1e-3, 1e-3, 5e-4], [5e-4, 0.0, 0.0], [-1e-5, 1e-4, 0.0]):
        yield {"jump": torch.tensor(jump, dtype=torch.float64)}


@pytest.mark.parametrize("law", LAWS)
def test_with_its_own_settings(law):
    model, values = start(law)
    steps = jump_steps() if "jump" in model.input_names else strain_steps(0.3)
    for result in run(model, values, steps):
        assert result.status.item() == int(Status.CONVERGED)
        assert all(bool(torch.isfinite(v).all()) for v in result.outputs.values())


@pytest.mark.parametrize("law", STRESSES)
def test_stresses_of_another_program(law):
    model, values = start(law, TIGHT)
    for result, expected in zip(run(model, values, strain_steps()), STRESSES[law], strict=True):
        expected = torch.tensor(expected, dtype=torch.float64)
        # Without rate dependence a pause is a double zero of the complementarity function: half of the digits are lost.
        tolerance = 1e-7 if "flow_rate" in model.output_names else 1e-8
        scale = expected.abs().max().item()
        torch.testing.assert_close(result.outputs["stress"], expected, rtol=tolerance, atol=tolerance * scale)


def test_radial_return_is_the_same_law_as_the_one_with_tensor_unknowns():
    results = [list(run(*start(law, TIGHT), strain_steps())) for law in ("radial_return", "j2_viscoplastic")]
    for a, b in zip(*results, strict=True):
        for name in ("stress", "plastic_strain", "equivalent_plastic_strain"):
            torch.testing.assert_close(a.outputs[name], b.outputs[name], rtol=1e-8, atol=1e-9)


def test_mixed_control_prescribes_what_the_signal_says():
    model, values = start("mixed_control", TIGHT)
    for step, result in zip(strain_steps(), run(model, values, strain_steps()), strict=True):
        stress, strain = result.outputs["stress"], result.outputs["strain"]
        torch.testing.assert_close(strain[[0, 3]], step["prescribed"][[0, 3]], rtol=0.0, atol=1e-15)
        torch.testing.assert_close(stress[[1, 2, 4, 5]], torch.zeros(4, dtype=torch.float64), rtol=0.0, atol=1e-9)


def test_gurson_stays_on_its_yield_surface():
    model, values = start("gurson", TIGHT)
    for result in run(model, values, strain_steps()):
        out = result.outputs
        stress, phi = out["stress"], out["void_fraction"].item()
        trace = stress[:3].sum()
        deviator = stress - trace / 3.0 * torch.tensor([1.0, 1.0, 1.0, 0.0, 0.0, 0.0], dtype=torch.float64)
        strength = 250.0 + 200.0 * (1.0 - math.exp(-10.0 * out["equivalent_plastic_strain"].item()))
        voids = 2.0 * 1.5 * phi * math.cosh(0.5 * trace.item() / strength)
        value = 1.5 * (deviator @ deviator).item() / strength**2 + voids - 1.0 - 2.25 * phi**2
        if out["flow_rate"].item() > 1e-6:
            assert abs(value) < 1e-10
        else:
            assert value < 1e-10


def test_kocks_mecking_is_rate_independent_when_cold():
    model, values = start("kocks_mecking", TIGHT)
    values["temperature"] = torch.tensor(300.0, dtype=torch.float64)
    slow = [r.outputs["stress"] for r in run(model, values, strain_steps())]
    model, values = start("kocks_mecking", TIGHT)
    values["temperature"] = torch.tensor(300.0, dtype=torch.float64)
    steps = ({**step, "t": 0.1 * step["t"]} for step in strain_steps())
    fast = [r.outputs["stress"] for r in run(model, values, steps)]
    for a, b in zip(slow, fast, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-6, atol=1e-6)


def test_interface_fails_at_the_energy_of_pure_opening():
    model, values = start("bilinear_traction")
    openings = torch.linspace(0.0, 0.03, 3001, dtype=torch.float64)
    tractions = [
        result.outputs["traction"][0].item()
        for result in run(model, values, ({"jump": torch.tensor([d, 0.0, 0.0])} for d in openings))
    ]
    energy = torch.trapezoid(torch.tensor(tractions, dtype=torch.float64), openings).item()
    assert energy == pytest.approx(0.969, rel=1e-3)
    assert max(tractions) == pytest.approx(80.0, rel=2e-2)
    assert tractions[-1] == 0.0


def test_exponential_interface_peaks_at_its_strengths():
    model, values = start("salehani_irani_traction")
    [result] = run(model, values, [{"jump": torch.tensor([1e-3, 0.0, 0.0], dtype=torch.float64)}])
    assert result.outputs["traction"][0].item() == pytest.approx(80.0, rel=1e-12)
    model, values = start("salehani_irani_traction")
    [result] = run(model, values, [{"jump": torch.tensor([0.0, 1e-3, 0.0], dtype=torch.float64)}])
    assert result.outputs["traction"][1].item() == pytest.approx(100.0, rel=1e-12)
