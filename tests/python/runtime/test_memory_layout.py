"""Inputs in any layout of memory give the same bits, and results lie in memory as the inputs do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

import matlaw

Artifacts = Callable[[str], Path]
LAWS = ("linear_elastic", "bilinear_traction", "j2_plastic", "j2_viscoplastic")


def batch_last(tensor: torch.Tensor, n: int = 1) -> torch.Tensor:
    """The same numbers, the rows of a component next to each other; the first `n` axes are the batch."""
    order = [*range(n, tensor.dim()), *range(n)]
    back = [*range(tensor.dim() - n, tensor.dim()), *range(tensor.dim() - n)]
    return tensor.permute(order).contiguous().permute(back)


def is_batch_last(tensor: torch.Tensor, n: int = 1) -> bool:
    return tensor.permute([*range(n, tensor.dim()), *range(n)]).is_contiguous()


def inputs_of(law: matlaw.CompiledModel, batch: tuple[int, ...]) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(3)
    values = {
        name: 2e-3 * torch.randn(*batch, *base, generator=generator, dtype=torch.float64)
        for name, base in zip(law.input_names, law.input_base_shapes, strict=True)
    }
    for current, old in law.times:
        values[current], values[old] = torch.ones(batch, dtype=torch.float64), torch.zeros(batch, dtype=torch.float64)
    for name, base in zip(law.input_names, law.input_base_shapes, strict=True):
        if name.endswith("~1") and not base:
            values[name] = values[name].abs()
    return values


BACKENDS = pytest.mark.parametrize("backend", ["native", pytest.param("inductor", marks=pytest.mark.inductor)])


@BACKENDS
@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("batch", [(2,), (7,), (8,), (1024,), (1029,), (4, 6)])
def test_batch_last_memory_gives_the_same_bits(
    artifact: Artifacts, name: str, backend: str, batch: tuple[int, ...]
) -> None:
    law = matlaw.load_model(artifact(f"{name}-both"), "model", backend=backend)
    first = inputs_of(law, batch)
    last = {k: batch_last(v, len(batch)) for k, v in first.items()}
    expected, result = law.evaluate(first, jacobian=True), law.evaluate(last, jacobian=True)
    assert result.status.tolist() == expected.status.tolist()
    for k, value in expected.outputs.items():
        assert value.is_contiguous()
        assert is_batch_last(result.outputs[k], len(batch))
        np.testing.assert_array_equal(result.outputs[k].numpy(), value.numpy())
    for output, row in expected.jacobian.items():
        for by, block in row.items():
            np.testing.assert_array_equal(result.jacobian[output][by].numpy(), block.numpy())


@BACKENDS
def test_a_bad_row_of_batch_last_memory_is_the_only_one(artifact: Artifacts, backend: str) -> None:
    law = matlaw.load_model(artifact("linear_elastic-both"), "model", backend=backend)
    strain = torch.full((6, 64), 1e-3, dtype=torch.float64)
    strain[4, 17], strain[2, 63], strain[0, 40] = torch.nan, torch.inf, 1e308
    result = law.evaluate({"strain": strain.T})
    assert result.failed_rows == [17, 40, 63]
    assert [int(result.status[row]) for row in (17, 40, 63)] == [2, 1, 2]
    sound = [row for row in range(64) if row not in (17, 40, 63)]
    good = law.evaluate({"strain": torch.full((1, 6), 1e-3, dtype=torch.float64)}).outputs["stress"]
    assert torch.equal(result.outputs["stress"][sound], good.expand(61, 6))
    assert result.outputs["stress"][[17, 40, 63]].isnan().all()


@BACKENDS
def test_memory_that_is_not_aligned_or_a_part_of_more(artifact: Artifacts, backend: str) -> None:
    law = matlaw.load_model(artifact("linear_elastic-both"), "model", backend=backend)
    whole = torch.randn(6, 1003, dtype=torch.float64)
    for start, stop in ((0, 1003), (1, 1003), (3, 11), (8, 1000), (16, 17)):
        strain = whole[:, start:stop].T
        expected = law.evaluate({"strain": strain.contiguous()}, jacobian=True)
        result = law.evaluate({"strain": strain}, jacobian=True)
        assert torch.equal(result.outputs["stress"], expected.outputs["stress"])
        assert torch.equal(result.jacobian["stress"]["strain"], expected.jacobian["stress"]["strain"])


@BACKENDS
@pytest.mark.parametrize("name", ["linear_elastic-parameters", "bilinear_traction"])
def test_rows_and_components_apart_and_parameters_of_rows(artifact: Artifacts, name: str, backend: str) -> None:
    law = matlaw.load_model(artifact(f"{name}-both"), "model", backend=backend)
    values = inputs_of(law, (1033,))
    random = np.random.default_rng(2)
    parameters = {k: torch.from_numpy(random.uniform(0.1, 0.3, 1033)) for k in law.named_parameters()}
    for k, v in parameters.items():
        law.set_parameter(k, v)
    expected = law.evaluate(values, jacobian=True)
    apart = {}
    for k, v in values.items():
        apart[k] = torch.empty(3 * 1033, 2 * (v.shape[1] if v.dim() > 1 else 1), dtype=v.dtype)[1::3, ::2]
        apart[k] = apart[k] if v.dim() > 1 else apart[k][:, 0]
        apart[k].copy_(v)
    for k, v in parameters.items():
        law.set_parameter(k, v.repeat_interleave(2)[::2])
    result = law.evaluate(apart, jacobian=True)
    for k, value in expected.outputs.items():
        assert torch.equal(result.outputs[k], value)
    for output, row in expected.jacobian.items():
        for by, block in row.items():
            assert torch.equal(result.jacobian[output][by], block)


@BACKENDS
@pytest.mark.parametrize("apart", [False, True])
def test_bad_rows_are_told_from_sound_ones(artifact: Artifacts, apart: bool, backend: str) -> None:
    """Among as many rows as several chunks have, in either layout; a huge sound row is no bad one."""
    law = matlaw.load_model(artifact("linear_elastic-both"), "model", backend=backend)
    strain = torch.from_numpy(np.random.default_rng(4).normal(size=(3001, 6))) * 1e-3
    good = law.evaluate({"strain": strain}).outputs["stress"]
    strain[1500, 3], strain[2999, 0], strain[7, 5] = torch.nan, torch.inf, 1e300
    result = law.evaluate({"strain": batch_last(strain) if apart else strain})
    assert result.failed_rows == [1500, 2999]
    sound = [row for row in range(3001) if row not in (7, 1500, 2999)]
    assert torch.equal(result.outputs["stress"][sound], good[sound])
    assert result.outputs["stress"][7].isfinite().all()


@BACKENDS
def test_mixed_inputs_give_contiguous_results(artifact: Artifacts, backend: str) -> None:
    law = matlaw.load_model(artifact("j2_plastic-both"), "model", backend=backend)
    values = inputs_of(law, (16,))
    values["strain"] = batch_last(values["strain"])
    assert law.evaluate(values).outputs["stress"].is_contiguous()
    # What is the same for all rows has no layout.
    values = {k: v[:1].expand(16, *v.shape[1:]) if v.dim() > 1 and k != "strain" else v for k, v in values.items()}
    assert is_batch_last(law.evaluate(values).outputs["stress"])


@BACKENDS
def test_numpy_arrays_of_components_first(artifact: Artifacts, backend: str) -> None:
    law = matlaw.load_model(artifact("linear_elastic-both"), "model", backend=backend)
    strain = np.random.default_rng(1).normal(size=(6, 40))
    stress = law.evaluate({"strain": strain.T}).outputs["stress"]
    assert stress.T.flags.c_contiguous
    np.testing.assert_array_equal(stress, law.evaluate({"strain": strain.T.copy()}).outputs["stress"])
