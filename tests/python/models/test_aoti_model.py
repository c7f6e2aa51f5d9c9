"""A compiled law as a model of an input file."""

from pathlib import Path

import pytest
import torch

from matlaw.cli.compile import main as compile_law
from matlaw.eager import EagerModel
from matlaw.errors import FatalError
from matlaw.input import InputFile

EXAMPLES = Path(__file__).parents[3] / "examples" / "models"


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("aoti")
    law = str(EXAMPLES / "linear_elastic.i")
    arguments = ["--model", "model", "-d", "stress:strain", "--backend", "native", "-q", "--output-dir", str(folder)]
    assert not compile_law([law, *arguments])
    return folder


SCALED = """
[Models]
  [law]
    type = AOTIModel
    artifact_path = 'model'
  []
  [double]
    type = SR2LinearCombination
    from = 'stress'
    to = 'twice'
    weights = '2'
  []
  [both]
    type = ComposedModel
    models = 'law double'
  []
[]
"""


def test_the_stub_is_a_model(compiled):
    model = InputFile(compiled / "model_aoti.i").model("model")
    assert {n: v.type.__name__ for n, v in model.inputs.items()} == {"strain": "SR2"}
    assert {n: v.type.__name__ for n, v in model.outputs.items()} == {"stress": "SR2"}
    assert model.named_parameters() == {}


def test_a_compiled_law_composes_and_differentiates(compiled):
    path = compiled / "scaled.i"
    path.write_text(SCALED)
    model = EagerModel(path, "both")
    plain = EagerModel(EXAMPLES / "linear_elastic.i", "model")
    torch.manual_seed(0)
    strain = 1e-3 * torch.randn(3, 6, dtype=torch.float64)
    out, blocks = model.jacobian({"strain": strain})
    expected, expected_blocks = plain.jacobian({"strain": strain})
    torch.testing.assert_close(out["twice"], 2 * expected["stress"])
    torch.testing.assert_close(blocks["twice"]["strain"], 2 * expected_blocks["stress"]["strain"])


def test_missing_derivatives_are_named(compiled, tmp_path):
    arguments = ["--model", "model", "--backend", "native", "-q", "--output-dir", str(tmp_path)]
    assert not compile_law([str(EXAMPLES / "linear_elastic.i"), *arguments])
    path = tmp_path / "scaled.i"
    path.write_text(SCALED)
    model = EagerModel(path, "both")
    strain = torch.zeros(3, 6, dtype=torch.float64)
    assert (model.forward({"strain": strain})["twice"] == 0).all()
    with pytest.raises(FatalError, match="compiled without the derivatives stress:strain; compile it with -d stress"):
        model.jacobian({"strain": strain})


SCALARS = """
[Models]
  [law]
    type = {type}
    {options}
  []
  [double]
    type = ScalarLinearCombination
    from = 'k'
    to = 'twice'
    weights = '2'
  []
  [both]
    type = ComposedModel
    models = 'law double'
  []
[]
"""
VOCE = "saturated_hardening = 100\n saturation_rate = 20\n equivalent_plastic_strain = 'ep'\n isotropic_hardening = 'k'"


def test_derivatives_of_a_scalar_by_a_scalar(tmp_path):
    plain = tmp_path / "voce.i"
    plain.write_text(SCALARS.format(type="VoceIsotropicHardening", options=VOCE))
    arguments = ["--model", "law", "-d", "k:ep", "--backend", "native", "-q", "--output-dir", str(tmp_path)]
    assert not compile_law([str(plain), *arguments])
    path = tmp_path / "scaled.i"
    path.write_text(SCALARS.format(type="AOTIModel", options="artifact_path = 'law'"))
    ep = torch.tensor([0.0, 0.01, 0.2], dtype=torch.float64)
    _, blocks = EagerModel(path, "both").jacobian({"ep": ep})
    torch.testing.assert_close(blocks["twice"]["ep"], 2 * 100 * 20 * torch.exp(-20 * ep))
