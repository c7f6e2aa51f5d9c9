"""The model type TorchModule: variables to tensors and back, weights, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from matlaw.errors import FatalError, InputFileError
from matlaw.input.extensions import load_extensions
from matlaw.input.input_file import InputFile
from matlaw.models import Model
from matlaw.tensors import SR2, Scalar

MODULES = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(7, 7)
        self.norm = nn.BatchNorm1d(7)
    def forward(self, x):
        return torch.tanh(self.norm(self.layer(x)))

class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.factor = nn.Parameter(torch.tensor(3.0))
    def forward(self, strain, t):
        return self.factor * strain, t * strain.sum(-1)

class Wide(nn.Module):
    def forward(self, x):
        return torch.cat([x, x], -1)

class Broken(nn.Module):
    def __init__(self):
        raise OSError("no licence")

not_a_module = dict
"""

LAW = """
[Models]
  [net]
    type = TorchModule
    module = 'modules.py:{name}'
    inputs = 'strain t'
    input_types = 'SR2 Scalar'
    outputs = 'stress energy'
    output_types = 'SR2 Scalar'
    {more}
  []
[]
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "modules.py").write_text(MODULES)
    load_extensions(tmp_path / "modules.py")
    return tmp_path


def model_of(place: Path, name: str = "Net", more: str = "") -> Model:
    (place / "law.i").write_text(LAW.format(name=name, more=more))
    return InputFile(place / "law.i", ()).model("net")


def example(rows: int = 5) -> dict:
    generator = torch.Generator().manual_seed(4)
    return {
        "strain": SR2(torch.rand(6, rows, dtype=torch.float64, generator=generator)),
        "t": Scalar(torch.rand(rows, dtype=torch.float64, generator=generator)),
    }


def test_joined_components(place: Path) -> None:
    model = model_of(place)
    values = example()
    found = model.evaluate(values)
    joined = torch.cat([values["strain"].data, values["t"].data.unsqueeze(0)]).T
    expected = model.module.double()(joined).T  # type: ignore[attr-defined]
    torch.testing.assert_close(found["stress"].data, expected[:6])
    torch.testing.assert_close(found["energy"].data, expected[6])


def test_separate_tensors(place: Path) -> None:
    values = example()
    found = model_of(place, "Pair", "arguments = 'separate'").evaluate(values)
    torch.testing.assert_close(found["stress"].data, 3.0 * values["strain"].data)
    torch.testing.assert_close(found["energy"].data, values["t"].data * values["strain"].data.sum(0))


def test_weights_are_parameters(place: Path) -> None:
    model = model_of(place)
    assert list(model.named_parameters()) == [
        "net.layer.weight",
        "net.layer.bias",
        "net.norm.weight",
        "net.norm.bias",
        "net.norm.running_mean",
        "net.norm.running_var",
    ]
    values = example()
    zero = {"net.layer.weight": model.named_parameters()["net.layer.weight"].map(torch.zeros_like)}
    moved = model.evaluate(values, zero)["stress"].data
    assert torch.equal(moved, moved[:, :1].expand_as(moved))  # the bias alone is left


def test_the_constructor_gives_the_same_every_time(place: Path) -> None:
    first, second = (model_of(place).named_parameters()["net.layer.weight"].data for _ in range(2))
    assert torch.equal(first, second)


@pytest.mark.parametrize("file", ["w.safetensors", "w.pt"])
def test_weights_of_a_file(place: Path, file: str) -> None:
    module = model_of(place).module  # type: ignore[attr-defined]
    state = {name: 0.5 * x if x.is_floating_point() else x for name, x in module.state_dict().items()}
    save_file(state, place / file) if file.endswith("safetensors") else torch.save(state, place / file)
    found = model_of(place, more=f"weights = '{file}'").named_parameters()["net.layer.weight"]
    assert torch.equal(found.data.squeeze(-1), state["layer.weight"].double())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda s: s.pop("layer.bias"), ["'layer.bias'", "missing"]),
        (lambda s: s.update(other=torch.ones(2)), ["no weight 'other'"]),
        (lambda s: s.update({"layer.bias": torch.ones(3)}), ["'layer.bias'", "(3,)", "(7,)"]),
        (lambda s: s.update({"layer.bias": torch.full((7,), torch.nan)}), ["'layer.bias'", "finite"]),
    ],
)
def test_files_that_do_not_fit(place: Path, change, words: list[str]) -> None:
    state = model_of(place).module.state_dict()  # type: ignore[attr-defined]
    change(state)
    save_file(state, place / "w.safetensors")
    with pytest.raises(InputFileError) as raised:
        model_of(place, more="weights = 'w.safetensors'")
    assert all(word in str(raised.value) for word in [*words, "law.i", "w.safetensors"])


def test_a_truncated_file(place: Path) -> None:
    save_file(model_of(place).module.state_dict(), place / "w.safetensors")  # type: ignore[attr-defined]
    whole = (place / "w.safetensors").read_bytes()
    (place / "w.safetensors").write_bytes(whole[:-8])
    with pytest.raises(InputFileError, match="complete safetensors file"):
        model_of(place, more="weights = 'w.safetensors'")


def test_an_input_file_alone_runs_no_code(tmp_path: Path) -> None:
    (tmp_path / "unknown_modules.py").write_text("raise SystemExit('it was run')")
    (tmp_path / "law.i").write_text(LAW.format(name="Net", more="").replace("modules.py", "unknown_modules.py"))
    with pytest.raises(InputFileError, match=r"--load unknown_modules\.py"):
        InputFile(tmp_path / "law.i", ()).model("net")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Wide", ["(1, 14)", "7 components"]),
        ("Broken", ["Broken() failed", "no licence"]),
        ("not_a_module", ["not a torch.nn.Module"]),
        ("Nett", ["Nett", "Net"]),
    ],
)
def test_modules_that_do_not_fit(place: Path, name: str, words: list[str]) -> None:
    with pytest.raises(InputFileError) as raised:
        model_of(place, name)
    assert all(word in str(raised.value) for word in words), str(raised.value)


def test_types_that_do_not_fit(place: Path) -> None:
    with pytest.raises(InputFileError, match="SR3"):
        (place / "law.i").write_text(LAW.format(name="Net", more="").replace("SR2 Scalar", "SR3 Scalar", 1))
        InputFile(place / "law.i", ()).model("net")


def test_sub_batch_axes_go_through(place: Path) -> None:
    model = model_of(place, "Pair", "arguments = 'separate'")
    values = example()
    grains = SR2(torch.rand(6, 3, 5, dtype=torch.float64), 1)
    found = model.evaluate({"strain": grains, "t": values["t"]})
    assert found["stress"].sub_batch_shape == (3,)
    torch.testing.assert_close(found["stress"].data, 3.0 * grains.data)
    torch.testing.assert_close(found["energy"].data, values["t"].data * grains.data.sum(0))


def test_no_weight_has_a_value_for_each_row(place: Path) -> None:
    model = model_of(place, "Pair", "arguments = 'separate'")
    with pytest.raises(FatalError, match=r"weight 'factor' has one value for each row"):
        model.evaluate(example(), {"net.factor": Scalar(torch.ones(5, dtype=torch.float64))})


def test_nn_is_not_changed_by_a_law(place: Path) -> None:
    model = model_of(place)
    assert isinstance(model.module, nn.Module)  # type: ignore[attr-defined]
    assert not model.module.training  # type: ignore[attr-defined]
