"""Rotations: their matrices, composition, exponential map and time integration."""

import math

import pytest
import torch
from scipy.linalg import expm

from matlaw.tensors import MRP, R2, WR2
from matlaw.tensors.inverse import determinant, inverse
from matlaw.tensors.rotation import compose, exponential


def random(kind, scale=1.0, seed=0, rows=4):
    generator = torch.Generator().manual_seed(seed)
    data = torch.rand(*kind.base_shape, rows, dtype=torch.float64, generator=generator)
    return kind(scale * (2.0 * data - 1.0))


@pytest.mark.parametrize("angle", [1e-9, 1e-3, 0.02, 0.5, 3.0, 6.0])
def test_exponential_is_the_matrix_exponential_of_the_skew_matrix(angle):
    axis = torch.tensor([2.0, -1.0, 2.0], dtype=torch.float64) / 3.0
    w = WR2((angle * axis).unsqueeze(-1))
    expected = torch.from_numpy(expm(w.to_R2().data[..., 0].numpy()))  # that of torch is off by 1e-11 here
    torch.testing.assert_close(exponential(w).to_R2().data[..., 0], expected, rtol=1e-13, atol=1e-14)


def test_exponential_is_smooth_where_the_series_ends():
    def factor(square):
        angle = square.sqrt()
        return exponential(WR2(torch.stack([angle, 0.0 * angle, 0.0 * angle]))).data[0] / angle

    squares = torch.tensor([1e-3 * (1.0 - 1e-12), 1e-3 * (1.0 + 1e-12)], dtype=torch.float64)
    below, above = factor(squares)
    assert abs(below - above) < 1e-15


def test_exponential_has_finite_derivatives_at_zero():
    w = torch.zeros(3, 1, dtype=torch.float64, requires_grad=True)
    [first] = torch.autograd.grad(exponential(WR2(w)).data.sum(), w, create_graph=True)
    assert first[:, 0].tolist() == [0.25] * 3
    [second] = torch.autograd.grad(first.sum(), w)
    assert bool(torch.isfinite(second).all())


def test_composition_is_the_product_of_the_matrices():
    a, b = random(MRP, 0.4), random(MRP, 0.4, seed=1)
    torch.testing.assert_close(compose(a, b).to_R2().data, (a.to_R2() @ b.to_R2()).data, rtol=1e-12, atol=1e-13)


def test_a_matrix_of_a_rotation_is_orthogonal():
    R = random(MRP, 0.5).to_R2()
    torch.testing.assert_close((R @ R.T).data, R2.identity().data.expand(3, 3, 4), rtol=1e-12, atol=1e-13)
    torch.testing.assert_close(determinant(R).data, torch.ones(4, dtype=torch.float64))


def test_inverse_and_determinant_agree_with_torch():
    a = random(R2, seed=3)
    batch_first = a.data.permute(2, 0, 1)
    torch.testing.assert_close(inverse(a).data.permute(2, 0, 1), torch.linalg.inv(batch_first), rtol=1e-11, atol=1e-12)
    torch.testing.assert_close(determinant(a).data, torch.linalg.det(batch_first), rtol=1e-12, atol=1e-13)


def test_skew_matrices_there_and_back():
    w = random(WR2, seed=2)
    torch.testing.assert_close(WR2.from_R2(w.to_R2()).data, w.data)


SPIN = {"t": 3.0, "t~1": 1.0, "r~1": [0.0, 0.0, math.tan(0.1)], "r_rate": [0.0, 0.0, 0.3]}


def constants(m, values):
    return {name: m.inputs[name].type.constant(values[name]) for name in m.inputs}


def test_explicit_integration_adds_angles_about_one_axis(model):
    m = model("[m]\ntype = WR2ExplicitExponentialTimeIntegration\nvariable = r\n[]")
    assert {n: v.type.__name__ for n, v in m.inputs.items()} == {
        "r~1": "MRP",
        "t": "Scalar",
        "t~1": "Scalar",
        "r_rate": "WR2",
    }
    # 0.4 from before, 0.6 in this step
    found = m.evaluate(constants(m, SPIN))["r"].data[:, 0]
    torch.testing.assert_close(found, torch.tensor([0.0, 0.0, math.tan(0.25)], dtype=torch.float64))


def test_the_implicit_residual_is_zero_at_the_explicit_solution(model):
    m = model("[m]\ntype = WR2ImplicitExponentialTimeIntegration\nvariable = r\n[]")
    found = m.evaluate(constants(m, SPIN | {"r": [0.0, 0.0, math.tan(0.25)]}))["r_residual"].data
    torch.testing.assert_close(found, torch.zeros(3, 1, dtype=torch.float64), rtol=0.0, atol=1e-15)
