"""Results by name: what is said of a name that is not there."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import matlaw


@pytest.mark.parametrize("eager", [False, True])
def test_a_name_that_is_not_there(artifact: Callable[[str], Path], models: Path, eager: bool) -> None:
    law = matlaw.load_model(models / "j2_viscoplastic.i" if eager else artifact("j2_viscoplastic-native"), "model")
    shapes = zip(law.input_names, law.input_base_shapes, strict=True)
    inputs = {name: np.full((2, *base), 1.0 if name == "t" else 0.0) for name, base in shapes}
    plain = law.evaluate(inputs)
    with pytest.raises(KeyError, match=r"no output 'sress'; it has .*'stress'"):
        plain.outputs["sress"]
    with pytest.raises(KeyError, match=r"no derivatives here: evaluate\(\.\.\., jacobian=True\)"):
        plain.jacobian["stress"]
    result = law.evaluate(inputs, jacobian=True)
    with pytest.raises(KeyError, match=r"by 'temperature' here, .*'strain'.*matlaw-compile -d stress:temperature"):
        result.jacobian["stress"]["temperature"]
    with pytest.raises(KeyError, match=r"no derivative of 'heat' here, .*'stress'"):
        result.jacobian["heat"]
    # They are dicts in every other way.
    assert result.outputs.get("sress") is None
    assert isinstance(result.outputs, dict)
    for again in (copy.deepcopy(result), pickle.loads(pickle.dumps(result))):
        np.testing.assert_array_equal(again.outputs["stress"], result.outputs["stress"])
