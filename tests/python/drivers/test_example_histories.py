"""``matlaw-run`` on examples/drivers: every law of examples/models has a driver, and does what its mechanics say."""

import math
import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import torch
from driver_inputs import EXAMPLES

from matlaw.cli.run import main

DRIVERS = EXAMPLES / "drivers"
#: Steps of the cycle: turning points, and one that is elastic.
PEAK, BOTTOM, END, ELASTIC = 20, 60, 100, 1
YOUNG, POISSON, YIELD = 2e5, 0.3, 250.0
SHEAR = YOUNG / 2 / (1 + POISSON)


@cache
def history(law, driver="cycle"):
    """All steps but the first of every variable, by name, as ``matlaw-run`` writes them."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "history.npz"
        assert main([str(DRIVERS / f"{law}.i"), driver, "-q", "-o", str(file)]) == 0
        with np.load(file) as arrays:
            values = {name: torch.from_numpy(arrays[name]) for name in arrays.files}
    steps: dict[str, list[torch.Tensor]] = {}
    for name, value in values.items():  # in the order of steps
        _, step, variable = name.split(".", 2)
        if step != "0":
            steps.setdefault(variable, []).append(value)
    return {name: torch.stack(list(torch.broadcast_tensors(*s))) for name, s in steps.items()}


def at(values, step):
    """The values of a step, of which the history has no step 0."""
    return values[step - 1]


def dev(a):
    return torch.cat([a[..., :3] - a[..., :3].mean(-1, keepdim=True), a[..., 3:]], -1)


def mises(a):
    return (1.5 * (dev(a) ** 2).sum(-1)).sqrt()


def dissipation(stress, plastic_strain):
    """Of every step, by the implicit Euler rule."""
    return (stress[1:] * plastic_strain.diff(dim=0)).sum(-1)


def test_every_law_has_a_driver():
    laws = {path.name for path in (EXAMPLES / "models").glob("*.i")}
    driven = {name for path in DRIVERS.glob("*.i") for name in re.findall(r"models/(\w+\.i)", path.read_text())}
    assert laws == driven


ELASTIC_FIRST = (
    "linear_elastic perfect_plasticity linear_isotropic_hardening linear_kinematic_hardening j2_closed_form "
    "chaboche2 chaboche4 chaboche6 radial_return kocks_mecking gurson"
).split()


@pytest.mark.parametrize("law", ELASTIC_FIRST)
def test_begins_elastic(law):
    found = history(law)
    strain, stress = (at(found[name], ELASTIC).reshape(-1, 6)[0] for name in ("strain", "stress"))
    lame = YOUNG * POISSON / (1 + POISSON) / (1 - 2 * POISSON)
    volume = strain[..., :3].sum(-1, keepdim=True) * torch.tensor([1.0, 1.0, 1.0, 0.0, 0.0, 0.0], dtype=torch.float64)
    torch.testing.assert_close(stress, 2 * SHEAR * strain + lame * volume, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    "law", ["perfect_plasticity", "linear_isotropic_hardening", "linear_kinematic_hardening", "j2_closed_form"]
)
def test_rates_make_no_difference(law):
    stress = history(law)["stress"]
    torch.testing.assert_close(stress, stress[:, :1].expand_as(stress), rtol=1e-6, atol=1e-6)


def test_perfect_plasticity_flows_at_its_yield_stress():
    found = history("perfect_plasticity")
    flowing = found["plastic_strain"].diff(dim=0).norm(dim=-1) > 1e-9
    size = mises(found["stress"])
    assert size.max() < YIELD * (1 + 1e-6)
    assert flowing.sum() > 100
    assert (size[1:][flowing] - YIELD).abs().max() < 1e-6 * YIELD
    assert dissipation(found["stress"], found["plastic_strain"]).min() > -1e-9


@pytest.mark.parametrize("law", ["linear_isotropic_hardening", "j2_closed_form"])
def test_isotropic_hardening_widens_the_elastic_range(law):
    found = history(law)
    p = found["equivalent_plastic_strain"]
    size = mises(found["stress"])
    assert p.diff(dim=0).min() >= -1e-12
    assert (size - (YIELD + 2000.0 * p)).max() < 1e-6 * YIELD
    assert (size - (YIELD + 2000.0 * p)).abs()[[PEAK - 1, BOTTOM - 1, END - 1]].max() < 1e-6 * YIELD
    # From a turning point to yield in the other direction: twice the size at the turning point.
    assert elastic_range(found) == pytest.approx(2 * float(at(size, PEAK)[0]), rel=0.06)


def test_kinematic_hardening_moves_the_elastic_range():
    found = history("linear_kinematic_hardening")
    size = mises(found["stress"])
    assert float(at(size, PEAK)[0]) > 1.1 * YIELD
    assert elastic_range(found) == pytest.approx(2 * YIELD, rel=0.06)
    torch.testing.assert_close(at(size, END), at(size, PEAK), rtol=1e-6, atol=0.0)


def elastic_range(found):
    """By how much the stress changes from the first turning point until it flows again, to a step of the history."""
    strain = found["plastic_strain"][:, 0]
    first = next(k for k in range(PEAK, BOTTOM) if float((strain[k] - strain[k - 1]).norm()) > 1e-9)
    return float(mises(found["stress"][first, 0] - found["stress"][PEAK - 1, 0]))


@pytest.mark.parametrize("law", ["chaboche2", "chaboche4", "chaboche6", "radial_return"])
def test_viscoplastic_stresses_grow_with_the_rate_and_from_loop_to_loop(law):
    found = history(law)
    stress, p = found["stress"], found["equivalent_plastic_strain"]
    for turning, sign in ((PEAK, 1.0), (BOTTOM, -1.0), (END, 1.0)):
        fast, middle, slow = (sign * at(stress, turning)[:, 0]).tolist()
        assert fast > middle > slow > 0.0
    assert (mises(at(stress, END)) > mises(at(stress, PEAK))).all(), "isotropic hardening"
    assert p.diff(dim=0).min() >= 0.0
    flow = torch.sqrt((2.0 / 3.0) * (found["plastic_strain"].diff(dim=0) ** 2).sum(-1))
    torch.testing.assert_close(p.diff(dim=0), flow, rtol=1e-6, atol=1e-9)
    assert dissipation(stress - back_stress(found), found["plastic_strain"]).min() > -1e-9


def back_stress(found):
    return sum((found[name] for name in found if re.fullmatch(r"X\d", name)), torch.zeros_like(found["stress"]))


@pytest.mark.parametrize("law", ["chaboche2", "chaboche4", "chaboche6"])
def test_back_stresses_show_the_bauschinger_effect(law):
    found = history(law)
    assert float(at(back_stress(found), PEAK)[0, 0]) > 0.0 > float(at(back_stress(found), BOTTOM)[0, 0])
    assert elastic_range(found) < 1.6 * float(at(mises(found["stress"]), PEAK)[0])


def test_tension_is_harder_the_faster():
    stress = history("uniaxial_viscoplastic", "tension")["stress"][-1, :, 0]
    assert stress.tolist() == sorted(stress.tolist())


def test_hardening_recovers_while_the_strain_is_held():
    """At first it still grows with the flow that goes on, then recovery wins."""
    found = history("static_recovery", "relaxation")
    stress, hardening = found["stress"][:, 0], found["isotropic_hardening"]
    assert float(stress.diff().max()) <= 0.0 < float(stress[-1])
    top = int(hardening.argmax())
    assert 0 < top < len(hardening) - 1
    assert float(hardening[top:].diff().max()) <= 0.0
    assert float(hardening[-1]) < 0.99 * float(hardening[top])


def test_gurson_voids_grow_in_tension_and_shrink_in_compression():
    void = history("gurson")["void_fraction"]
    assert float(at(void, PEAK)) > 0.01
    assert float(at(void, BOTTOM)) < float(at(void, PEAK))
    assert float(at(void, END)) > float(at(void, BOTTOM))


def test_kocks_mecking_is_weaker_when_hot():
    cold, warm, hot = (float(mises(s)) for s in at(history("kocks_mecking")["stress"], PEAK))
    assert cold == pytest.approx(warm, rel=1e-6), "both below the critical activation energy"
    assert hot < 0.9 * cold


#: Equilibrium moduli, and those of a sudden strain.
SPRINGS = {"burgers": (0.0, 2000.0), "wiechert": (500.0, 2000.0), "zener": (500.0, 2000.0)}


@pytest.mark.parametrize("law", SPRINGS)
def test_viscoelastic_stresses_relax_to_those_of_the_springs_that_last(law):
    equilibrium, sudden = SPRINGS[law]
    stress = history(law, "relaxation")["stress"][:, 0]
    assert float(stress.diff().max()) <= 1e-12
    assert 0.9 * 0.01 * sudden < float(stress[0]) < 0.01 * sudden
    assert float(stress[-1]) == pytest.approx(0.01 * equilibrium, abs=0.1)


@pytest.mark.parametrize("law", ["bilinear_traction", "salehani_irani_traction"])
def test_interfaces_unload_to_the_origin_and_fail_for_good(law):
    found = history(law, "opening")
    traction, jump, damage = found["traction"], found["jump"], found["damage"]
    assert damage.diff(dim=0).min() >= 0.0 and damage.max() <= 1.0
    closing = slice(20, 39)
    secant = traction[closing, 0, 0] / jump[closing, 0, 0]
    torch.testing.assert_close(secant, secant[:1].expand_as(secant), rtol=1e-9, atol=0.0)
    assert (damage[closing] == damage[19]).all()
    assert float(traction[:, 0, 0].max()) == pytest.approx(80.0, rel=0.02)
    assert float(traction[:, 1, 1].max()) == pytest.approx(100.0, rel=0.02)
    assert float(traction[-1].abs().max()) < 1e-6
    assert (traction * jump).sum(-1).min() >= 0.0
    # Beyond the energy of the first opening, what is left is that of the second one.
    energy = torch.trapezoid(traction[:, 0, 0], jump[:, 0, 0])
    expected = {"bilinear_traction": 0.969, "salehani_irani_traction": math.e * 80.0 * 1e-3}[law]
    assert float(energy) == pytest.approx(expected, rel=0.02)


def test_symmetric_crystals_keep_their_orientation():
    found = history("single_crystal", "tension")
    drift = (found["orientation"][-1] - found["orientation"][0]).norm(dim=-1)
    assert drift[:3].max() < 1e-6 < 1e-3 < float(drift[3])
    strength = found["stress"][-1, :, 2] - found["stress"][-1, :, 0]
    assert float(strength.max()) == float(strength[2]), "[111] is the strongest axis"
    assert found["slip_hardening"].diff(dim=0).min() >= 0.0


def test_coupled_and_decoupled_orientations_agree_to_the_step():
    one, two = history("single_crystal", "tension"), history("single_crystal_coupled", "tension")
    torch.testing.assert_close(one["orientation"], two["orientation"], rtol=0.0, atol=1e-4)
    torch.testing.assert_close(one["stress"], two["stress"], rtol=0.0, atol=1e-3 * float(one["stress"].abs().max()))


def test_the_polycrystal_has_the_mean_stress_of_its_grains():
    grains, whole = history("single_crystal", "tension")["stress"], history("taylor_polycrystal", "tension")
    torch.testing.assert_close(whole["mean_stress"], grains.mean(1), rtol=1e-6, atol=1e-4)


def test_a_tensile_test_has_no_lateral_stress():
    found = history("mixed_control", "tension")
    stress, strain = found["stress"], found["strain"]
    assert stress[..., 1:].abs().max() < 1e-6
    torch.testing.assert_close(strain[:, 0, 0], found["prescribed"][:, 0, 0], rtol=1e-12, atol=0.0)
    assert float(-strain[0, 0, 1] / strain[0, 0, 0]) == pytest.approx(POISSON, rel=1e-6)
    assert (-strain[-1, :, 1] / strain[-1, :, 0] > 0.45).all(), "nearly at constant volume when it flows"
    fast, middle, slow = stress[-1, :, 0].tolist()
    assert fast > middle > slow


def test_precipitates_grow_and_take_up_the_solute():
    found = history("precipitate_growth", "growth")
    number, volume, solute = found["number_density"], found["volume_fraction"], found["concentration"]
    torch.testing.assert_close(number.sum(-1), torch.full_like(volume, 1.5e-4), rtol=1e-6, atol=0.0)
    assert number.min() >= 0.0
    assert volume.diff(dim=0).min() > 0.0 > solute.diff(dim=0).max()
    torch.testing.assert_close(
        0.8 * volume + (1.0 - volume) * solute, torch.full_like(volume, 0.04), rtol=1e-6, atol=0.0
    )
