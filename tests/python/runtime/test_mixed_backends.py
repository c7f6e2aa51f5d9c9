"""A law of which one segment has no native form: its graphs are Inductor's, the others native, in one artifact."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matlaw
from matlaw.artifact import CompileReport, compile_model

EXTENSION = """
import torch
from matlaw.models import Input, Leaf, Output, register
from matlaw.tensors import Scalar


@register("ErrorFunctionForTest")
class ErrorFunctionForTest(Leaf):
    a = Input(Scalar, doc="the argument")
    b = Output(Scalar, doc="its error function")

    def forward(self, a):
        return Scalar(torch.erf(50.0 * a.data))
"""
BLOCK = """[Models]
  [damage]
    type = ErrorFunctionForTest
    a = 'equivalent_plastic_strain'
    b = 'damage'
  []
[]
"""


@pytest.fixture(scope="module")
def mixed(models: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, CompileReport]:
    folder = tmp_path_factory.mktemp("mixed")
    extension, law = folder / "error_function.py", folder / "law.i"
    extension.write_text(EXTENSION)
    text = (models / "radial_return.i").read_text()
    assert "elastic_strain elasticity'" in text
    law.write_text(text.replace("elastic_strain elasticity'", "elastic_strain elasticity damage'") + BLOCK)
    report = compile_model(
        law, "model", folder / "aoti", backend="both", jobs=2, verify="none",
        extensions=[str(extension)],
    )  # fmt: skip
    return folder / "aoti", extension, report


def inputs_of(law: Any, rows: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(8)
    values = {n: np.zeros((rows, *base)) for n, base in zip(law.input_names, law.input_base_shapes, strict=True)}
    strain = rng.normal(size=(rows, 6)) * 10 ** rng.uniform(-4, -2, size=(rows, 1))
    return values | {"strain": strain, "t": np.ones(rows)}


def test_the_segment_without_a_native_form_is_left_to_inductor(mixed: tuple[Path, Path, CompileReport]) -> None:
    place, _, report = mixed
    assert report.left_to_inductor
    assert all("erf" in operation for operation in report.left_to_inductor.values())
    assert matlaw.load_model(place, "model").backend == "native+inductor"


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("rows", [1, 7, 1030])
def test_values_are_those_of_eager(mixed: tuple[Path, Path, CompileReport], rows: int, threads: int) -> None:
    place, extension, _ = mixed
    law = matlaw.load_model(place, "model", threads=threads)
    eager = matlaw.load_model(place, "model", runtime="eager", extensions=[str(extension)])
    inputs = inputs_of(law, rows)
    result, expected = law.evaluate(inputs), eager.evaluate(inputs)
    assert result.ok
    for name, value in expected.outputs.items():
        np.testing.assert_allclose(result.outputs[name], value, rtol=1e-9, atol=1e-12 * np.abs(value).max())


def test_a_bad_row_is_the_only_one(mixed: tuple[Path, Path, CompileReport]) -> None:
    law = matlaw.load_model(mixed[0], "model")
    inputs = inputs_of(law, 40)
    good = law.evaluate(inputs)
    inputs["strain"] = inputs["strain"].copy()
    inputs["strain"][13, 2] = np.nan
    result = law.evaluate(inputs)
    assert result.failed_rows == [13]
    others = np.arange(40) != 13
    np.testing.assert_array_equal(result.outputs["damage"][others], good.outputs["damage"][others])


ONE_SEGMENT = """[Models]
  [elasticity]
    type = LinearIsotropicElasticity
    coefficients = '200 0.3'
    coefficient_types = 'YOUNGS_MODULUS POISSONS_RATIO'
    strain = 'strain'
    stress = 'stress'
  []
  [damage]
    type = ErrorFunctionForTest
    a = 'wear'
    b = 'damage'
  []
  [model]
    type = ComposedModel
    models = 'elasticity damage'
  []
[]
"""


@pytest.mark.inductor
def test_a_constant_block_beside_an_output_without_native_form(
    mixed: tuple[Path, Path, CompileReport], tmp_path: Path
) -> None:
    extension, law = mixed[1], tmp_path / "law.i"
    law.write_text(ONE_SEGMENT)
    report = compile_model(
        law, "model", tmp_path / "aoti", derivatives=[":"], backend="both", extensions=[str(extension)]
    )
    assert report.left_to_inductor.keys() == {"model", "model_jvp"}
    said = json.loads((tmp_path / "aoti/model/metadata.json").read_text())
    flags = {(d["output"], d["input"]): d["batch_independent"] for d in said["derivatives"]}
    expected = {("stress", "strain"), ("stress", "wear"), ("damage", "strain")}
    assert {pair for pair, flag in flags.items() if flag} == expected
    assert said["segments"][0]["graphs"]["jvp"]["pairs"] == said["derivatives"]
    compiled = matlaw.load_model(tmp_path / "aoti", "model")
    rng = np.random.default_rng(2)
    inputs = {"strain": rng.normal(size=(9, 6)), "wear": 0.02 * rng.random(9)}
    found = compiled.evaluate(inputs, jacobian=True)
    shapes = {(o, i): block.shape for o, of in found.jacobian.items() for i, block in of.items()}
    assert shapes == {
        ("stress", "strain"): (6, 6), ("stress", "wear"): (6,), ("damage", "strain"): (6,), ("damage", "wear"): (9,),
    }  # fmt: skip
    eager = matlaw.load_model(law, "model", runtime="eager", extensions=[str(extension)])
    for output, blocks in eager.evaluate(inputs, jacobian=True).jacobian.items():
        for by, block in blocks.items():
            np.testing.assert_allclose(found.jacobian[output][by] + 0.0 * block, block, rtol=1e-9, atol=1e-9)
