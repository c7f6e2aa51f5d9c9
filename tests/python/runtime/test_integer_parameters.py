"""Parameters of a type of integers are integers for callers: in metadata, and where they are set and reported."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import matlaw
from matlaw import FatalError
from matlaw.artifact import compile_model
from matlaw.artifact.metadata import sealed
from matlaw.cli.inspect import main
from matlaw.dispatch import DeviceConfig, StaticHybridScheduler
from matlaw.dispatch import load_model as load_dispatched
from matlaw.host import QuadratureBatch
from matlaw.replay import read_replay_file
from matlaw.replay.compiled import compiled_verdict
from matlaw.replay.law import replayed_law

EXTENSION = """
from matlaw.models import Input, Leaf, Output, Parameter, register
from matlaw.tensors import SR2, MillerIndex


@register("PlaneStiffnessForTest")
class PlaneStiffnessForTest(Leaf):
    strain = Input(SR2, doc="the strain")
    stress = Output(SR2, doc="the strain times h + 10 k + 100 l")
    plane = Parameter(MillerIndex, doc="h, k and l")

    def forward(self, strain, plane):
        h, k, l = plane.data
        return SR2(strain.data * (h + 10.0 * k + 100.0 * l))
"""
LAW = """
[Tensors]
  [indices]
    type = Python
    expr = 'MillerIndex([1, 2, {last}])'
  []
[]
[Models]
  [plane]
    type = MillerIndexConstantParameter
    value = 'indices'
  []
  [model]
    type = PlaneStiffnessForTest
    plane = 'plane'
  []
  [whole]
    type = ComposedModel
    models = 'plane model'
  []
[]
"""
NAME = "plane.value"
INDICES = [1, 2, 3]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("integers")
    (place / "plane.py").write_text(EXTENSION)
    (place / "law.i").write_text(LAW.format(last=3))
    compile_model(
        place / "law.i", "whole", place / "aoti", ["stress:strain", f"stress:{NAME}"], backend="native",
        parameters=[NAME], extensions=[str(place / "plane.py")], dtype=("float64", "float32"),
    )  # fmt: skip
    return place


def metadata(place: Path) -> dict[str, Any]:
    return json.loads((place / "aoti/whole/metadata.json").read_text())


def loaded(place: Path, kind: str) -> Any:
    extensions = [str(place / "plane.py")]
    if kind == "eager":
        return matlaw.load_model(place / "law.i", "whole", runtime="eager", extensions=extensions)
    if kind == "source":
        return matlaw.load_model(place / "aoti", "whole", runtime="eager", extensions=extensions)
    if kind == "dispatched":
        workers = StaticHybridScheduler([DeviceConfig("cpu", 2)] * 2, several_cpus=True)
        return load_dispatched(place / "aoti/whole", "whole", workers)
    return matlaw.load_model(place / "aoti", "whole", dtype=kind)


@pytest.fixture(params=["float64", "float32", "dispatched", "source", "eager"])
def law(request: pytest.FixtureRequest, place: Path) -> Any:
    return loaded(place, request.param)


def strain(law: Any, rows: int = 5) -> np.ndarray:
    dtype = np.float32 if law.dtype == torch.float32 else np.float64
    return np.arange(1.0, 6 * rows + 1, dtype=dtype).reshape(rows, 6)


def factor(law: Any) -> np.ndarray:
    """What the law multiplies strains with, by row."""
    e = strain(law)
    return (law.forward({"strain": e})["stress"] / e)[:, 0]


def test_metadata_has_their_dtype(place: Path) -> None:
    [entry] = metadata(place)["parameters"]
    assert (entry["type"], entry["dtype"], entry["value"]) == ("MillerIndex", "int64", INDICES)
    assert all(type(value) is int for value in entry["value"])


@pytest.mark.parametrize("kind", ["artifact", "input file"])
def test_inspect_shows_them_as_integers(place: Path, capsys: pytest.CaptureFixture[str], kind: str) -> None:
    about = [str(place / "aoti/whole")] if kind == "artifact" else [str(place / "law.i"), "whole"]
    assert main([*about, "--json"]) == 0
    [entry] = json.loads(capsys.readouterr().out)["parameters"]
    assert entry["dtype"] == "int64"
    assert repr(entry["value"]) == "[1, 2, 3]"
    assert main(about) == 0
    assert "plane.value  MillerIndex (int64)  1 2 3" in capsys.readouterr().out


def test_they_are_reported_as_int64(law: Any) -> None:
    assert law.named_parameters()[NAME].dtype == torch.int64
    assert law.named_parameters()[NAME].tolist() == INDICES
    np.testing.assert_allclose(factor(law), 321.0, rtol=1e-6)


@pytest.mark.parametrize(
    "value",
    [[4, -5, 6], np.array([4, -5, 6], dtype=np.int8), torch.tensor([4, -5, 6], dtype=torch.int32)],
    ids=["list", "array", "tensor"],
)
def test_integers_of_any_width_are_taken(law: Any, value: Any) -> None:
    law.set_parameter(NAME, value)
    assert law.named_parameters()[NAME].dtype == torch.int64
    assert law.named_parameters()[NAME].tolist() == [4, -5, 6]
    np.testing.assert_allclose(factor(law), 554.0, rtol=1e-6)


def test_one_value_per_row(law: Any) -> None:
    law.set_parameter(NAME, np.arange(15).reshape(5, 3))
    np.testing.assert_allclose(factor(law), 333.0 * np.arange(5) + 210.0, rtol=1e-6)
    assert law.named_parameters()[NAME].shape == (5, 3)


@pytest.mark.parametrize(
    "value", [[1.0, 0.0, 0.0], np.zeros(3), torch.zeros(3, dtype=torch.float64), torch.zeros(3, dtype=torch.bool)],
    ids=["list", "array", "tensor", "bool"],
)  # fmt: skip
def test_other_numbers_are_refused_by_name(law: Any, value: Any) -> None:
    with pytest.raises(FatalError, match=r"'plane\.value': expected (integers|.*int64)"):
        law.set_parameter(NAME, value)
    assert law.named_parameters()[NAME].tolist() == INDICES


def test_a_host_in_cpp_hears_the_same(place: Path) -> None:
    """Past the checks of the Python classes."""
    law = loaded(place, "float64")
    for value in (torch.zeros(3, dtype=torch.float64), torch.zeros(3, dtype=torch.bool)):
        with pytest.raises(FatalError, match=r"'plane\.value' has dtype \w+, expected Long: its values are integers"):
            law._handle.set_parameter(NAME, value)


def test_derivatives_by_them_are_floating(law: Any) -> None:
    e = strain(law)
    block = law.param_jacobian({"strain": e})["stress"][NAME]
    np.testing.assert_allclose(block, e[:, :, None] * np.array([1.0, 10.0, 100.0]), rtol=1e-6)
    gradient = law.param_vjp({"strain": e}, {"stress": np.ones_like(e)})[NAME]
    assert gradient.dtype == e.dtype
    np.testing.assert_allclose(gradient, e.sum() * np.array([1.0, 10.0, 100.0]), rtol=1e-6)


@pytest.mark.parametrize("kind", ["float64", "float32", "eager"])
def test_hosts_give_whole_numbers(place: Path, kind: str) -> None:
    law = loaded(place, kind)
    batch = QuadratureBatch(law, 5)
    batch.set_input("strain", np.ones((5, 6)))
    batch.set_parameter(NAME, [4.0, -5.0, 6.0])
    batch.evaluate()
    np.testing.assert_allclose(batch.output("stress"), 554.0, rtol=1e-6)
    batch.set_parameter(NAME, np.arange(15.0).reshape(5, 3))
    batch.evaluate()
    np.testing.assert_allclose(batch.output("stress")[:, 0], 333.0 * np.arange(5) + 210.0, rtol=1e-6)
    for value in (0.5, np.inf, np.nan):
        with pytest.raises(FatalError, match=r"'plane\.value' have to be integers"):
            batch.set_parameter(NAME, [1.0, 2.0, value])
    assert law.named_parameters()[NAME].tolist() == INDICES


@pytest.mark.parametrize("kind", ["float64", "eager"])
def test_a_failing_call_is_replayed_with_them(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setenv("MATLAW_FAILURE_DIR", str(tmp_path))
    law = loaded(place, kind)
    law.set_parameter(NAME, [7, 8, 9])
    e = strain(law)
    e[3, 0] = np.nan
    assert law.evaluate({"strain": e}).failed_rows == [3]
    file = read_replay_file(next(tmp_path.iterdir()))
    again = replayed_law(file, [str(place / "plane.py")])
    assert again.named_parameters()[NAME].tolist() == [7, 8, 9]
    if kind == "float64":
        assert compiled_verdict(file, file.rows[0])["status"] == "BAD_INPUT"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dtype": "int32"}, r"dtype.*is 'int32'; this runtime knows 'int64'"),
        ({"value": [1, 2, 2.5]}, r"value.*must have integers"),
    ],
)
def test_another_dtype_in_the_metadata_is_refused(
    place: Path, tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(FatalError, match=message):
        matlaw.load_model(changed(place, tmp_path, change), "whole", runtime="aoti")


def test_metadata_without_a_dtype_means_floating(place: Path, tmp_path: Path) -> None:
    """An artifact from before integers had one."""
    artifact = changed(place, tmp_path, {"dtype": None})
    for runtime in ("aoti", "eager"):
        law = matlaw.load_model(artifact, "whole", runtime=runtime, extensions=[str(place / "plane.py")])
        assert law.named_parameters()[NAME].dtype == torch.float64
        law.set_parameter(NAME, [4.0, 5.0, 6.5])
        np.testing.assert_allclose(factor(law), 704.0)


def changed(place: Path, tmp_path: Path, change: dict[str, Any]) -> Path:
    """A copy of the artifact with another entry of the parameter; what is None is left out."""
    shutil.copytree(place / "aoti/whole", tmp_path / "whole")
    said = metadata(place)
    entry = {**said["parameters"][0], **change}
    said["parameters"] = [{key: value for key, value in entry.items() if value is not None}]
    del said["metadata_sha256"]
    (tmp_path / "whole/metadata.json").write_text(sealed(said))
    return tmp_path / "whole"


def test_other_numbers_in_the_input_file_make_it_floating(place: Path, tmp_path: Path) -> None:
    (tmp_path / "law.i").write_text(LAW.format(last=0.5))
    extensions = [str(place / "plane.py")]
    compile_model(
        tmp_path / "law.i", "whole", tmp_path / "aoti", backend="native", parameters=[NAME], extensions=extensions,
    )  # fmt: skip
    assert "dtype" not in metadata(tmp_path)["parameters"][0]
    compiled = matlaw.load_model(tmp_path / "aoti", "whole")
    eager = matlaw.load_model(tmp_path / "law.i", "whole", runtime="eager", extensions=extensions)
    for law in (compiled, eager):
        assert law.named_parameters()[NAME].tolist() == [1.0, 2.0, 0.5]
        law.set_parameter(NAME, [1.0, 2.0, 3.0])
        assert law.named_parameters()[NAME].dtype == torch.float64
