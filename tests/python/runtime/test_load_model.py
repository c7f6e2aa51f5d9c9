"""load_model: what is loaded for which path, and what is said when that fails."""

from __future__ import annotations

import os
import shutil

import numpy as np
import pytest

import matlaw
from matlaw import FatalError
from matlaw.dispatch import SimpleScheduler
from matlaw.dispatch import load_model as load_dispatched
from matlaw.runtime import CompiledModel
from matlaw.runtime.load import is_compiled

ELASTIC = "linear_elastic-native"


@pytest.fixture
def place(artifact):
    return artifact(ELASTIC)


def stress(law) -> np.ndarray:
    return law.forward({"strain": np.full((2, 6), 1e-3)})["stress"]


def test_stub_folder_and_metadata_give_the_compiled_law(place):
    laws = [
        matlaw.load_model(place / "model_aoti.i", "model"),
        matlaw.load_model(place / "model"),
        matlaw.load_model(str(place / "model" / "metadata.json"), "model"),
    ]
    for law in laws:
        assert isinstance(law, CompiledModel)
        assert law.name == "model"
        np.testing.assert_array_equal(stress(law), stress(laws[0]))


def test_the_output_folder_gives_the_artifact_in_it(place, tmp_path):
    for name in ("", "model"):
        law = matlaw.load_model(place, name)
        assert isinstance(law, CompiledModel)
        np.testing.assert_array_equal(stress(law), stress(matlaw.load_model(place / "model")))
    with pytest.raises(FatalError, match=r"has no artifact 'modle'; it has 'model'.*Did you mean 'model'"):
        matlaw.load_model(place, "modle")
    for name in ("one", "two"):
        shutil.copytree(place / "model", tmp_path / name)
    with pytest.raises(FatalError, match=r"holds several artifacts .*'one', 'two'.*: give the name of one"):
        matlaw.load_model(tmp_path)


def test_an_input_file_gives_the_eager_law(models):
    law = matlaw.load_model(models / "linear_elastic.i", "model")
    assert isinstance(law, matlaw.EagerModel)
    assert str(law.dtype) == "torch.float64"
    assert str(matlaw.load_model(models / "linear_elastic.i", "model", dtype="float32").dtype) == "torch.float32"


def test_a_stub_and_its_folder_move_together(place, tmp_path):
    shutil.copytree(place / "model", tmp_path / "moved" / "model")
    shutil.copy(place / "model_aoti.i", tmp_path / "moved")
    law = matlaw.load_model(tmp_path / "moved" / "model_aoti.i", "model")
    np.testing.assert_array_equal(stress(law), stress(matlaw.load_model(place / "model")))


DOUBLED = """[Models]
  [double]
    type = SR2LinearCombination
    from = 'stress'
    to = 'twice'
    weights = '2.0'
  []
  [both]
    type = ComposedModel
    models = 'model double'
  []"""


def test_a_stub_may_name_its_folder_by_an_absolute_path(place, tmp_path, monkeypatch):
    """For both loaders: of compiled laws, and of input files with a compiled law in them."""
    stub = tmp_path / "elsewhere" / "edited.i"
    stub.parent.mkdir()
    text = (place / "model_aoti.i").read_text().replace("[Models]", DOUBLED)
    assert "artifact_path = 'model'" in text
    stub.write_text(text)
    with pytest.raises(FatalError, match=r"elsewhere/model"):
        matlaw.load_model(stub, "model")
    stub.write_text(text.replace("artifact_path = 'model'", f"artifact_path = '{(place / 'model').absolute()}'"))
    expected = stress(matlaw.load_model(place / "model"))
    monkeypatch.chdir(tmp_path)
    for path in (stub, "elsewhere/edited.i"):
        law = matlaw.load_model(path, "model")
        assert isinstance(law, CompiledModel)
        np.testing.assert_array_equal(stress(law), expected)
    both = matlaw.load_model(stub, "both", runtime="eager")
    np.testing.assert_allclose(both.forward({"strain": np.full((2, 6), 1e-3)})["twice"], 2 * expected, rtol=1e-14)


def test_the_runtime_can_be_insisted_on(place, models):
    assert isinstance(matlaw.load_model(place / "model_aoti.i", "model", runtime="aoti"), CompiledModel)
    assert isinstance(matlaw.load_model(models / "linear_elastic.i", "model", runtime="eager"), matlaw.EagerModel)
    with pytest.raises(FatalError, match=r"linear_elastic\.i"):
        matlaw.load_model(models / "linear_elastic.i", "model", runtime="aoti")


def test_other_models_of_a_stub(place, tmp_path):
    shutil.copytree(place / "model", tmp_path / "model")
    text = (place / "model_aoti.i").read_text()
    stub = tmp_path / "model_aoti.i"
    rate = "[Models]\n  [rate]\n    type = SR2VariableRate\n    variable = 'strain'\n  []"
    stub.write_text(text.replace("[Models]", rate))
    with pytest.raises(FatalError, match=r"no model 'modle'; 'model' is compiled there\. Did you mean 'model'\?"):
        matlaw.load_model(stub, "modle")
    with pytest.raises(FatalError, match=r"'rate' in .* is not compiled; 'model' is compiled there.*runtime 'eager'"):
        matlaw.load_model(stub, "rate")
    assert isinstance(matlaw.load_model(stub, "rate", runtime="eager"), matlaw.EagerModel)


def test_is_compiled(place, models):
    assert is_compiled(place / "model_aoti.i", "model")
    assert is_compiled(place / "model_aoti.i")
    assert not is_compiled(place / "model_aoti.i", "other")
    assert is_compiled(place / "model")
    assert not is_compiled(models / "linear_elastic.i", "model")


@pytest.mark.parametrize("runtime", ["auto", "aoti", "eager"])
def test_nothing_there(tmp_path, runtime):
    with pytest.raises(FatalError, match=r"no file or folder .*nowhere\.i"):
        matlaw.load_model(tmp_path / "nowhere.i", "model", runtime=runtime)


def test_a_folder_without_an_artifact(tmp_path):
    with pytest.raises(FatalError, match=r"folder without metadata\.json"):
        matlaw.load_model(tmp_path, "model")


def test_a_file_that_is_no_input_file(tmp_path):
    broken = tmp_path / "broken.i"
    broken.write_text("[Models\n  [x]\n")
    with pytest.raises(FatalError, match=r"broken\.i"):
        matlaw.load_model(broken, "model")
    empty = tmp_path / "empty.i"
    empty.write_text("")
    with pytest.raises(FatalError, match=r"model"):
        matlaw.load_model(empty, "model")


def test_an_unknown_model(place, models):
    for path in (place / "model", models / "linear_elastic.i", place / "model_aoti.i"):
        with pytest.raises(FatalError, match="modle"):
            matlaw.load_model(path, "modle")


def test_an_input_file_needs_a_model_name(models):
    with pytest.raises(FatalError, match="name the model"):
        matlaw.load_model(models / "linear_elastic.i")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"runtime": "quick"}, "runtime must be one of auto, aoti, eager; got 'quick'"),
        ({"backend": "gpu"}, "backend must be one of auto, native, inductor; got 'gpu'"),
        ({"dtype": "float16"}, "dtype must be one of float64, float32; got 'float16'"),
        ({"dtype": "float32"}, "float32"),
        ({"backend": "inductor"}, "inductor|pt2"),
        ({"device": "tpu!"}, "tpu!"),
        ({"threads": "2"}, "threads must be a whole number; got '2'"),
        ({"extensions": "mine.py"}, r"extensions must be a list, such as \['mine.py'\]"),
    ],
)
def test_options_that_do_not_fit(place, options, message):
    with pytest.raises(FatalError, match=message):
        matlaw.load_model(place / "model_aoti.i", "model", **options)


@pytest.mark.parametrize(
    ("path", "name", "message"),
    [
        ("law.i", 3, "name must be a string, the name of a model; got 3"),
        (3, "model", "path must be a string or a path"),
    ],
)
def test_a_path_or_name_of_another_type(path, name, message):
    with pytest.raises(FatalError, match=message):
        matlaw.load_model(path, name)
    with pytest.raises(FatalError, match=message):
        load_dispatched(path, name, SimpleScheduler("cpu"))


@pytest.mark.parametrize("where", ["folder", "file"])
def test_metadata_that_is_a_pipe_is_not_waited_for(place, tmp_path, where):
    folder = tmp_path / "model"
    shutil.copytree(place / "model", folder)
    pipe = folder / "metadata.json"
    pipe.unlink()
    os.mkfifo(pipe)
    with pytest.raises(FatalError, match=r"metadata\.json'?:? is neither|metadata\.json': it is no regular file"):
        matlaw.load_model(folder if where == "folder" else pipe)


def test_an_empty_path_is_not_the_current_folder(place, monkeypatch):
    monkeypatch.chdir(place)
    with pytest.raises(FatalError, match="the path is empty"):
        matlaw.load_model("", "model")


def test_a_damaged_artifact_is_refused(place, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(place / "model", folder)
    kernel = next(folder.rglob("*.so"))
    kernel.write_bytes(kernel.read_bytes()[:-10])
    with pytest.raises(FatalError, match=kernel.name.replace(".", r"\.")):
        matlaw.load_model(folder)
    metadata = folder / "metadata.json"
    metadata.write_text(metadata.read_text().replace("200000", "100000"))
    with pytest.raises(FatalError, match=r"metadata\.json"):
        matlaw.load_model(folder)


def test_extensions_add_types(tmp_path):
    (tmp_path / "tripling.py").write_text(
        "from matlaw.models import Input, Leaf, Output, register\n"
        "from matlaw.tensors import Scalar\n"
        "@register('TriplingForTest')\n"
        "class TriplingForTest(Leaf):\n"
        "    a = Input(Scalar, doc='the number')\n"
        "    b = Output(Scalar, doc='three times the number')\n"
        "    def forward(self, a):\n"
        "        return 3.0 * a\n"
    )
    (tmp_path / "law.i").write_text("[Models]\n  [model]\n    type = TriplingForTest\n  []\n[]\n")
    with pytest.raises(FatalError, match="TriplingForTest"):
        matlaw.load_model(tmp_path / "law.i", "model")
    law = matlaw.load_model(tmp_path / "law.i", "model", extensions=[str(tmp_path / "tripling.py")])
    assert law.forward({"a": 1.5})["b"] == 4.5
