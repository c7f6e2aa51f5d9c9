"""A compiled law that does not fit this machine is run from its source; a damaged one is not."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import artifacts
import numpy as np
import pytest

import matlaw
from matlaw import FatalError
from matlaw.runtime import CompiledModel


@pytest.fixture
def place(artifact, tmp_path) -> Path:
    return Path(shutil.copytree(artifact("j2_viscoplastic-parameters"), tmp_path / "copy"))


def edit(place: Path, **changes) -> None:
    """Change the metadata and seal it again, as a compiler would have written it."""
    path = place / "model" / "metadata.json"
    zeros = "0" * 64
    text = json.dumps(json.loads(path.read_text()) | changes | {"metadata_sha256": zeros})
    path.write_text(text.replace(zeros, hashlib.sha256(text.encode()).hexdigest()))


def step(law) -> dict[str, np.ndarray]:
    shapes = zip(law.input_names, law.input_base_shapes, strict=True)
    inputs = {name: np.zeros((4, *shape)) for name, shape in shapes}
    inputs["strain"] = 2e-3 * np.sin(np.arange(24.0)).reshape(4, 6)
    inputs["t"] = np.full(4, 0.5)
    return inputs


def test_a_foreign_artifact_is_run_eagerly_and_that_is_said_once(place, capfd):
    fitting = matlaw.load_model(place / "model_aoti.i", "model")
    assert isinstance(fitting, CompiledModel)
    assert capfd.readouterr().err == ""
    edit(place, torch_version="2.12.1")
    law = matlaw.load_model(place / "model_aoti.i", "model")
    assert isinstance(law, matlaw.EagerModel)
    said = capfd.readouterr().err
    assert "torch 2.12.1" in said
    assert said.count("\n") == 1
    matlaw.load_model(place / "model_aoti.i", "model")
    assert capfd.readouterr().err == ""

    assert law.input_names == fitting.input_names
    assert law.derivative_pairs == fitting.derivative_pairs
    assert law.state_pairs == fitting.state_pairs
    assert list(law.named_parameters()) == list(fitting.named_parameters())
    for changed in (False, True):
        if changed:
            for each in (law, fitting):
                each.set_parameter("update.system.elasticity.E", 1.5e5)
        one, other = law.evaluate(step(law), jacobian=True), fitting.evaluate(step(law), jacobian=True)
        assert one.jacobian.keys() == other.jacobian.keys()
        np.testing.assert_allclose(one.outputs["stress"], other.outputs["stress"], rtol=1e-10, atol=1e-8)
        np.testing.assert_allclose(
            one.jacobian["stress"]["strain"], other.jacobian["stress"]["strain"], rtol=1e-9, atol=1e-4
        )
        np.testing.assert_array_equal(one.iterations, other.iterations)


def test_a_fixed_parameter_stays_fixed(place):
    law = matlaw.load_model(place / "model_aoti.i", "model", runtime="eager")
    with pytest.raises(FatalError, match=r"nu' was not promoted"):
        law.set_parameter("update.system.elasticity.nu", 0.2)


def test_the_fallback_can_be_refused(place, capfd):
    edit(place, torch_version="2.12.1")
    for options in ({"fallback": "none"}, {"runtime": "aoti"}):
        with pytest.raises(FatalError, match=r"compiled with torch 2\.12\.1"):
            matlaw.load_model(place / "model_aoti.i", "model", **options)
    with pytest.raises(FatalError, match="fallback must be one of eager, none; got 'yes'"):
        matlaw.load_model(place / "model_aoti.i", "model", fallback="yes")
    assert capfd.readouterr().err == ""


def test_renamed_variables_keep_their_new_names(place):
    names = {"strain": "eps"}, {"stress": "sig"}, {"update.system.elasticity.E": "young"}
    edit(
        place,
        torch_version="2.12.1",
        boundary_aliases=dict(zip(("inputs", "outputs", "parameters"), names, strict=True)),
    )
    law = matlaw.load_model(place / "model")
    assert "eps" in law.input_names
    assert "sig" in law.output_names
    assert law.derivative_pairs == [("sig", "eps")]
    assert "young" in law.named_parameters()
    shapes = zip(law.input_names, law.input_base_shapes, strict=True)
    inputs = {name: np.zeros((1, *shape)) for name, shape in shapes} | {"t": np.ones(1)}
    inputs["eps"][0, 5] = np.sqrt(2) * 1e-5
    outputs, blocks = law.jacobian(inputs)
    np.testing.assert_allclose(outputs["sig"], np.einsum("bij,bj->bi", blocks["sig"]["eps"], inputs["eps"]))
    law.set_parameter("young", 2 * law.named_parameters()["young"])
    np.testing.assert_allclose(law.forward(inputs)["sig"], 2 * outputs["sig"])
    assert "young" in law.param_jacobian(inputs)["sig"]
    with pytest.raises(matlaw.InputError, match="'eps'") as raised:
        law.forward(inputs | {"eps": np.full((1, 6), np.nan)})
    assert raised.value.variable == "eps"


@pytest.mark.parametrize("runtime", ["auto", "eager"])
def test_edited_source_is_never_run(place, runtime):
    edit(place, torch_version="2.12.1")
    path = place / "model" / "metadata.json"
    path.write_text(path.read_text().replace("200000", "100000"))
    with pytest.raises(FatalError, match="edited"):
        matlaw.load_model(place / "model_aoti.i", "model", runtime=runtime)


def test_source_that_refers_to_what_is_not_here_says_so(place):
    source = {"file": "law.i", "text": "[Models]\n  [model]\n    type = NotInstalled\n  []\n[]\n"}
    source["sha256"] = hashlib.sha256(source["text"].encode()).hexdigest()
    edit(place, torch_version="2.12.1", source=source)
    with pytest.raises(FatalError, match=r"torch 2\.12\.1.*law\.i:2.*NotInstalled"):
        matlaw.load_model(place / "model_aoti.i", "model")


def test_batch_ndim_of_a_law_that_is_run_from_its_source(place):
    edit(place, boundary_aliases={"inputs": {"strain": "eps"}})
    law = matlaw.load_model(place / "model", runtime="eager")
    inputs = step(matlaw.load_model(artifacts.MODELS / "j2_viscoplastic.i", "model"))
    inputs["eps"] = inputs.pop("strain")
    expected = law.forward(inputs)
    grains = inputs | {"eps": inputs["eps"].reshape(2, 2, 6), "t": inputs["t"][:2]}
    # The grains have a history of their own each.
    grains |= {name: value.reshape(2, 2, *value.shape[1:]) for name, value in inputs.items() if name.endswith("~1")}
    grains["t~1"] = grains["t~1"][:, 0]
    outputs = law.forward(grains, batch_ndim=1)
    np.testing.assert_allclose(outputs["stress"].reshape(4, 6), expected["stress"], rtol=1e-12)
    _, blocks = law.jacobian(grains, batch_ndim=1)
    assert blocks == {}, "the only derivative of the artifact is by an input that has a sub-batch axis now"
