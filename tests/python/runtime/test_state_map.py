"""Segments of a compiled law read what those before them wrote, by name, however long ago."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from chain_of_updates import CHAIN

import matlaw
from matlaw.artifact import compile_model

DT = np.array([2.0, 4.0, 0.5])
INPUTS = {
    "a": np.array([1.0, 2.0, -3.0]),
    "u~1": np.array([0.5, 1.0, 0.0]),
    "v~1": np.array([0.25, -0.5, 7.0]),
    "t": 1.0 + DT,
    "t~1": np.ones(3),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("chain")
    (place / "law.i").write_text(CHAIN)
    compile_model(place / "law.i", "m", place, (":",), backend="native")
    return place / "m"


def test_what_segments_take_and_give(folder: Path) -> None:
    """``s`` of the third segment is read by the fifth, ``t`` of the caller by the second and the fourth."""
    segments = json.loads((folder / "metadata.json").read_text())["segments"]
    assert [(s["kind"], s["inputs"], s["outputs"]) for s in segments] == [
        ("forward", ["a"], ["u_rate"]),
        ("implicit", ["u~1", "t", "t~1", "u_rate"], ["u"]),
        ("forward", ["a", "u"], ["s", "v_rate"]),
        ("implicit", ["v~1", "t", "t~1", "v_rate"], ["v"]),
        ("forward", ["v", "s"], ["w"]),
    ]


def test_values_and_derivatives_by_hand(folder: Path) -> None:
    law = matlaw.load_model(folder)
    a, v = INPUTS["a"], INPUTS["v~1"]
    u = INPUTS["u~1"] + 2 * a * DT
    expected = {"u": u, "v": v + (u + 5 * a) * DT, "w": v + (u + 5 * a) * DT + 5 * a}
    found, blocks = law.jacobian(INPUTS)
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-12)
    by = {"a": (2 * DT + 5) * DT + 5, "u~1": DT, "v~1": 1.0 + 0 * DT, "t": 2 * a * DT + u + 5 * a}
    for name, value in by.items():
        np.testing.assert_allclose(np.broadcast_to(blocks["w"][name], 3), value, rtol=1e-12)


def test_directional_derivatives_by_hand(folder: Path) -> None:
    """Two directions at once, of a variable that every segment depends on and of one that is read late."""
    law = matlaw.load_model(folder)
    da, dv = np.array([1.0, -0.5, 0.25]), np.array([3.0, 0.0, -1.0])
    _, along = law.jvp(INPUTS, {"a": da, "v~1": dv})
    du = 2 * da * DT
    np.testing.assert_allclose(along["u"], du, rtol=1e-12)
    np.testing.assert_allclose(along["v"], dv + (du + 5 * da) * DT, rtol=1e-12)
    np.testing.assert_allclose(along["w"], dv + (du + 5 * da) * DT + 5 * da, rtol=1e-12)
