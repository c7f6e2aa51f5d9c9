"""Bodies that nothing holds are refused by what they are free to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import stand_in
from write_input import Fields, dirichlet, generated, solid, text

from matlaw.cli.fe import main
from matlaw.errors import InputFileError
from matlaw.fe import RunResult, run

PULL = {"type": "NeumannBC", "variable": "disp_x", "boundary": "right", "value": 10.0}
CORNERS: Fields = {
    "origin": {"type": "ExtraNodesetGenerator", "input": "box", "new_boundary": "origin", "coord": "0 0 0"},
    "far_x": {"type": "ExtraNodesetGenerator", "input": "origin", "new_boundary": "far_x", "coord": "1 0 0"},
    "far_y": {"type": "ExtraNodesetGenerator", "input": "far_x", "new_boundary": "far_y", "coord": "0 1 0"},
}


@pytest.fixture
def go(stand_in_law: Callable[[object], None], tmp_path: Path) -> Callable[..., RunResult]:
    """Runs an input with a linear elastic law."""

    def attempt(source: str) -> RunResult:
        stand_in_law(stand_in.ElasticLaw(200000.0, 0.3))
        (tmp_path / "law.i").write_text("")
        (tmp_path / "case.i").write_text(source)
        return run(tmp_path / "case.i", output=tmp_path, quiet=True)

    return attempt


def held(*conditions: tuple[str, str]) -> dict[str, Fields]:
    return {f"held{i}": dirichlet(variable, where, 0) for i, (variable, where) in enumerate(conditions)}


@pytest.mark.parametrize(
    ("dim", "conditions", "free"),
    [
        (2, [], ["translation along x (disp_x)", "translation along y (disp_y)", "rotation about z"]),
        (2, [("disp_x", "left")], ["translation along y (disp_y)"]),
        (2, [("disp_x", "origin"), ("disp_y", "origin")], ["rotation about z"]),
        (3, [("disp_x", "left")], ["translation along y (disp_y)", "translation along z (disp_z)", "rotation about x"]),
        (3, [(f"disp_{axis}", "origin") for axis in "xyz"], [f"rotation about {axis}" for axis in "xyz"]),
        (3, [(f"disp_{axis}", name) for axis in "xyz" for name in ("origin", "far_x")], ["rotation about x"]),
    ],
)
def test_what_is_free_is_named(
    go: Callable[..., RunResult],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    dim: int,
    conditions: list[tuple[str, str]],
    free: list[str],
) -> None:
    mesh = {**generated(dim, "QUAD4" if dim == 2 else "HEX8", 2), **CORNERS}
    with pytest.raises(InputFileError) as caught:
        go(solid(dim, mesh, BCs={"pull": PULL, **held(*conditions)}))
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'case.i'}:")
    assert "[BCs]: nothing holds block '0' against " in message
    named = message.partition(" against ")[2].partition(": the equations")[0]
    assert named.split(", ") == free
    capsys.readouterr()
    assert main([str(tmp_path / "case.i"), "-q", "-o", str(tmp_path), "--no-png"]) == 2
    assert "nothing holds" in capsys.readouterr().err


def test_as_many_supports_as_there_are_motions_do(go: Callable[..., RunResult]) -> None:
    """Three at a corner, two at the next, one at a third: the bar is in uniaxial stress, with no force in a support."""
    supports = [(f"disp_{axis}", "origin") for axis in "xyz"]
    supports += [("disp_y", "far_x"), ("disp_z", "far_x"), ("disp_z", "far_y")]
    pulls = {"pull": PULL, "push": {**PULL, "boundary": "left", "value": -10.0}}
    mesh = {**generated(3, "HEX8", 2), **CORNERS}
    result = go(solid(3, mesh, BCs={**pulls, **held(*supports)}))
    expected = result.problem.mesh.points * np.array([1.0, -0.3, -0.3]) * (10.0 / 200000.0)
    np.testing.assert_allclose(result.problem.displacement(), expected, atol=1e-12)


def test_each_part_has_to_be_held(go: Callable[..., RunResult]) -> None:
    """A strip of which the middle is taken out: the right part is free."""
    box = {"input": "", "bottom_left": "0 0 0", "top_right": "0 0 0"}
    mesh = {
        **generated(2, "QUAD4", 3),
        "right": {
            "type": "SubdomainBoundingBoxGenerator",
            **box,
            "input": "box",
            "block_id": 2,
            "bottom_left": "0.6 0 0",
            "top_right": "1 1 0",
        },
        "hole": {
            "type": "SubdomainBoundingBoxGenerator",
            **box,
            "input": "right",
            "block_id": 1,
            "bottom_left": "0.3 0 0",
            "top_right": "0.7 1 0",
        },
        "parts": {"type": "BlockDeletionGenerator", "input": "hole", "block": "1"},
    }
    with pytest.raises(
        Exception, match=r"nothing holds block '2' \(the part around 0.833, 0.5, 0\) against translation along y"
    ) as caught:
        go(
            solid(
                2,
                mesh,
                BCs={"pull": dirichlet("disp_x", "right", 0.001), **held(("disp_x", "left"), ("disp_y", "left"))},
            )
        )
    assert "block '0'" not in str(caught.value)


def test_an_axis_of_symmetry_holds_but_for_its_own_direction(go: Callable[..., RunResult]) -> None:
    mesh = {**generated(2, "QUAD4", 2), "coord_type": "RZ"}
    names = {"GlobalParams": {"displacements": "disp_x disp_y"}}
    source = solid(2, mesh, BCs={"pull": {**PULL, "variable": "disp_x"}})
    assert names["GlobalParams"]["displacements"] in source
    with pytest.raises(
        Exception, match=r"nothing holds block '0' against translation along y \(disp_y\): the equations"
    ):
        go(source)
    go(solid(2, mesh, BCs={"pull": PULL, **held(("disp_y", "bottom"))}))


def test_a_steady_temperature_needs_a_level(go: Callable[..., RunResult]) -> None:
    def source(**conditions: Fields) -> str:
        return text(
            Mesh=generated(2, "QUAD4", 2),
            Variables={"temperature": {}},
            Kernels={"conduction": {"type": "HeatConduction", "variable": "temperature"}},
            Materials={
                "k": {"type": "GenericConstantMaterial", "prop_names": "thermal_conductivity", "prop_values": 3}
            },
            BCs=conditions,
        )

    flux = {"type": "NeumannBC", "variable": "temperature", "boundary": "right", "value": 1.0}
    with pytest.raises(InputFileError, match="nothing holds block '0' against a change of 'temperature' as a whole"):
        go(source(flux=flux))
    air = {
        "type": "ConvectiveFluxFunction",
        "variable": "temperature",
        "boundary": "left",
        "T_infinity": 20,
        "coefficient": 5,
    }
    assert go(source(flux=flux, air=air)).records
