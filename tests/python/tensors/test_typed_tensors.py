"""Typed tensors against plain NumPy on full matrices."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from torch.fx.experimental.proxy_tensor import make_fx

from matlaw.tensors import R2, SR2, SSR4, TYPES, Scalar, Vec, to_internal, to_public
from matlaw.tensors import functions as fn

numbers = st.floats(-10, 10, allow_subnormal=False).map(lambda x: round(x, 6))


def batch_of(shape, rows=3):
    return arrays(np.float64, (rows, *shape), elements=numbers)


def symmetric(a):
    return 0.5 * (a + a.transpose(0, 2, 1))


def sr2(a):
    """(B, 3, 3) symmetric to a typed tensor, written out by hand."""
    s = np.sqrt(2.0)
    m = np.stack([a[:, 0, 0], a[:, 1, 1], a[:, 2, 2], s * a[:, 1, 2], s * a[:, 0, 2], s * a[:, 0, 1]], axis=1)
    return to_internal(torch.from_numpy(m), SR2)


def public(t):
    return to_public(t, (t.batch_size,)).numpy()


@settings(deadline=None, max_examples=30, derandomize=True)
@given(batch_of((3, 3)), batch_of((3, 3)))
def test_symmetric_tensors(x, y):
    a, b = symmetric(x), symmetric(y)
    A, B = sr2(a), sr2(b)
    np.testing.assert_allclose(public(A.to_R2()), a, atol=1e-12)
    np.testing.assert_allclose(public(A.to_R2().to_SR2()), public(A), atol=1e-12)
    np.testing.assert_allclose(public(A.trace()), np.einsum("bii->b", a), atol=1e-12)
    volumetric = np.einsum("bii->b", a)[:, None, None] / 3.0 * np.eye(3)
    np.testing.assert_allclose(public(A.volumetric().to_R2()), volumetric, atol=1e-12)
    np.testing.assert_allclose(public(A.deviator().to_R2()), a - volumetric, atol=1e-12)
    np.testing.assert_allclose(public(SR2.spherical(A.trace()).to_R2()), 3.0 * volumetric, atol=1e-11)
    expected = a + b[:, :1, :1] * np.eye(3)
    np.testing.assert_allclose(public(A.add_spherical(Scalar(B.data[0])).to_R2()), expected, atol=1e-12)
    np.testing.assert_allclose(public(A.inner(B)), np.einsum("bij,bij->b", a, b), atol=1e-11)
    np.testing.assert_allclose(public(A.norm()), np.linalg.norm(a, axis=(1, 2)), atol=1e-11)
    dyad = A.outer(B) @ B
    np.testing.assert_allclose(public(dyad), public(A) * np.einsum("bij,bij->b", b, b)[:, None], atol=1e-8)


def test_a_spherical_part_is_added_per_site_and_row():
    grains = SR2(torch.arange(36.0, dtype=torch.float64).reshape(6, 3, 2), 1)
    for a in (Scalar(torch.tensor([1.0, 2.0])), Scalar(torch.arange(6.0).reshape(3, 2), 1)):
        added = grains.add_spherical(a).data - grains.data
        assert torch.equal(added[:3], a.data.expand(3, 3, 2).to(added.dtype))
        assert torch.equal(added[3:], torch.zeros(3, 3, 2, dtype=torch.float64))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_the_reciprocal_of_a_norm_is_finite_with_its_derivatives(dtype):
    sizes = torch.logspace(-44 if dtype == torch.float32 else -320, 18, 700, dtype=torch.float64).to(dtype)
    sizes = torch.cat([torch.zeros(1, dtype=dtype), sizes])
    pattern = torch.tensor([[2.0], [-1.0], [-1.0], [1.0], [1.0], [1.0]], dtype=dtype) / 3.0

    def direction(a):
        a = SR2(a)
        return (a.inverse_norm() * a).data

    for along in torch.eye(6, dtype=dtype):
        value, slope = torch.func.jvp(direction, (sizes * pattern,), (along[:, None].expand(6, 701),))
        norms = value.norm(dim=0)
        assert slope.isfinite().all()
        assert (norms[sizes < 0.99e-11] == 0.0).all()
        torch.testing.assert_close(norms[sizes > 1.01e-11], torch.ones_like(norms[sizes > 1.01e-11]))


@settings(deadline=None, max_examples=30, derandomize=True)
@given(batch_of((3, 3)), batch_of((3, 3)), batch_of((3,)))
def test_matrices_and_vectors(a, b, v):
    A, B, V = (to_internal(torch.from_numpy(x), t) for x, t in ((a, R2), (b, R2), (v, Vec)))
    np.testing.assert_allclose(public(A @ B), a @ b, atol=1e-11)
    np.testing.assert_allclose(public(A @ V), np.einsum("bij,bj->bi", a, v), atol=1e-11)
    np.testing.assert_allclose(public(A.T), a.transpose(0, 2, 1))
    np.testing.assert_allclose(public(A.trace()), np.einsum("bii->b", a), atol=1e-12)
    np.testing.assert_allclose(public(A.norm()), np.linalg.norm(a, axis=(1, 2)), atol=1e-11)
    np.testing.assert_allclose(public(V.norm()), np.linalg.norm(v, axis=1), atol=1e-11)


@settings(deadline=None, max_examples=30, derandomize=True)
@given(batch_of((6, 6)), batch_of((6, 6)), batch_of((6,)))
def test_fourth_order(a, b, v):
    A, B, V = (to_internal(torch.from_numpy(x), t) for x, t in ((a, SSR4), (b, SSR4), (v, SR2)))
    np.testing.assert_allclose(public(A @ V), np.einsum("bij,bj->bi", a, v), atol=1e-10)
    np.testing.assert_allclose(public(A @ B), a @ b, atol=1e-10)
    np.testing.assert_allclose(public(SSR4.identity_sym() @ V), v, atol=1e-12)
    np.testing.assert_allclose(public(SSR4.identity_dev() @ V), public(V.deviator()), atol=1e-12)
    np.testing.assert_allclose(public(SSR4.identity_vol() @ V), public(V.volumetric()), atol=1e-12)
    C = SSR4.isotropic(Scalar.constant(5.0), Scalar.constant(2.0))
    np.testing.assert_allclose(public(C @ V), public(15.0 * V.volumetric() + 4.0 * V.deviator()), atol=1e-10)


@settings(deadline=None, max_examples=30, derandomize=True)
@given(batch_of(()), batch_of(()))
def test_scalar_arithmetic(a, b):
    A, B = (to_internal(torch.from_numpy(x), Scalar) for x in (a, b))
    positive = np.abs(b) + 0.5
    P = to_internal(torch.from_numpy(positive), Scalar)
    for got, expected in (
        (A + B, a + b),
        (2.0 + A, 2.0 + a),
        (A - B, a - b),
        (2.0 - A, 2.0 - a),
        (A * B, a * b),
        (3.0 * A, 3.0 * a),
        (A / P, a / positive),
        (1.0 / P, 1.0 / positive),
        (-A, -a),
        (P**2.5, positive**2.5),
        (2.0**A, 2.0**a),
        (P**A, positive**a),
        (fn.exp(A), np.exp(a)),
        (fn.log(P), np.log(positive)),
        (fn.log10(P), np.log10(positive)),
        (fn.sqrt(P), np.sqrt(positive)),
        (fn.tanh(A), np.tanh(a)),
        (fn.sinh(A), np.sinh(a)),
        (fn.cosh(A), np.cosh(a)),
        (fn.sin(A), np.sin(a)),
        (fn.cos(A), np.cos(a)),
        (fn.abs(A), np.abs(a)),
        (fn.sign(A), np.sign(a)),
        (fn.pow(P, 2), positive**2),
        (fn.heaviside(A), np.where(a > 0, 1.0, 0.0)),
        (fn.macaulay(A), np.maximum(a, 0.0)),
        (fn.macaulay_power(A, 3.0), np.maximum(a, 0.0) ** 3),
        (fn.root(fn.abs(A)), np.sqrt(np.abs(a))),
        (fn.where(A > B, A, B), np.maximum(a, b)),
        (fn.where(A <= 1.0, 0.0, A), np.where(a <= 1.0, 0.0, a)),
    ):
        np.testing.assert_allclose(public(got), expected, rtol=1e-12, atol=1e-12)


def test_sub_batch_axes_align_next_to_the_batch():
    rng = np.random.default_rng(0)
    stress = rng.normal(size=(4, 6))  # (B, 6)
    weights = rng.normal(size=(4, 5))  # (B, grain)
    orientation = rng.normal(size=(4, 5, 6))  # (B, grain, 6)
    S = to_internal(torch.from_numpy(stress), SR2)
    W = to_internal(torch.from_numpy(weights), Scalar, 1)
    G = to_internal(torch.from_numpy(orientation), SR2, 1)
    np.testing.assert_allclose(to_public(S * W, (4,)), stress[:, None] * weights[..., None])
    np.testing.assert_allclose(to_public(W * S, (4,)), stress[:, None] * weights[..., None])
    np.testing.assert_allclose(to_public(G + S, (4,)), orientation + stress[:, None])
    np.testing.assert_allclose(to_public(S.inner(G), (4,)), np.einsum("bi,bgi->bg", stress, orientation))
    np.testing.assert_allclose(to_public(S.outer(G), (4,)), np.einsum("bi,bgj->bgij", stress, orientation))
    assert (S * W).sub_batch_shape == (5,)


def test_a_constant_broadcasts_over_the_batch():
    a = to_internal(torch.ones(7, 6, dtype=torch.float64), SR2)
    assert (2.0 * SR2.identity() + a).data.shape == (6, 7)
    assert (Scalar.constant(2.0) * a).data.shape == (6, 7)
    assert (a + Scalar.constant(1.0)).data[3, 0] == 2.0


@pytest.mark.parametrize("kind", TYPES.values())
def test_layout_round_trip(kind):
    x = torch.arange(2 * 3 * 4 * int(np.prod(kind.base_shape)), dtype=torch.float64).reshape(2, 3, 4, *kind.base_shape)
    t = to_internal(x, kind, 1)  # batch (2, 3), sub-batch (4,)
    assert t.data.shape == (*kind.base_shape, 4, 6)
    assert t.data.is_contiguous()
    torch.testing.assert_close(to_public(t, (2, 3)), x)
    # Row 4 of the flattened batch is (1, 1).
    torch.testing.assert_close(to_public(kind(t.data[..., 4:5], 1), ()), x[1, 1])
    assert to_internal(torch.zeros(0, *kind.base_shape), kind).data.shape == (*kind.base_shape, 0)


def test_wrong_shapes_and_kinds_are_refused():
    with pytest.raises(ValueError, match=r"SR2: expected shape"):
        SR2(torch.zeros(5, 2))
    with pytest.raises(ValueError, match=r"Scalar"):
        Scalar(torch.zeros(2, 2))
    with pytest.raises(TypeError):
        SR2.identity() + R2.identity()
    with pytest.raises(TypeError):
        SR2.identity() * SR2.identity()
    with pytest.raises(TypeError):
        SR2.identity() / SR2.identity()
    with pytest.raises(TypeError, match="at least one"):
        fn.where(torch.tensor([True]), 1.0, 2.0)


def derivative(function, x, order=1):
    """Derivative of a sum, so that the result has the shape of ``x``."""
    f = lambda y: function(y).sum()  # noqa: E731
    for _ in range(order):
        f = (lambda g: lambda y: torch.func.vjp(g, y)[1](torch.ones((), dtype=torch.float64))[0].sum())(f)
    return f(x)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("exponent", [0.5, 1.0, 1.5, 5.0])
def test_singular_points_have_finite_derivatives(order, exponent):
    zero = torch.zeros(6, 1, dtype=torch.float64)
    assert torch.isfinite(derivative(lambda x: SR2(x).norm().data, zero, order))
    scalar = torch.zeros(1, dtype=torch.float64)
    assert derivative(lambda x: fn.macaulay_power(Scalar(x), exponent).data, scalar, order) == 0
    assert derivative(lambda x: fn.macaulay_power(Scalar(x), exponent).data, scalar - 1.0, order) == 0
    assert derivative(lambda x: fn.root(Scalar(x)).data, scalar, order) == 0
    n = torch.tensor([exponent], dtype=torch.float64)
    assert derivative(lambda x: fn.macaulay_power(Scalar(scalar), Scalar(x)).data, n, order) == 0


def test_derivatives_elsewhere_are_unchanged():
    x = torch.tensor([0.3], dtype=torch.float64)
    assert derivative(lambda y: fn.root(Scalar(y)).data, x).item() == pytest.approx(0.5 / 0.3**0.5, rel=1e-14)
    assert derivative(lambda y: fn.macaulay_power(Scalar(y), 2.5).data, x).item() == pytest.approx(2.5 * 0.3**1.5)


def _everything(x, s):
    """A function that uses every operation."""
    a, k = SR2(x), Scalar(s)
    m = a.to_R2()
    C = SSR4.isotropic(fn.exp(k), 1.0 + k * k)
    b = C @ a + (m @ m).to_SR2() + a.outer(a) @ SR2.identity(dtype=x.dtype, device=x.device)
    p = fn.macaulay_power(k, 1.5) + fn.heaviside(k) + fn.macaulay(k) + fn.tanh(k) + fn.abs(k) + fn.sign(k)
    return (fn.where(k > 0.0, b.deviator() * p, b).norm() + m.trace() + Vec(m.data[0]).norm()).data


def test_everything_traces_with_a_symbolic_batch_and_can_be_differentiated():
    torch.manual_seed(0)

    def gradients(x, s):
        value, back = torch.func.vjp(_everything, x, s)
        return (value, *back(torch.ones_like(value)))

    args = torch.randn(6, 5, dtype=torch.float64), torch.randn(5, dtype=torch.float64)
    graph = make_fx(gradients, tracing_mode="symbolic")(*args)
    other = torch.randn(6, 13, dtype=torch.float64), torch.randn(13, dtype=torch.float64)
    for got, expected in zip(graph(*other), gradients(*other), strict=True):
        torch.testing.assert_close(got, expected)
    assert torch.autograd.gradcheck(lambda x, s: _everything(x, s), tuple(a.requires_grad_() for a in args), atol=1e-6)
