"""The substep driver on a law of one line: which substeps a row takes, and the exact derivative of the chain."""

import numpy as np
import pytest
import torch

from matlaw import _core
from matlaw.errors import FatalError

#: Inputs x, x~1, s~1 and limit; outputs s = s~1 + (x - x~1) x^2 + c x, where a step above the limit fails.
RAMPS = [(0, 1, 1)]
CARRIES = [(1, False, 0, 1), (2, True, 0, 1)]
C = 0.3


class Law:
    """The law of this file; `seen` lists the substeps (rows, x~1, x) that were asked for."""

    def __init__(self, limit, iterations=3):
        self.limit, self.iterations = torch.as_tensor(limit, dtype=torch.float64), iterations
        self.seen = []

    def __call__(self, rows, inputs, derivatives):
        x, x_old, s_old = inputs[:3]
        self.seen.append((rows.tolist(), x_old.tolist(), x.tolist()))
        s = s_old + (x - x_old) * x**2 + C * x
        failed = (x - x_old).abs() > self.limit[rows]
        status = failed.to(torch.int8)
        s = torch.where(failed, torch.nan, s)
        blocks = None
        if derivatives is not None:
            d_x, d_x_old, d_s_old = derivatives[:3]
            slope = x**2 + 2.0 * x * (x - x_old) + C
            blocks = (slope * d_x - x**2 * d_x_old + d_s_old).unsqueeze(0)
        return s.unsqueeze(0), status, torch.full_like(rows, self.iterations, dtype=torch.int32), blocks


def take(law, inputs, derivatives=None, level=4):
    config = {"max_substepping_level": level, "miters": 25}
    return _core.substep(law, inputs, derivatives, 1, RAMPS, CARRIES, config)


def increments(x, x_old=0.0, s_old=0.0):
    x = torch.as_tensor(x, dtype=torch.float64)
    return torch.stack([x, torch.full_like(x, x_old), torch.full_like(x, s_old), torch.zeros_like(x)])


def test_a_row_halves_until_it_gets_through_and_ends_exactly():
    x = 0.1 + 0.2  # no dyadic number
    law = Law([0.26 * x])
    outputs, _, status, iterations, substeps, factor = take(law, increments([x]))
    ends = [x_new[0] for _, _, x_new in law.seen]
    # 1/2 fails, 1/4 and 1/4 pass, 1/2 is tried again and fails.
    np.testing.assert_allclose(np.array(ends) / x, [0.5, 0.25, 0.5, 1.0, 0.75, 1.0])
    assert ends[-1] == x
    assert (status.item(), substeps.item(), iterations.item(), factor.item()) == (0, 4, 18, 0.25)
    s, old = 0.0, 0.0
    for end in (0.25 * x, 0.5 * x, 0.75 * x, x):
        s += (end - old) * end**2 + C * end
        old = end
    assert outputs.item() == pytest.approx(s, rel=1e-15)


def test_a_substep_that_was_hard_is_not_followed_by_a_larger_one():
    law = Law([0.26], iterations=20)
    take(law, increments([1.0]))
    np.testing.assert_allclose([x_new[0] for _, _, x_new in law.seen], [0.5, 0.25, 0.5, 0.75, 1.0])


def test_rows_are_cut_one_by_one_and_one_by_one_they_give_the_same_bits():
    x = torch.linspace(0.2, 3.0, 13, dtype=torch.float64)
    limits = torch.linspace(1.5, 0.09, 13, dtype=torch.float64)
    identity = torch.eye(4, dtype=torch.float64)[:, :1].unsqueeze(-1).expand(4, 1, 13).contiguous()
    outputs, blocks, status, _, substeps, _ = take(Law(limits), increments(x), identity, level=6)
    assert not status.any()
    assert len(set(substeps.tolist())) > 3
    order = torch.randperm(13, generator=torch.Generator().manual_seed(1))
    again = take(Law(limits[order]), increments(x[order]), identity, level=6)
    assert torch.equal(again[0], outputs[:, order])
    assert torch.equal(again[1], blocks[..., order])
    for row in range(13):
        alone = take(Law(limits[row : row + 1]), increments(x[row : row + 1]), identity[..., :1].contiguous(), level=6)
        assert torch.equal(alone[0][:, 0], outputs[:, row])
        assert torch.equal(alone[1][..., 0], blocks[..., row])
        assert alone[4].item() == substeps[row].item()


def test_the_derivative_is_that_of_the_whole_chain():
    x, limits = [0.9, 1.0, 2.0, 4.0], [0.5, 0.3, 0.3, 0.3]
    at = increments(x, x_old=0.2, s_old=0.7)
    seeds = torch.eye(4, dtype=torch.float64)[:, :3].unsqueeze(-1).expand(4, 3, 4).contiguous()
    _, blocks, _, _, substeps, _ = take(Law(limits), at, seeds)
    assert substeps.tolist() == [2, 4, 8, 16]
    for seed in range(3):
        step = torch.zeros_like(at)
        step[seed] = 1e-6
        plus, minus = take(Law(limits), at + step)[0], take(Law(limits), at - step)[0]
        np.testing.assert_allclose(blocks[0, seed], ((plus - minus) / 2e-6)[0], rtol=2e-8)


def test_a_row_that_is_out_of_levels_fails_and_leaves_the_others_alone():
    outputs, _, status, _, substeps, factor = take(Law([0.01, 0.6]), increments([1.0, 1.0]), level=3)
    assert status.tolist() == [1, 0]
    assert substeps.tolist() == [0, 2]
    assert factor.tolist() == [0.25, 0.5]
    assert outputs[0, 1] == take(Law([0.6]), increments([1.0]), level=3)[0]


def test_float32():
    law = Law([0.3])
    step = lambda rows, inputs, _: tuple(  # noqa: E731
        r.to(torch.float32) if torch.is_tensor(r) and r.is_floating_point() else r
        for r in law(rows, inputs.double(), None)
    )
    outputs, _, status, _, substeps, _ = take(step, increments([1.0]).to(torch.float32))
    assert (outputs.dtype, status.item(), substeps.item()) == (torch.float32, 0, 4)


def test_results_of_the_wrong_shape_are_refused():
    with pytest.raises(FatalError, match="outputs"):
        take(lambda rows, inputs, d: (inputs, rows.to(torch.int8), rows.to(torch.int32), None), increments([1.0]))
    with pytest.raises(FatalError, match="max_substepping_level"):
        take(Law([1.0]), increments([1.0]), level=31)


def test_what_the_law_raises_passes_through():
    def broken(rows, inputs, derivatives):
        raise ZeroDivisionError("in the law")

    with pytest.raises(ZeroDivisionError, match="in the law"):
        take(broken, increments([1.0]))
