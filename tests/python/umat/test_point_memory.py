"""A host that asks for the same again gets the same, remembered or computed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from umat_host import Point, Umat

Plugins = Callable[..., Umat]
STRAIN = np.array([2e-3, -1e-3, -9e-4, 1.2e-3, -5e-4, 6e-4])


@pytest.fixture
def pair(plugin: Plugins, tmp_path: Path) -> Callable[[str], tuple[Umat, Umat]]:
    """``pair("j2_plastic-native")``: the plugin as it is, and one without memory."""

    def load(name: str) -> tuple[Umat, Umat]:
        with_memory, without = plugin(name, "memory"), plugin(name, "none")
        settings = tmp_path / "none.umat.i"
        text = settings.read_text()
        assert "point_memory = '256'" in text
        settings.write_text(text.replace("point_memory = '256'", "point_memory = '0'"))
        return with_memory, without

    return load


def results(umat: Umat, kind: tuple[int, int], strain: np.ndarray, statev: np.ndarray, **more: float) -> np.ndarray:
    """Everything that a call writes."""
    p = Point(kind=kind, strain_increment=strain, statev=statev.copy(), **more)
    umat(p)
    return np.concatenate([p.stress, p.statev, p.ddsdde, [p.pnewdt]])


@pytest.mark.parametrize("name", ["j2_plastic-native", "j2_viscoplastic-native"])
@pytest.mark.parametrize("kind", [(3, 3), (3, 1), (2, 1), (1, 0)])
def test_every_order_of_calls_gives_the_same_bits(
    pair: Callable[[str], tuple[Umat, Umat]], name: str, kind: tuple[int, int]
) -> None:
    """All calls are for one element and point, as hosts do that do not number theirs: what differs is the rest."""
    with_memory, without = pair(name)
    rng = np.random.default_rng(5)
    strain = STRAIN[: sum(kind)]
    states = [np.zeros(20), np.abs(rng.normal(scale=1e-3, size=20))]
    calls = [(scale * strain, state, dt) for scale in (0.1, 1.0) for state in states for dt in (1.0, 2.0)]
    order = np.repeat(rng.permutation(len(calls) * 3) % len(calls), 2)
    for k in order:
        strain_increment, state, dt = calls[k]
        mine = results(with_memory, kind, strain_increment, state, dt=dt)
        assert mine.tobytes() == results(without, kind, strain_increment, state, dt=dt).tobytes()


def test_a_failing_call_is_not_remembered(plugin: Plugins, capfd: pytest.CaptureFixture[str]) -> None:
    umat = plugin("j2_viscoplastic-native")
    good = results(umat, (3, 3), STRAIN, np.zeros(20))
    for _ in range(2):
        bad = results(umat, (3, 3), STRAIN * np.array([np.nan, 1, 1, 1, 1, 1]), np.zeros(20))
        assert bad[-1] < 1.0
    assert results(umat, (3, 3), STRAIN, np.zeros(20)).tobytes() == good.tobytes()
    assert "is nan" in capfd.readouterr().err


def test_other_props_are_another_law(plugin: Plugins) -> None:
    umat = plugin("linear_elastic-parameters")
    for E in (2.0, 2.0, 3.0, 3.0, 2.0):
        p = Point(n_statev=1, props=(E, 0.0), strain_increment=np.array([0.5, 0, 0, 0, 0, 0]))
        umat(p)
        assert p.stress[0] == pytest.approx(0.5 * E, rel=1e-14)
