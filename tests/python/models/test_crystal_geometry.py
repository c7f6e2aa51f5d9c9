"""Slip systems of cubic crystals, counted and resolved by hand."""

import math

import pytest
import torch

from matlaw.errors import InputFileError
from matlaw.input import InputFile
from matlaw.models.data.cubic_symmetry import cubic_rotations
from matlaw.tensors import MRP, R2, SR2, Scalar

CRYSTAL = """
[Tensors]
  [directions]
    type = Python
    expr = 'MillerIndex(torch.tensor({directions}), sub_batch_ndim=1)'
  []
  [planes]
    type = Python
    expr = 'MillerIndex(torch.tensor({planes}), sub_batch_ndim=1)'
  []
  [C] # twice the shear modulus of 5
    type = Python
    expr = 'SSR4(10.0 * torch.eye(6))'
  []
[]
[Data]
  [crystal_geometry]
    type = CubicCrystal
    lattice_parameter = {edge}
    slip_directions = 'directions'
    slip_planes = 'planes'
  []
[]
[Models]
  [m]
    type = ResolvedShear
    stress = 'stress'
    orientation_matrix = 'Q'
    resolved_shears = 'shears'
  []
  [rate]
    type = PlasticDeformationRate
    orientation_matrix = 'Q'
    slip_rates = 'rates'
    plastic_deformation_rate = 'rate'
  []
  [spin]
    type = PlasticVorticity
    orientation_matrix = 'Q'
    slip_rates = 'rates'
    plastic_vorticity = 'spin'
  []
  [gradient]
    type = PlasticSpatialVelocityGradient
    orientation_matrix = 'Q'
    slip_rates = 'rates'
    plastic_spatial_velocity_gradient = 'gradient'
  []
  [strengths]
    type = SingleSlipStrengthMap
    constant_strength = 3
    slip_hardening = 'hardening'
    slip_strengths = 'strengths'
  []
  [coupling]
    type = SlipSystemElasticInteraction
    orientation = 'r'
    coupling = 'coupling'
    elastic_stiffness_tensor = 'C'
  []
[]
"""
FCC = {"directions": "[[1, 1, 0]]", "planes": "[[1, 1, 1]]", "edge": "2.0"}


@pytest.fixture
def crystal(write):
    def build(**changes):
        return InputFile(write(CRYSTAL.format(**{**FCC, **changes}))).build("Data", "crystal_geometry")

    return build


@pytest.fixture
def fcc(write):
    def build(name="m", shapes=None):
        return InputFile(write(CRYSTAL.format(**FCC))).model(name, shapes)

    return build


def test_the_rotations_are_a_group():
    rotations = cubic_rotations()
    torch.testing.assert_close(torch.linalg.det(rotations), torch.ones(24, dtype=torch.float64))
    known = {tuple(r.flatten().tolist()) for r in rotations}
    assert len(known) == 24
    assert {tuple((a @ b).flatten().tolist()) for a in rotations for b in rotations} == known


@pytest.mark.parametrize(
    ("directions", "planes", "count"),
    [
        ("[[1, 1, 0]]", "[[1, 1, 1]]", 12),
        ("[[1, 1, 1]]", "[[1, 1, 0]]", 12),
        ("[[1, 1, 1]]", "[[1, 1, 2]]", 12),
        ("[[1, 1, 1]]", "[[1, 2, 3]]", 24),
        ("[[1, 1, 1], [1, 1, 1], [1, 1, 1]]", "[[1, 1, 0], [1, 1, 2], [1, 2, 3]]", 48),
        ("[[1, 0, 0]]", "[[0, 1, 1]]", 6),
    ],
)
def test_number_of_slip_systems(crystal, directions, planes, count):
    found = crystal(directions=directions, planes=planes)
    assert found.count == count
    unit = torch.ones(count, dtype=torch.float64)
    torch.testing.assert_close((found.directions * found.directions).sum(1), unit)
    torch.testing.assert_close((found.planes * found.planes).sum(1), unit)
    assert float((found.directions * found.planes).sum(1).abs().max()) < 1e-15
    pairs = torch.cat([found.directions, found.planes], 1)
    same = torch.eye(count, dtype=torch.bool)
    for sign in ([1, 1], [1, -1], [-1, 1], [-1, -1]):
        signs = torch.tensor(sign, dtype=torch.float64).repeat_interleave(3)
        distance = torch.cdist(pairs, pairs * signs)
        assert float(distance[~same].min()) > 0.1


def test_burgers_vectors_have_the_length_of_their_direction(crystal):
    lengths = crystal(directions="[[1, 1, 0], [1, 1, 1]]", planes="[[1, 1, 1], [1, 1, 0]]").burgers
    expected = torch.tensor([2.0 * math.sqrt(2.0)] * 12 + [2.0 * math.sqrt(3.0)] * 12, dtype=torch.float64)
    torch.testing.assert_close(lengths, expected)


def test_tension_along_an_edge_of_the_cube_loads_eight_systems_alike(fcc):
    """The Schmid factor of the others is zero, as their directions are at right angles to the edge."""
    stress = SR2.constant([0.0, 0.0, 100.0, 0.0, 0.0, 0.0])
    shears = fcc().evaluate({"stress": stress, "Q": R2.identity()})["shears"]
    assert shears.sub_batch_shape == (12,)
    found = shears.data.flatten().abs().sort().values
    expected = torch.tensor([0.0] * 4 + [100.0 / math.sqrt(6.0)] * 8, dtype=torch.float64)
    torch.testing.assert_close(found, expected, rtol=1e-14, atol=1e-14)


def test_turning_crystal_and_stress_together_changes_nothing(fcc):
    c, s = math.cos(0.7), math.sin(0.7)
    Q = R2.constant([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    local = SR2.constant([10.0, -20.0, 30.0, 5.0, -4.0, 7.0])
    turned = (Q @ local.to_R2() @ Q.T).to_SR2()
    a = fcc().evaluate({"stress": local, "Q": R2.identity()})["shears"]
    b = fcc().evaluate({"stress": turned, "Q": Q})["shears"]
    torch.testing.assert_close(a.data, b.data, rtol=1e-13, atol=1e-13)


def test_slip_does_the_work_of_stress_on_the_rate(fcc):
    """``sum_i tau_i rate_i = stress : plastic rate``, for two grains."""
    g = torch.Generator().manual_seed(5)
    stress = SR2(torch.rand(6, 2, 3, dtype=torch.float64, generator=g), 1)
    Q = torch.linalg.qr(torch.rand(2, 3, 3, 3, dtype=torch.float64, generator=g))[0]
    Q = R2(Q.permute(2, 3, 0, 1).contiguous(), 1)
    rates = Scalar(torch.rand(2, 12, 3, dtype=torch.float64, generator=g) - 0.5, 2)
    shears = fcc(shapes={"stress": (2,), "Q": (2,)}).evaluate({"stress": stress, "Q": Q})["shears"]
    rate = fcc("rate", {"Q": (2,), "rates": (2, 12)}).evaluate({"Q": Q, "rates": rates})["rate"]
    assert shears.sub_batch_shape == (2, 12) and rate.sub_batch_shape == (2,)
    work = (shears.data * rates.data).sum(1)
    torch.testing.assert_close(work, stress.inner(rate).data, rtol=1e-13, atol=1e-14)


def test_slip_on_one_system_shears_in_its_plane_along_its_direction(fcc):
    """``d (x) n`` of two orthogonal unit vectors: its norm is one, its square zero, its parts stretch and spin."""
    rates = Scalar(torch.eye(12, dtype=torch.float64), 1)  # row i: slip on system i
    values = {"Q": R2.identity(), "rates": rates}
    shapes = {"rates": (12,)}
    found = [fcc(name, shapes).evaluate(values)[name] for name in ("gradient", "rate", "spin")]
    gradient = found[0].data.expand(3, 3, 12).permute(2, 0, 1)
    torch.testing.assert_close(gradient.norm(dim=(1, 2)), torch.ones(12, dtype=torch.float64))
    torch.testing.assert_close(gradient @ gradient, torch.zeros(12, 3, 3, dtype=torch.float64), rtol=0.0, atol=1e-15)
    together = (found[1].to_R2() + found[2].to_R2()).data.permute(2, 0, 1)
    torch.testing.assert_close(gradient, together, rtol=1e-14, atol=1e-15)
    components = (gradient.abs() * math.sqrt(6.0)).round(decimals=12).unique()
    assert components.tolist() == [0.0, 1.0], "<110>/sqrt(2) and {111}/sqrt(3)"


def test_one_hardening_strengthens_all_systems(fcc):
    strengths = fcc("strengths").evaluate({"hardening": Scalar(torch.tensor([4.0, 5.0], dtype=torch.float64))})
    expected = torch.tensor([7.0, 8.0], dtype=torch.float64).expand(12, 2)
    torch.testing.assert_close(strengths["strengths"].data, expected)


def test_slip_unloads_its_own_system_by_the_shear_modulus(fcc):
    """``2 G M : M`` is the shear modulus, times the step; no system unloads another by more."""
    time = {
        "t": Scalar(torch.tensor([0.75], dtype=torch.float64)),
        "t~1": Scalar(torch.tensor([0.25], dtype=torch.float64)),
    }
    coupling = fcc("coupling").evaluate({"r": MRP.constant([0.1, 0.2, 0.3]), **time})["coupling"].data[..., 0]
    assert coupling.shape == (12, 12)
    torch.testing.assert_close(coupling.diagonal(), torch.full((12,), 0.5 * 5.0, dtype=torch.float64))
    torch.testing.assert_close(coupling, coupling.T)
    assert float(coupling.abs().max()) < 0.5 * 5.0 * (1.0 + 1e-14)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"directions": "[[1, 1, 1]]"}, "no equivalent of a slip direction lies in an equivalent of its slip plane"),
        ({"planes": "[[1, 1, 1], [1, 1, 0]]"}, "expected as many slip directions as slip planes, got 1 and 2"),
        ({"directions": "[[0, 0, 0]]"}, "a slip direction or a slip plane is zero"),
        ({"edge": "-1"}, "option 'lattice_parameter': expected one positive number"),
        ({"edge": "directions"}, "expected a .* entry of type Scalar, 'directions' is MillerIndex"),
    ],
)
def test_crystals_that_are_none(crystal, changes, message):
    with pytest.raises(InputFileError, match=message):
        crystal(**changes)
