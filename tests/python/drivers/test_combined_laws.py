"""Laws that combine what the examples have one by one, against neml2 3.1.0 (PyPI, torch 2.12.1) on the same input."""

from pathlib import Path

import pytest
import torch

from matlaw.artifact.compile import compile_model
from matlaw.drivers import run_driver

DATA = Path(__file__).parents[2] / "data"
#: Outputs of the last step.
EXPECTED = {
    "heated_chaboche": {
        "S": [-1728.8722217, -2015.56388915, -2015.56388915, 27.0295496222, 0.0, 54.0590992444],
        "Ep": [0.00844708680129, -0.00422354340065, -0.00422354340065, 0.00119459847169, 0.0, 0.00238919694339],
        "X1": [68.6071608836, -34.3035804418, -34.3035804418, 9.70251773975, 0.0, 19.4050354795],
        "X2": [25.2230177135, -12.6115088567, -12.6115088567, 3.56707337344, 0.0, 7.13414674688],
        "k": 17.2327085542,
    },
    "two_updates": {
        "S": [154.150645131, 38.2677712805, 57.5815835888, 0.0, 81.9415659229, 0.0],
        "Ep": [0.0027460416133, -0.00174748102665, -0.000998560586655, 0.0, 0.00317740033012, 0.0],
        "ep": 0.00380240543021,
        "d": 0.00472094043136,
    },
}


@pytest.mark.parametrize("name", EXPECTED)
def test_eager_and_compiled_histories(name, tmp_path):
    eager = run_driver(DATA / f"{name}.i", "driver").history
    for variable, value in EXPECTED[name].items():
        expected = torch.tensor([value], dtype=torch.float64)
        torch.testing.assert_close(eager.outputs[-1][variable], expected, rtol=1e-7, atol=1e-10)
    compile_model(DATA / f"{name}.i", "model", tmp_path, backend="native")
    compiled = run_driver(tmp_path / "model_aoti.i", "driver").history
    for here, there in zip(eager.outputs[1:], compiled.outputs[1:], strict=True):
        for variable, value in here.items():
            torch.testing.assert_close(there[variable], value, rtol=1e-11, atol=1e-11)
