"""Weights outside the compiled code, from Python: updates, threads, streams, eager and dispatched laws."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import artifacts
import numpy as np
import pytest
import torch
from safetensors.torch import save_file

import matlaw
from matlaw.dispatch import DeviceConfig, StaticHybridScheduler
from matlaw.dispatch import load_model as load_dispatched

Weights = dict[str, torch.Tensor]


@pytest.fixture(params=["native", pytest.param("inductor", marks=pytest.mark.inductor), "eager"])
def law(request: pytest.FixtureRequest, artifact: Callable[[str], Path]) -> Any:
    if request.param == "native":
        return matlaw.load_model(artifact("learned-native") / "model_aoti.i", "model")
    if request.param == "inductor":
        return matlaw.load_model(artifact("learned-both") / "model_aoti.i", "model", backend="inductor")
    return matlaw.load_model(artifacts.DATA / "learned.i", "model", extensions=[artifacts.DATA / "learned.py"])


@pytest.fixture
def compiled(artifact: Callable[[str], Path]) -> matlaw.runtime.CompiledModel:
    return matlaw.load_model(artifact("learned-native") / "model_aoti.i", "model")


def inputs(rows: int = 7) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(3)
    return {"strain": torch.rand(rows, 6, dtype=torch.float64, generator=generator) - 0.5}


def scaled(weights: Weights, factor: float) -> Weights:
    return {name: factor * x for name, x in weights.items()}


def test_compiled_and_eager_agree_after_an_update(artifact: Callable[[str], Path]) -> None:
    compiled = matlaw.load_model(artifact("learned-native") / "model_aoti.i", "model")
    eager = matlaw.load_model(artifacts.DATA / "learned.i", "model", extensions=[artifacts.DATA / "learned.py"])
    assert compiled.weight_shapes == eager.weight_shapes
    for factor in (1.0, 0.6, 1.3):
        new = scaled(compiled.weights(), factor)
        compiled.update_weights(new)
        eager.update_weights(new)
        a, b = compiled.jacobian(inputs()), eager.jacobian(inputs())
        for name, value in b[0].items():
            torch.testing.assert_close(a[0][name], value, rtol=1e-10, atol=1e-12)
        block = b[1]["stress"]["strain"]
        torch.testing.assert_close(a[1]["stress"]["strain"], block, rtol=1e-9, atol=1e-11)


def test_update_run_update_run(law: Any) -> None:
    first = law.weights()
    outputs = law.forward(inputs())
    assert law.weights_version == law.evaluate(inputs()).weights_version == 1
    assert law.update_weights(scaled(first, 2.0)) == 2
    changed = law.evaluate(inputs())
    assert changed.weights_version == 2
    assert not torch.allclose(changed.outputs["stress"], outputs["stress"])
    assert law.update_weights(first) == 3
    assert torch.equal(law.forward(inputs())["stress"], outputs["stress"])


@pytest.mark.parametrize("kind", ["safetensors", "pt"])
def test_from_a_file(law: Any, tmp_path: Path, kind: str) -> None:
    new = scaled(law.weights(), 1.5)
    file = tmp_path / f"new.{kind}"
    save_file(new, file) if kind == "safetensors" else torch.save(new, file)
    assert law.update_weights(file) == 2
    for name, value in law.weights().items():
        assert torch.equal(value, new[name])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda w: w.pop("encoder.0.bias"), "weight 'encoder.0.bias' is missing"),
        (lambda w: w.update(other=torch.ones(1)), "there is no weight 'other'"),
        (lambda w: w.update({"encoder.0.bias": w["encoder.0.bias"][:-1]}), "weight 'encoder.0.bias' has the shape"),
        (lambda w: w.update({"encoder.0.bias": w["encoder.0.bias"].float()}), "weight 'encoder.0.bias' has the dtype"),
        (lambda w: w["encoder.0.bias"].fill_(torch.nan), "weight 'encoder.0.bias' holds NaN"),
        (lambda w: w["encoder.0.bias"].fill_(torch.inf), "weight 'encoder.0.bias' holds NaN or an infinity"),
    ],
)
def test_what_does_not_fit_is_refused_by_name_and_the_old_ones_serve(law: Any, change: Any, words: str) -> None:
    outputs = law.forward(inputs())
    new = {name: x.clone() for name, x in law.weights().items()}
    change(new)
    with pytest.raises(matlaw.FatalError, match=words):
        law.update_weights(new)
    assert law.weights_version == 1
    assert torch.equal(law.forward(inputs())["stress"], outputs["stress"])


def test_truncated_files_are_refused(law: Any, tmp_path: Path) -> None:
    save_file(law.weights(), tmp_path / "new.safetensors")
    whole = (tmp_path / "new.safetensors").read_bytes()
    for length in (0, 7, 100, len(whole) - 1):
        (tmp_path / "new.safetensors").write_bytes(whole[:length])
        with pytest.raises(matlaw.FatalError, match=r"new\.safetensors"):
            law.update_weights(tmp_path / "new.safetensors")
    assert law.weights_version == 1


def test_numpy_arrays_are_taken(law: Any) -> None:
    law.update_weights({name: 2.0 * x.numpy() for name, x in law.weights().items()})
    assert isinstance(law.forward({"strain": np.zeros((2, 6))})["stress"], np.ndarray)
    assert law.weights_version == 2


def test_memory_of_the_caller(compiled: matlaw.runtime.CompiledModel) -> None:
    new = {name: x.clone() for name, x in compiled.weights().items()}
    compiled.update_weights(new, user_managed=True)
    expected = compiled.forward(inputs())["stress"]
    new["decoder.scale"].mul_(2.0)  # against the rules, to see whose memory it is
    torch.testing.assert_close(compiled.forward(inputs())["stress"], 2.0 * expected)
    turned = {name: x.clone() for name, x in new.items()}
    turned["encoder.0.weight"] = turned["encoder.0.weight"].T.contiguous().T
    with pytest.raises(matlaw.FatalError, match=r"'encoder\.0\.weight' is not contiguous"):
        compiled.update_weights(turned, user_managed=True)


def test_every_result_is_that_of_one_version(law: Any) -> None:
    first = law.weights()
    versions = [scaled(first, 1.0 + 0.1 * v) for v in range(4)]
    at = inputs(40)
    expected = []
    for weights in versions:
        law.update_weights(weights)
        expected.append(law.forward(at)["stress"])
    start = law.weights_version + 1
    done, wrong, calls = threading.Event(), [], [0]

    def call() -> None:
        while not done.is_set() or calls[0] == 0:
            found = law.evaluate(at)
            k = 3 if found.weights_version < start else (found.weights_version - start) % 4
            if not torch.equal(found.outputs["stress"], expected[k]):
                wrong.append(found.weights_version)
            calls[0] += 1

    caller = threading.Thread(target=call)
    caller.start()
    for k in range(1000):
        law.update_weights(versions[k % 4])
    done.set()
    caller.join()
    assert wrong == []
    assert law.weights_version == start + 999


def test_a_stream_follows_a_trainer(law: Any, tmp_path: Path) -> None:
    first = law.weights()
    errors: list[str] = []
    with matlaw.WeightStream(law, tmp_path, interval=0, on_error=errors.append) as stream:
        assert not stream.poll()
        matlaw.save_weights(tmp_path / "step1.safetensors", scaled(first, 2.0))
        assert stream.poll()
        assert law.weights_version == stream.status.version == 2
        matlaw.save_weights(tmp_path / "step2.safetensors", scaled(first, float("nan")))
        assert not stream.poll()
        assert len(errors) == stream.status.errors == 1
        assert "NaN" in errors[0]
        law.forward(inputs())
        matlaw.save_weights(tmp_path / "step3.safetensors", scaled(first, 3.0))
        assert stream.poll()
    assert stream.status.updates == 2
    assert law.weights_version == 3
    assert list(tmp_path.glob(".*")) == []


def test_a_stream_has_a_thread(law: Any, tmp_path: Path) -> None:
    first = law.weights()
    with matlaw.WeightStream(law, tmp_path / "latest.safetensors", interval=0.001) as stream:
        for k in range(1, 4):
            matlaw.save_weights(tmp_path / "latest.safetensors", scaled(first, float(k)))
            while stream.status.updates < k:
                law.forward(inputs())
    assert law.weights_version == 4


def test_a_trainer_saves_a_module(law: Any, tmp_path: Path) -> None:
    module = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
    matlaw.save_weights(tmp_path / "w.safetensors", module, model="net", dtype=torch.float32)
    from safetensors.torch import load_file

    held = load_file(tmp_path / "w.safetensors")
    names = ("0.weight", "0.bias", "1.weight", "1.bias", "1.running_mean", "1.running_var")
    assert sorted(held) == sorted(f"net.{name}" for name in names)
    assert held["net.0.weight"].dtype == torch.float32


def test_batches_of_points(law: Any, tmp_path: Path) -> None:
    batch = matlaw.QuadratureBatch(law, 3)
    batch.set_input("strain", inputs(3)["strain"].numpy())
    assert batch.evaluate(tangent=True).weights_version == 1
    before = batch.output("stress").copy()
    assert batch.update_weights(scaled(law.weights(), 2.0)) == 2
    assert np.array_equal(batch.output("stress"), before)
    assert batch.evaluate(tangent=True).weights_version == 2
    expected, blocks = law.jacobian(inputs(3))
    np.testing.assert_array_equal(batch.output("stress"), expected["stress"].numpy())
    np.testing.assert_allclose(batch.tangent("stress", "strain"), blocks["stress"]["strain"].numpy(), rtol=1e-12)


def test_dispatched_laws_update_all_copies(artifact: Callable[[str], Path]) -> None:
    scheduler = StaticHybridScheduler([DeviceConfig("cpu", 8)] * 2, several_cpus=True)
    law = load_dispatched(artifact("learned-native") / "model_aoti.i", "model", scheduler)
    single = matlaw.load_model(artifact("learned-native") / "model_aoti.i", "model")
    new = scaled(single.weights(), 1.7)
    assert law.update_weights(new) == single.update_weights(new) == 2
    at = inputs(64)
    found = law.evaluate(at)
    assert found.weights_version == 2
    assert torch.equal(found.outputs["stress"], single.forward(at)["stress"])


def test_weights_are_no_parameters_of_an_eager_law() -> None:
    law = matlaw.load_model(artifacts.DATA / "learned.i", "model", extensions=[artifacts.DATA / "learned.py"])
    with pytest.raises(matlaw.FatalError, match="update_weights"):
        law.set_parameter("decoder.scale", 3.0)


READER = """
import sys, matlaw
law = matlaw.load_model(sys.argv[1], "net")
law.forward({"strain": [0.0] * 6})
print("ready", flush=True)
sys.stdin.readline()
"""


def test_processes_share_the_pages_of_the_weight_file(tmp_path: Path) -> None:
    from matlaw.artifact import compile_model

    (tmp_path / "shared_pages.py").write_text(
        "from torch import nn\nclass Net(nn.Sequential):\n    def __init__(self):\n"
        "        super().__init__(nn.Linear(6, 400), nn.Tanh(), nn.Linear(400, 400), nn.Tanh(), nn.Linear(400, 6))\n"
    )
    (tmp_path / "law.i").write_text(
        "[Models]\n  [net]\n    type = TorchModule\n    module = 'shared_pages.py:Net'\n    inputs = 'strain'\n"
        "    input_types = 'SR2'\n    outputs = 'stress'\n    output_types = 'SR2'\n  []\n[]\n"
    )
    compile_model(
        tmp_path / "law.i", "net", tmp_path / "aoti", backend="native", extensions=[str(tmp_path / "shared_pages.py")],
        external_weights=[], verify="none",
    )  # fmt: skip
    command = [sys.executable, "-c", READER, str(tmp_path / "aoti" / "net")]
    readers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) for _ in range(2)
    ]
    try:
        for reader in readers:
            assert reader.stdout is not None
            assert reader.stdout.readline() == "ready\n"
        for reader in readers:
            resident, proportional = _mapped(reader.pid, ".safetensors")
            assert resident > 1000  # KiB: the weights have 1.3 MB
            assert proportional <= 0.51 * resident  # each of the two counts half of every page
    finally:
        for reader in readers:
            reader.communicate("\n")


def _mapped(pid: int, ending: str) -> tuple[int, int]:
    """Resident and proportional KiB of the mappings of a file."""
    resident = proportional = 0
    ours = False
    for line in Path(f"/proc/{pid}/smaps").read_text().splitlines():
        head = line.split()
        if "-" in head[0] and not head[0].endswith(":"):
            ours = line.endswith(ending)
        elif ours and head[0] == "Rss:":
            resident += int(head[1])
        elif ours and head[0] == "Pss:":
            proportional += int(head[1])
    return resident, proportional
