"""A law of which one segment has no native form: its graphs are Inductor's, the others native, in one artifact."""

from __future__ import annotations

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
