"""``--external-weights``: what stays outside the compiled code, and that nothing of it is inside."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import matlaw
from matlaw.artifact import compile_model
from matlaw.cli.compile import main
from matlaw.errors import CompileError

MODULES = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(6, width), nn.Softplus(), nn.Linear(width, 6, bias=False))
        self.register_buffer("scale", torch.tensor(1.234567))
    def forward(self, x):
        return self.scale * self.layers(x)

class Wide(Net):
    def __init__(self):
        super().__init__(600)
"""

LAW = """
[Tensors]
  [times]
    type = Python
    expr = 'Scalar(torch.tensor([0.0, 1.0, 2.0, 4.0]), sub_batch_ndim=1)'
  []
  [factors]
    type = Python
    expr = 'Scalar(torch.tensor([1.25, 2.5, 3.75, 7.125]), sub_batch_ndim=1)'
  []
[]
[Models]
  [net]
    type = TorchModule
    module = 'external_modules.py:{name}'
    inputs = 'strain'
    input_types = 'SR2'
    outputs = 'reference'
    output_types = 'SR2'
  []
  [table]
    type = ScalarLinearInterpolation
    argument = 't'
    abscissa = 'times'
    ordinate = 'factors'
    output = 'factor'
  []
  [elastic]
    type = LinearIsotropicElasticity
    strain = 'strain'
    stress = 'other'
    coefficients = '100 0.3'
    coefficient_types = 'YOUNGS_MODULUS POISSONS_RATIO'
  []
  [model]
    type = ComposedModel
    models = 'net table elastic'
  []
[]
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "external_modules.py").write_text(MODULES)
    return tmp_path


def build(place: Path, external: list[str] | None, name: str = "Net", **options: Any) -> Path:
    (place / "law.i").write_text(LAW.format(name=name))
    options = {"backend": "native", "derivatives": ["reference:strain", "factor:t"], **options}
    compile_model(
        place / "law.i",
        "model",
        place / "aoti",
        extensions=[str(place / "external_modules.py")],
        external_weights=external,
        **options,
    )
    return place / "aoti" / "model"


def metadata(artifact: Path) -> dict[str, Any]:
    return json.loads((artifact / "metadata.json").read_text())


def inputs(rows: int = 9) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(8)
    return {
        "strain": torch.rand(rows, 6, dtype=torch.float64, generator=generator) - 0.5,
        "t": 4.0 * torch.rand(rows, dtype=torch.float64, generator=generator),
    }


def test_names_shapes_dtype_and_hash_are_in_the_metadata(place: Path) -> None:
    artifact = build(place, [])
    said = metadata(artifact)
    shapes = {w["name"]: (*w["sub_batch_shape"], *w["base_shape"]) for w in said["weights"]}
    assert shapes["net.layers.0.weight"] == (12, 6)
    assert shapes["net.scale"] == ()
    assert shapes["table.ordinate"] == (4,)
    assert "elastic.E" in shapes
    [(dtype, file)] = said["weight_files"].items()
    data = (artifact / file).read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    assert (dtype, file) == ("float64", f"weights/{digest}.safetensors")
    assert said["files"][file] == {"sha256": digest, "bytes": len(data)}
    held = load_file(artifact / file)
    assert {name: tuple(x.shape) for name, x in held.items()} == shapes
    assert held["table.ordinate"].tolist() == [1.25, 2.5, 3.75, 7.125]
    assert said["segments"][0]["weights"] == [w["name"] for w in said["weights"]]


def test_single_names_and_whole_models(place: Path) -> None:
    names = [w["name"] for w in metadata(build(place, ["table.ordinate", "net"]))["weights"]]
    assert names == ["net.layers.0.weight", "net.layers.0.bias", "net.layers.2.weight", "net.scale", "table.ordinate"]


def test_promoted_parameters_are_none_of_them(place: Path) -> None:
    artifact = build(place, [], parameters=["elastic.E"])
    assert "elastic.E" not in [w["name"] for w in metadata(artifact)["weights"]]
    law = matlaw.load_model(artifact, "model")
    law.set_parameter("elastic.E", 200.0)
    law.update_weights({name: 2.0 * x for name, x in law.weights().items()})
    assert set(law.forward(inputs())) == {"reference", "factor", "other"}


def test_without_the_flag_everything_is_compiled_in(place: Path) -> None:
    artifact = build(place, None)
    assert not (artifact / "weights").exists()
    assert "weights" not in metadata(artifact)
    law = matlaw.load_model(artifact, "model")
    assert law.weight_shapes == {}
    assert law.weights_version == 0
    with pytest.raises(matlaw.FatalError, match="--external-weights"):
        law.update_weights({})


def test_no_number_is_in_the_code_however_small(place: Path) -> None:
    artifact = build(place, [], keep_source=True)
    code = b"".join(file.read_bytes() for file in sorted(artifact.rglob("*.so")))
    source = "".join(file.read_text() for file in sorted(artifact.rglob("*.cpp")))
    for name, values in load_file(artifact / metadata(artifact)["weight_files"]["float64"]).items():
        for value in values.reshape(-1).tolist():
            if value in (0.0, 1.0, 2.0, 4.0, 0.3, 100.0):  # numbers that other code has, too
                continue
            assert np.float64(value).tobytes() not in code, name
            assert float(value).hex() not in source, name


def test_both_laws_are_the_same_function(place: Path) -> None:
    outside = matlaw.load_model(build(place, []), "model").jacobian(inputs())
    inside = matlaw.load_model(build(place, None), "model").jacobian(inputs())
    for name, value in inside[0].items():
        torch.testing.assert_close(outside[0][name], value, rtol=1e-13, atol=1e-14)
    torch.testing.assert_close(
        outside[1]["reference"]["strain"], inside[1]["reference"]["strain"], rtol=1e-12, atol=1e-13
    )


def test_a_table_is_swapped_like_a_network(place: Path) -> None:
    law = matlaw.load_model(build(place, ["table"]), "model")
    at = {"strain": torch.zeros(3, 6, dtype=torch.float64), "t": torch.tensor([0.5, 1.5, 3.0], dtype=torch.float64)}
    torch.testing.assert_close(law.forward(at)["factor"], torch.tensor([1.875, 3.125, 5.4375], dtype=torch.float64))
    new = law.weights() | {"table.ordinate": torch.tensor([0.0, 1.0, 0.0, 8.0], dtype=torch.float64)}
    law.update_weights(new)
    outputs, blocks = law.jacobian(at)
    torch.testing.assert_close(outputs["factor"], torch.tensor([0.5, 0.5, 4.0], dtype=torch.float64))
    torch.testing.assert_close(blocks["factor"]["t"], torch.tensor([1.0, -1.0, 4.0], dtype=torch.float64))


def test_each_dtype_has_a_file(place: Path) -> None:
    artifact = build(place, ["net"], dtype=["float64", "float32"])
    files = metadata(artifact)["weight_files"]
    assert list(files) == ["float64", "float32"]
    assert load_file(artifact / files["float32"])["net.scale"].dtype == torch.float32
    law = matlaw.load_model(artifact, "model", dtype="float32")
    with pytest.raises(matlaw.FatalError, match=r"'net\.layers\.0\.weight' has the dtype float64, expected float32"):
        law.update_weights({name: x.double() for name, x in law.weights().items()})
    law.update_weights({name: 2.0 * x for name, x in law.weights().items()})
    found = law.forward({name: x.float() for name, x in inputs().items()})
    assert found["reference"].dtype == torch.float32


def test_new_weights_alone_need_no_compile(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MATLAW_CACHE_DIR", str(place / "cache"))
    build(place, [])
    held = load_file(place / "aoti" / "model" / next(iter(metadata(place / "aoti" / "model")["weight_files"].values())))
    new = {name.removeprefix("net."): 2.0 * x for name, x in held.items() if name.startswith("net.")}
    matlaw.save_weights(place / "new.safetensors", new)
    report = compile_model(
        place / "law.i", "model", place / "aoti", ["reference:strain", "factor:t"], backend="native",
        external_weights=[], extensions=[str(place / "external_modules.py")],
        overrides=["Models/net/weights:='new.safetensors'"],
    )  # fmt: skip
    assert not report.up_to_date
    assert all(file.cached for file in report.files)


def test_wide_layers_are_left_to_inductor(place: Path) -> None:
    with pytest.raises(CompileError, match=r"(addmm|mm).*600.*Compile with --backend both"):
        build(place, ["net"], name="Wide", derivatives=[])


def test_wrong_names_are_refused(place: Path) -> None:
    for names, words in (
        (["nett"], "'nett'"),
        (["net.layers.9.weight"], "net.layers.9.weight"),
    ):
        with pytest.raises(CompileError, match=words):
            build(place, names)
    with pytest.raises(CompileError, match="-p names it too"):
        build(place, ["elastic.E"], parameters=["elastic.E"])


def test_the_command(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "law.i").write_text(LAW.format(name="Net"))
    common = [str(place / "law.i"), "--model", "model", "--output-dir", str(place / "aoti"), "--backend", "native"]
    load = ["--load", str(place / "external_modules.py")]
    assert main([*common, *load, "--external-weights", "net"]) == 0
    assert "KiB of weights" in capsys.readouterr().out
    assert main([*common, "--external-weights", "net"]) in (0, 2)  # loaded by this process before
    assert main([*common, *load, "--external-weights", "nothing"]) == 2
    assert "--external-weights nothing" in capsys.readouterr().err


def test_inductor_takes_weights_as_arguments(place: Path) -> None:
    artifact = build(place, [], backend="both", derivatives=[])
    native, inductor = (matlaw.load_model(artifact, "model", backend=b) for b in ("native", "inductor"))
    assert (native.backend, inductor.backend) == ("native", "inductor")
    package = (artifact / "cpu" / "float64" / "model.pt2").read_bytes()
    assert np.float64(1.234567).tobytes() not in package
    assert np.float64(np.float32(1.234567)).tobytes() not in package
    for factor in (1.0, 3.0):
        new = {name: factor * x for name, x in native.weights().items()}
        for law in (native, inductor):
            law.update_weights(new)
        a, b = native.forward(inputs()), inductor.forward(inputs())
        for name, value in a.items():
            torch.testing.assert_close(b[name], value, rtol=1e-12, atol=1e-13)
        native.update_weights({name: x / factor for name, x in new.items()})
