"""A compiled law gives on every device what native kernels give on the CPU."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import artifacts
import numpy as np
import pytest
import torch

import matlaw
from matlaw import ConvergenceError, FatalError
from matlaw.artifact import compile_model
from matlaw.dispatch import DeviceConfig, StaticHybridScheduler
from matlaw.dispatch import load_model as load_dispatched
from matlaw.host import QuadratureBatch

WITH_CUDA = torch.cuda.is_available()
# Without CUDA the tests run on the CPU, so that a device is not the first to run them.
DEVICES = [
    "cpu",
    pytest.param("cuda", marks=pytest.mark.skipif(not WITH_CUDA, reason="this machine has no CUDA device")),
]

pytestmark = pytest.mark.inductor
Compiled = Callable[[str], Path]


@pytest.fixture(scope="module")
def compiled(artifact: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """The stub of a law with ``.pt2`` graphs for the devices that there are."""
    known: dict[str, Path] = {}

    def get(law: str) -> Path:
        if not WITH_CUDA:
            return artifact(f"{law}-both") / "model_aoti.i"
        if law not in known:
            variant = artifacts.VARIANTS[f"{law}-both"]
            place = tmp_path_factory.mktemp(law)
            options = {**variant.options, "device": ("cpu", "cuda")}
            compile_model(variant.place / f"{variant.law}.i", "model", place, ("stress:strain",), **options)
            known[law] = place / "model_aoti.i"
        return known[law]

    return get


def load(stub: Path, device: str) -> matlaw.runtime.CompiledModel:
    return matlaw.load_model(stub, "model", device=device, backend="inductor", fallback="none")


def step(rows: int, device: str = "cpu") -> dict[str, torch.Tensor]:
    """One step of viscoplastic rows, from elastic ones to ones far beyond yield."""
    strain = 4e-3 * torch.sin(1.0 + torch.arange(rows * 6, dtype=torch.float64)).reshape(rows, 6)
    strain *= torch.linspace(0.01, 1.0, rows, dtype=torch.float64).unsqueeze(-1)
    zero = torch.zeros(rows, dtype=torch.float64)
    inputs = {
        "strain": strain, "t": zero + 0.1, "t~1": zero,
        "plastic_strain~1": 0 * strain, "equivalent_plastic_strain~1": zero,
    }  # fmt: skip
    return {name: value.to(device) for name, value in inputs.items()}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("rows", [1, 9, 20000])
def test_values_and_derivatives(compiled: Compiled, device: str, rows: int) -> None:
    law = load(compiled("j2_viscoplastic"), device)
    reference = matlaw.load_model(compiled("j2_viscoplastic"), "model", backend="native")
    result = law.evaluate(step(rows, device), jacobian=True)
    expected = reference.evaluate(step(rows), jacobian=True)
    assert law.device.type == device
    for name, value in expected.outputs.items():
        assert result.outputs[name].device.type == device
        torch.testing.assert_close(result.outputs[name].cpu(), value, rtol=1e-9, atol=1e-9)
    block = result.jacobian["stress"]["strain"]
    assert block.device.type == device
    torch.testing.assert_close(block.cpu(), expected.jacobian["stress"]["strain"], rtol=1e-7, atol=1e-4)
    assert torch.equal(result.status.cpu(), expected.status)


@pytest.mark.parametrize("device", DEVICES)
def test_directional_derivatives_and_arrays(compiled: Compiled, device: str) -> None:
    law = load(compiled("j2_viscoplastic"), device)
    inputs = step(5, device)
    direction = torch.ones_like(inputs["strain"])
    _, derivatives = law.jvp(inputs, {"strain": direction})
    block = law.jacobian(inputs)[1]["stress"]["strain"]
    torch.testing.assert_close(derivatives["stress"], torch.einsum("bij,bj->bi", block, direction))
    arrays = law.forward({name: value.cpu().numpy() for name, value in inputs.items()})
    assert isinstance(arrays["stress"], np.ndarray)
    np.testing.assert_array_equal(arrays["stress"], law.forward(inputs)["stress"].cpu().numpy())


@pytest.mark.parametrize("device", DEVICES)
def test_rows_that_fail(compiled: Compiled, device: str) -> None:
    law = load(compiled("j2_viscoplastic"), device)
    inputs = step(6, device)
    inputs["strain"][4] *= 1e9
    law.set_solver_config(miters=3)
    with pytest.raises(ConvergenceError, match="row") as caught:
        law.forward(inputs)
    assert 4 in caught.value.failed_rows
    failure = law.last_failure()
    assert failure is not None
    assert failure.failed_rows == caught.value.failed_rows


@pytest.mark.parametrize("device", DEVICES)
def test_weights(compiled: Compiled, device: str) -> None:
    law = load(compiled("learned"), device)
    generator = torch.Generator().manual_seed(3)
    inputs = {"strain": (torch.rand(7, 6, dtype=torch.float64, generator=generator) - 0.5).to(device)}
    before = law.forward(inputs)["stress"]
    weights = law.weights()
    assert all(w.device.type == device for w in weights.values())
    changed = {name: (1.25 * w).contiguous() for name, w in weights.items()}
    law.update_weights(changed, user_managed=True)
    after = law.forward(inputs)["stress"]
    assert not torch.equal(before, after)
    reference = matlaw.load_model(compiled("learned"), "model", backend="native")
    reference.update_weights({name: w.cpu() for name, w in changed.items()})
    expected = reference.forward({"strain": inputs["strain"].cpu()})["stress"]
    torch.testing.assert_close(after.cpu(), expected, rtol=1e-9, atol=1e-10)
    first = next(iter(changed))
    with pytest.raises(FatalError, match="NaN"):
        law.update_weights({**changed, first: changed[first] * float("nan")}, user_managed=True)
    assert torch.equal(law.forward(inputs)["stress"], after)


@pytest.mark.parametrize("device", DEVICES)
def test_a_host_with_memory_of_its_own(compiled: Compiled, device: str) -> None:
    strain = step(11)["strain"].numpy()
    stresses = []
    for where in ("cpu", device):
        batch = QuadratureBatch(load(compiled("j2_viscoplastic"), where), 11)
        batch.set_input("strain", strain)
        batch.set_input("t", np.full(11, 0.1))
        verdict = batch.evaluate()
        assert verdict.ok
        stresses.append(np.array(batch.output("stress")))
    np.testing.assert_allclose(stresses[1], stresses[0], rtol=1e-9, atol=1e-9)


@pytest.mark.skipif(not WITH_CUDA, reason="this machine has no CUDA device")
def test_rows_shared_out_to_both(compiled: Compiled) -> None:
    scheduler = StaticHybridScheduler([DeviceConfig("cuda:0", 512, priority=2.0), DeviceConfig("cpu", 128)])
    law = load_dispatched(compiled("j2_viscoplastic"), "model", scheduler, fallback="none")
    reference = matlaw.load_model(compiled("j2_viscoplastic"), "model", backend="native")
    torch.testing.assert_close(
        law.forward(step(3000))["stress"], reference.forward(step(3000))["stress"], rtol=1e-9, atol=1e-9
    )


def test_a_device_that_is_not_there(compiled: Compiled) -> None:
    with pytest.raises(FatalError, match=r"no CUDA device|has no CUDA|there are .* CUDA devices"):
        load(compiled("j2_viscoplastic"), "cuda:99")
    with pytest.raises(FatalError, match=r"expected cpu, cuda|not supported"):
        load(compiled("j2_viscoplastic"), "meta")
