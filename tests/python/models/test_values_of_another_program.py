"""Every model against another program: names, types and values.

Expected values: neml2 3.1.0 with torch 2.12.1, float64, one model at a time on two rows of arbitrary inputs.
"""

import pytest
import torch
from recorded_models import NAMES, RECORDS, build, typed

from matlaw.models import registered

#: Types whose values there are none to compare with: what composes or solves models, and where the programs differ.
ELSEWHERE = {
    "AOTIModel",
    "ComposedModel",
    "ImplicitUpdate",
    "TorchModule",  # of this program alone
    # The exponential map of the other program is not the tangent of a quarter of the angle; see test_rotations.py.
    "WR2ExplicitExponentialTimeIntegration",
    "WR2ImplicitExponentialTimeIntegration",
}


@pytest.mark.parametrize("record", RECORDS, ids=NAMES)
def test_values(record, write):
    model = build(record, write)
    assert {k: v.type.__name__ for k, v in model.inputs.items()} == {k: v["type"] for k, v in record["inputs"].items()}
    assert [(k, v.type.__name__) for k, v in model.outputs.items()] == [
        (k, v["type"]) for k, v in record["outputs"].items()
    ]
    found = model.evaluate(typed(record["inputs"]))
    for name, expected in typed(record["outputs"]).items():
        data = found[name].data.expand(expected.data.shape)
        scale = expected.data.abs().max().item()
        torch.testing.assert_close(data, expected.data, rtol=1e-10, atol=1e-12 * max(scale, 1e-10))


def test_every_model_has_a_record():
    types = {name for name, cls in registered("Models").items() if cls.__module__.startswith("matlaw.models.")}
    recorded = {line.split("=")[1].strip() for r in RECORDS for line in r["text"].splitlines() if " type = " in line}
    assert types - recorded == ELSEWHERE
