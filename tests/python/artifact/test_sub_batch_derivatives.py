"""Derivatives of and by variables and parameters with sub-batch axes: compiled against eager and finite differences."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import matlaw
from matlaw.artifact import compile_model
from matlaw.eager import EagerModel
from matlaw.errors import FatalError
from matlaw.runtime.compiled import CompiledModel

ROWS, GRAINS = 5, 3
#: Viscoplastic grains with one yield stress each, under the strain of the whole.
YIELD = "update.system.normality.flow.yield.sy"
MODULUS = "update.system.elasticity.E"


@pytest.fixture(scope="module")
def law(tmp_path_factory: pytest.TempPathFactory) -> Path:
    text = (Path(__file__).parents[3] / "examples" / "models" / "j2_viscoplastic.i").read_text()
    text = text.replace("yield_stress = 250", "yield_stress = 'strengths'").replace("exponent = 5", "exponent = 3")
    text = text.replace("'update elastic_strain elasticity'", "'update elastic_strain elasticity mean'")
    text = text.replace("additional_outputs = '", "additional_outputs = 'stress ")
    text = text.replace(
        "[Models]\n",
        "[Settings]\n  [example_batch_shape]\n"
        f"    plastic_strain = '(; {GRAINS})'\n    equivalent_plastic_strain = '(; {GRAINS})'\n  []\n[]\n"
        "[Tensors]\n  [strengths]\n    type = Python\n    expr = 'Scalar([250.0, 300.0, 200.0], sub_batch_ndim=1)'\n"
        "  []\n[]\n"
        "[Models]\n  [mean]\n    type = SR2IntermediateMean\n    from = 'stress'\n    to = 'mean_stress'\n"
        "    reduces = 'grain'\n  []\n",
    )
    path = tmp_path_factory.mktemp("grains") / "law.i"
    path.write_text(text)
    return path


@pytest.fixture(scope="module")
def compiled(law: Path) -> CompiledModel:
    compile_model(
        law, "model", law.parent / "aoti", [":", f":{YIELD}", f":{MODULUS}"], [YIELD, MODULUS], backend="native"
    )
    return matlaw.load_model(str(law.parent / "aoti" / "model_aoti.i"), "model")


@pytest.fixture(scope="module")
def eager(law: Path) -> EagerModel:
    return EagerModel(law, "model")


@pytest.fixture
def inputs() -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(4)

    def rand(*shape: int) -> torch.Tensor:
        return torch.rand(*shape, dtype=torch.float64, generator=generator)

    return {
        "strain": 6e-3 * (rand(ROWS, 6) - 0.5),
        "plastic_strain~1": 1e-4 * (rand(ROWS, GRAINS, 6) - 0.5),
        "equivalent_plastic_strain~1": 1e-3 * rand(ROWS, GRAINS),
        "t": torch.full((ROWS,), 1.0, dtype=torch.float64),
        "t~1": torch.zeros(ROWS, dtype=torch.float64),
    }


def close(found: torch.Tensor, expected: torch.Tensor, tolerance: float) -> None:
    torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance * float(expected.abs().max()))


def differences(
    value: Callable[[torch.Tensor], dict[str, torch.Tensor]], x: torch.Tensor, trailing: int
) -> dict[str, torch.Tensor]:
    """Central differences ``(B, *out, *in)`` by the last ``trailing`` axes of ``x``."""
    own = x.shape[x.ndim - trailing :]
    step = 1e-6 * float(x.abs().max())
    columns: dict[str, list[torch.Tensor]] = {}
    for k in range(own.numel()):
        direction = torch.zeros(own.numel(), dtype=x.dtype)
        direction[k] = step
        above, below = (value(x + sign * direction.reshape(own)) for sign in (1, -1))
        for name in above:
            columns.setdefault(name, []).append((above[name] - below[name]) / (2.0 * step))
    return {name: torch.stack(c, -1).reshape(*c[0].shape, *own) for name, c in columns.items()}


def test_every_pair_is_that_of_eager(
    compiled: CompiledModel, eager: EagerModel, inputs: dict[str, torch.Tensor]
) -> None:
    pairs = [(o, i) for o in eager.output_names for i in eager.input_names]
    assert set(compiled.derivative_pairs) == set(pairs)
    assert set(eager.derivative_pairs) == {(o, i) for o, i in pairs if i in ("strain", "t", "t~1")}
    expected = eager.evaluate(inputs, jacobian=True, pairs=pairs).jacobian
    _, found = compiled.jacobian(inputs)
    assert found["stress"]["plastic_strain~1"].shape == (ROWS, GRAINS, 6, GRAINS, 6)
    assert found["mean_stress"]["strain"].shape == (ROWS, 6, 6)
    for output, by in pairs:
        block = found[output][by]
        # The kernel solves grain by grain, eager all at once: the states differ by what abs_tol leaves.
        close(block.expand(expected[output][by].shape), expected[output][by], 1e-8)
    neighbours = found["stress"]["plastic_strain~1"][:, 0, :, 1]
    assert float(neighbours.abs().max()) == 0.0, "grains do not act on each other"


@pytest.mark.parametrize("by", ["strain", "plastic_strain~1", "equivalent_plastic_strain~1", "t"])
def test_pairs_are_the_slopes_of_the_outputs(compiled: CompiledModel, inputs: dict[str, torch.Tensor], by: str) -> None:
    slopes = differences(lambda x: compiled.forward({**inputs, by: x}), inputs[by], inputs[by].ndim - 1)
    _, blocks = compiled.jacobian(inputs)
    for output, expected in slopes.items():
        close(blocks[output][by].expand(expected.shape), expected, 1e-5)


def test_a_parameter_of_every_grain(
    compiled: CompiledModel, eager: EagerModel, inputs: dict[str, torch.Tensor]
) -> None:
    strengths = torch.tensor([250.0, 300.0, 200.0], dtype=torch.float64)
    torch.testing.assert_close(compiled.named_parameters()[YIELD], strengths)
    expected, found = eager.param_jacobian(inputs), compiled.param_jacobian(inputs)
    assert found["mean_stress"][YIELD].shape == (ROWS, 6, GRAINS)
    assert found["stress"][YIELD].shape == (ROWS, GRAINS, 6, GRAINS)
    for output in found:
        for parameter in (YIELD, MODULUS):
            close(found[output][parameter], expected[output][parameter], 1e-9)

    def value(x: torch.Tensor) -> dict[str, torch.Tensor]:
        compiled.set_parameter(YIELD, x)
        return compiled.forward(inputs)

    for output, slope in differences(value, strengths, 1).items():
        close(found[output][YIELD], slope, 1e-5)
    compiled.set_parameter(YIELD, torch.full((1,), 280.0, dtype=torch.float64))
    alike = compiled.forward(inputs)["mean_stress"]
    compiled.set_parameter(YIELD, torch.full((ROWS, GRAINS), 280.0, dtype=torch.float64))
    assert torch.equal(compiled.forward(inputs)["mean_stress"], alike)
    compiled.set_parameter(YIELD, strengths)


def test_tangents_and_cotangents(compiled: CompiledModel, eager: EagerModel, inputs: dict[str, torch.Tensor]) -> None:
    tangent = torch.rand(ROWS, GRAINS, 6, dtype=torch.float64)
    _, found = compiled.jvp(inputs, {"plastic_strain~1": tangent})
    _, blocks = compiled.jacobian(inputs)
    for output, derivative in found.items():
        block = blocks[output]["plastic_strain~1"].reshape(ROWS, -1, GRAINS * 6)
        expected = (block @ tangent.reshape(ROWS, -1, 1)).reshape(derivative.shape)
        close(derivative, expected, 1e-12)
    one = tangent[:, :1]
    _, spread = compiled.jvp(inputs, {"plastic_strain~1": one})
    _, whole = compiled.jvp(inputs, {"plastic_strain~1": one.expand(ROWS, GRAINS, 6)})
    torch.testing.assert_close(spread["stress"], whole["stress"])
    with pytest.raises(FatalError, match="others are given by evaluate when its pairs name them"):
        eager.jvp(inputs, {"plastic_strain~1": tangent})

    cotangents = {
        "stress": torch.rand(ROWS, GRAINS, 6, dtype=torch.float64),
        "mean_stress": torch.rand(6, dtype=torch.float64),
    }
    expected_gradients = eager.param_vjp(
        inputs, {"stress": cotangents["stress"], "mean_stress": cotangents["mean_stress"].expand(ROWS, 6)}
    )
    gradients = compiled.param_vjp(inputs, cotangents)
    assert gradients[YIELD].shape == (GRAINS,)
    for parameter in (YIELD, MODULUS):
        close(gradients[parameter], expected_gradients[parameter], 1e-9)


def test_the_source_of_an_artifact_gives_the_same_pairs(
    compiled: CompiledModel, law: Path, inputs: dict[str, torch.Tensor]
) -> None:
    source = matlaw.load_model(str(law.parent / "aoti" / "model_aoti.i"), "model", runtime="eager")
    assert set(source.derivative_pairs) == set(compiled.derivative_pairs)
    tangents = {"plastic_strain~1": torch.rand(ROWS, GRAINS, 6, dtype=torch.float64)}
    close(source.jvp(inputs, tangents)[1]["stress"], compiled.jvp(inputs, tangents)[1]["stress"], 1e-9)
