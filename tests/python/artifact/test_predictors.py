"""Initial guesses as graphs: the rates of slip systems by coordinate descent, the strain and hardening that follow."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

import matlaw
from matlaw.artifact import compile_model
from matlaw.input import InputFile
from matlaw.lower.native import Kernel
from matlaw.tensors import to_internal, to_public
from matlaw.trace import Program, partition
from matlaw.trace.slots import Slot

ROWS = 9
#: Six slip systems instead of twelve.
SYSTEMS = (("[[1, 1, 0]]", "[[1, 0, 0]]"), ("[[1, 1, 1]]", "[[0, 1, 0]]"))
#: Slip rates that balance the resolved shears of the strain to which an elastic step would lead, with the strengths of
#: the last step; and the unknowns to which these rates lead.
GUESS = """
  [C]
    type = IsotropicElasticityTensor
    coefficients = '100000 0.25'
    coefficient_types = 'YOUNGS_MODULUS POISSONS_RATIO'
  []
  [trial_strain]
    type = SR2ForwardEulerTimeIntegration
    variable = 'trial_strain'
    old_variable = 'elastic_strain~1'
    rate = 'deformation_rate'
  []
  [trial_stress]
    type = LinearIsotropicElasticity
    strain = 'trial_strain'
    stress = 'trial_stress'
    coefficients = '100000 0.25'
    coefficient_types = 'YOUNGS_MODULUS POISSONS_RATIO'
  []
  [trial_shears]
    type = ResolvedShear
    stress = 'trial_stress'
    orientation_matrix = 'orientation_matrix'
    resolved_shears = 'trial_shears'
  []
  [interaction]
    type = SlipSystemElasticInteraction
    orientation = 'orientation~1'
    coupling = 'interaction'
    elastic_stiffness_tensor = 'C'
  []
  [old_strength]
    type = SingleSlipStrengthMap
    slip_hardening = 'slip_hardening~1'
    slip_strengths = 'slip_strengths'
    constant_strength = 50
  []
  [descent]
    type = CoordinateDescentPredictor
    rate_law = 'slip'
    driving_force_input = 'resolved_shears'
    coupling = 'interaction'
    trial_driving_force = 'trial_shears'
    rate = 'slip_rates'
    sweeps = 3
    bisections = 8
    polish = 2
  []
  [guessed_strain_rate]
    type = ElasticStrainRate
    elastic_strain = 'elastic_strain~1'
    deformation_rate = 'deformation_rate'
    vorticity = 'vorticity'
    plastic_deformation_rate = 'plastic_deformation_rate'
    elastic_strain_rate = 'guessed_strain_rate'
  []
  [guessed_strain]
    type = SR2ForwardEulerTimeIntegration
    variable = 'elastic_strain'
    rate = 'guessed_strain_rate'
  []
  [guessed_hardening_rate]
    type = VoceSingleSlipHardeningRule
    slip_hardening = 'slip_hardening~1'
    sum_slip_rates = 'sum_slip_rates'
    slip_hardening_rate = 'guessed_hardening_rate'
    initial_slope = 500
    saturated_hardening = 50
  []
  [guessed_hardening]
    type = ScalarForwardEulerTimeIntegration
    variable = 'slip_hardening'
    rate = 'guessed_hardening_rate'
  []
  [by_descent]
    type = ComposedModel
    models = 'trial_strain old_orientation trial_stress trial_shears interaction old_strength descent plastic_rate
              guessed_strain_rate guessed_strain total_slip guessed_hardening_rate guessed_hardening'
  []
  [update]"""


@pytest.fixture(scope="module")
def place(models: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the law, ``crystal.i``, and its artifact."""
    folder = tmp_path_factory.mktemp("predictors")
    text = (models / "single_crystal.i").read_text()
    for old, new in (*SYSTEMS, ("predictor = 'guess'", "predictor = 'by_descent'"), ("\n  [update]", GUESS)):
        assert text.count(old) == 1
        text = text.replace(old, new)
    (folder / "crystal.i").write_text(text)
    compile_model(folder / "crystal.i", "model", folder, backend="native")
    return folder


@pytest.fixture(scope="module")
def program(place: Path) -> Program:
    return partition(InputFile(place / "crystal.i").model("model"))


def inputs() -> dict[str, torch.Tensor]:
    """Rows from elastic to far beyond yield, of crystals that have flowed before."""
    rng = np.random.default_rng(7)
    rate = rng.normal(size=(ROWS, 6)) * np.linspace(1e-5, 2e-2, ROWS)[:, None]
    return {
        "deformation_rate": torch.tensor(rate),
        "vorticity": torch.tensor(rng.normal(size=(ROWS, 3)) * 1e-3),
        "elastic_strain~1": torch.tensor(rng.normal(size=(ROWS, 6)) * 1e-4),
        "slip_hardening~1": torch.tensor(rng.uniform(0, 20, ROWS)),
        "orientation~1": torch.tensor(rng.normal(size=(ROWS, 3)) * 0.2),
        "t": torch.full((ROWS,), 1.5, dtype=torch.float64),
        "t~1": torch.ones(ROWS, dtype=torch.float64),
    }


def test_a_coordinate_descent_in_a_kernel_agrees_with_eager(place: Path, program: Program) -> None:
    segment = program.segments[0]
    entry = json.loads((place / "model" / "metadata.json").read_text())["segments"][0]["graphs"]["predictor"]
    assert entry["outputs"] == ["elastic_strain", "slip_hardening"]
    values = {n: to_internal(x, program.inputs[n].type, 0) for n, x in inputs().items()}
    with torch.no_grad():
        expected = segment.predict(values)
    file = place / "model" / "cpu" / "float64" / f"{entry['stem']}.x86-64-v3.so"
    given = [Slot(name, program.inputs[name].shape) for name in entry["inputs"]]
    guessed = [Slot(name, segment.unknowns[name].shape) for name in entry["outputs"]]
    kernel = Kernel(file, given, guessed, np.dtype(np.float64))
    found = kernel(*(values[name].data.numpy() for name in entry["inputs"]))
    for name, guess in zip(entry["outputs"], found, strict=True):
        reference = expected[name].data.numpy()
        np.testing.assert_allclose(guess, reference, rtol=1e-8, atol=1e-10 * np.abs(reference).max())
    strain = to_public(expected["elastic_strain"], (ROWS,))
    elastic = inputs()["elastic_strain~1"] + 0.5 * inputs()["deformation_rate"]
    relaxed = (strain - elastic).norm(dim=1) / elastic.norm(dim=1)
    assert relaxed[0] < 1e-2, "the first row should hardly flow"
    assert relaxed[-1] > 0.5, "the last row should flow"


def test_the_law_starts_from_it(place: Path) -> None:
    """Compiled and eager take the same steps, fewer than from the last strain; the solution is the same."""
    compiled = matlaw.load_model(place / "model", threads=1).evaluate(inputs())
    eager = matlaw.load_model(place / "crystal.i", "model").evaluate(inputs())
    assert compiled.ok
    assert eager.ok
    assert compiled.iterations.tolist() == eager.iterations.tolist()
    for name, value in eager.outputs.items():
        torch.testing.assert_close(compiled.outputs[name], value, rtol=1e-8, atol=1e-9)
    text = (place / "crystal.i").read_text().replace("predictor = 'by_descent'", "predictor = 'guess'")
    (place / "without.i").write_text(text)
    without = matlaw.load_model(place / "without.i", "model").evaluate(inputs())
    assert without.ok
    assert (compiled.iterations <= without.iterations).all()
    assert compiled.iterations.sum() < 0.7 * without.iterations.sum()
    torch.testing.assert_close(compiled.outputs["stress"], without.outputs["stress"], rtol=1e-6, atol=1e-6)
