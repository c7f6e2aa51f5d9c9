"""Substeps of laws of many kinds: slip systems, grains, back stresses, several implicit updates, iterative solvers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from same_rows import assert_same, blocks_by_row, rows_of
from two_cubes import TWO_UPDATES

import matlaw
from matlaw.artifact import compile_model

ROWS = 11
GMRES = ["Solvers/lu/type:=GMRES", "Solvers/lu/rel_tol:=1e-9"]
STRAIN = ["Models/update/incremental_variables:='strain'"]
#: Name: overrides, most iterations (so that some rows need substeps), derivatives.
LAWS: dict[str, tuple[list[str], int, tuple[str, ...]]] = {
    "single_crystal": (
        ["Models/update/max_substepping_level:=6"],
        5,
        ("stress:deformation_rate", "orientation:vorticity"),
    ),
    "single_crystal-gmres": (
        ["Models/update/max_substepping_level:=6", *GMRES],
        5,
        ("stress:deformation_rate", "slip_hardening:t"),
    ),
    "taylor_polycrystal": (["Models/update/max_substepping_level:=6"], 5, ("mean_stress:deformation_rate",)),
    "taylor_polycrystal-gmres": (
        ["Models/update/max_substepping_level:=6", *GMRES],
        5,
        ("mean_stress:deformation_rate",),
    ),
    "chaboche2": (["Models/update/max_substepping_level:=6", *STRAIN], 8, ("stress:strain", "X1:strain", "stress:t")),
    "chaboche2-gmres": (["Models/update/max_substepping_level:=6", *STRAIN, *GMRES], 8, ("stress:strain",)),
    "chain": ([], 8, ("x:a", "y:a", "y:t")),
    "chain-gmres": (GMRES, 8, ("x:a", "y:a", "y:t")),
}
#: Shared artifacts with both kinds of graphs, and with all derivatives.
SHARED = ("single_crystal", "taylor_polycrystal", "chaboche2")
#: x' = a - x^3, then y' = x - y^3, each an implicit update of its own.
#: The first update takes substeps, which are those of the law.
SUBSTEPPED = TWO_UPDATES.replace(
    "    solver = 'newton'\n",
    "    solver = 'newton'\n    max_substepping_level = 6\n    incremental_variables = 'a'\n",
    1,
)
CHAIN = (
    """
[Models]
  [cube_x]
    type = ScalarMultiplication
    from = 'x x x'
    to = 'x3'
  []
  [rate_x]
    type = ScalarLinearCombination
    from = 'a x3'
    to = 'x_rate'
    weights = '1 -1'
  []
  [integrate_x]
    type = ScalarBackwardEulerTimeIntegration
    variable = 'x'
  []
  [cube_y]
    type = ScalarMultiplication
    from = 'y y y'
    to = 'y3'
  []
  [rate_y]
    type = ScalarLinearCombination
    from = 'x y3'
    to = 'y_rate'
    weights = '1 -1'
  []
  [integrate_y]
    type = ScalarBackwardEulerTimeIntegration
    variable = 'y'
  []
  [system_x]
    type = ComposedModel
    models = 'cube_x rate_x integrate_x'
  []
  [system_y]
    type = ComposedModel
    models = 'cube_y rate_y integrate_y'
  []
"""
    + SUBSTEPPED
    + """[Solvers]
  [newton]
    type = Newton
    linear_solver = 'lu'
  []
  [lu]
    type = DenseLU
  []
[]
"""
)


@pytest.fixture(scope="module")
def load(models: Path, artifact, tmp_path_factory) -> Callable[..., matlaw.runtime.CompiledModel]:
    """Loads a law of LAWS, compiled once."""
    folder = tmp_path_factory.mktemp("substeps")
    (folder / "chain.i").write_text(CHAIN)

    def compiled(name: str) -> Path:
        if name in SHARED:
            return artifact(f"{name}-substepping-both")
        overrides, _, derivatives = LAWS[name]
        law = name.removesuffix("-gmres")
        chain = law == "chain"
        source = folder / "chain.i" if chain else models / f"{law}.i"
        backend = "both" if chain else "native"
        if not (folder / name).exists():
            compile_model(source, "model", folder / name, derivatives, backend=backend, overrides=overrides, jobs=2)
        return folder / name

    def load(name: str, **options: str | int) -> matlaw.runtime.CompiledModel:
        loaded = matlaw.load_model(compiled(name) / "model", "model", **options)
        loaded.set_solver_config(miters=LAWS[name][1])
        return loaded

    return load


def inputs_of(law) -> dict[str, np.ndarray]:
    """Loads from small to large."""
    rng = np.random.default_rng(6)
    sizes = np.geomspace(2e-3, 1.0, ROWS)
    initial = {pair.old: np.array(pair.initial) for pair in law.state_pairs}
    inputs = {}
    for name, base, sub in zip(law.input_names, law.input_base_shapes, law.input_sub_batch_shapes, strict=True):
        shape = (*sub, *base)
        start = np.resize(initial.get(name, np.zeros(1)), int(np.prod(shape))).reshape(shape)
        inputs[name] = np.broadcast_to(start, (ROWS, *shape)).copy()
    inputs["t"] = np.full(ROWS, 1.0)
    if "a" in inputs:
        inputs["a"] = 300.0 * sizes
    if "strain" in inputs:
        inputs["strain"] = np.outer(sizes, 1e-2 * np.array([1.0, -0.4, -0.5, 0.2, 0.1, 0.3]))
    if "deformation_rate" in inputs:
        inputs["deformation_rate"] = np.outer(sizes, 2e-2 * np.array([1.0, -0.4, -0.6, 0.2, 0.1, 0.3]))
        inputs["vorticity"] = np.outer(sizes, 5e-3 * rng.normal(size=3))
        shape = inputs["orientation~1"].shape
        inputs["orientation~1"] = np.broadcast_to(0.2 * rng.normal(size=shape[1:]), shape).copy()
    return inputs


#: .pt2 graphs of iterative solves are those of `chain-gmres`.
laws = pytest.mark.parametrize(
    ("name", "backend"),
    [
        *[pytest.param(name, "native", id=f"native-{name}") for name in LAWS],
        *[
            pytest.param(name, "inductor", id=f"inductor-{name}", marks=pytest.mark.inductor)
            for name in LAWS
            if name in SHARED or name.startswith("chain")
        ],
    ],
)


def pairs_of(name: str) -> list[tuple[str, str]]:
    """The derivatives of a law that are looked at."""
    return [tuple(pair.split(":")) for pair in LAWS[name][2]]


@laws
def test_rows_get_through_as_eager_evaluation_says(load, name, backend):
    law = load(name, backend=backend)
    assert law.backend == backend
    inputs = inputs_of(law)
    found = law.evaluate(inputs, jacobian=True)
    assert not found.failed_rows
    assert found.substeps.max() > 2 > found.substeps.min()
    law.set_solver_config(max_substepping_level=0)
    failed = law.evaluate(inputs).failed_rows
    # Where substeps are allowed, rows have to meet more than rtol: others may take them, too.
    assert failed
    assert set(failed) <= {row for row in range(ROWS) if found.substeps[row] > 1}
    some = found.substeps <= 6  # eager evaluation takes its time
    assert found.substeps[some].max() > 2
    eager = load(name, runtime="eager").evaluate(rows_of(inputs, some), jacobian=True, pairs=pairs_of(name))
    np.testing.assert_array_equal(found.substeps[some], eager.substeps)
    for output, value in eager.outputs.items():
        scale = np.abs(value).max()
        np.testing.assert_allclose(found.outputs[output][some], value, rtol=1e-6, atol=1e-8 * scale)
    for output, given in pairs_of(name):
        block = eager.jacobian[output][given]
        scale = np.abs(block).max()
        np.testing.assert_allclose(found.jacobian[output][given][some], block, rtol=1e-5, atol=1e-6 * scale)


@laws
def test_the_tangent_through_substeps_is_the_slope(load, name, backend):
    law = load(name, backend=backend)
    law.set_solver_config(atol=1e-11, rtol=1e-12, miters=LAWS[name][1] + 1)
    inputs = inputs_of(law)
    found = law.evaluate(inputs, jacobian=True)
    assert not found.failed_rows
    assert found.substeps.max() > 2
    for output, given in pairs_of(name):
        size = int(np.prod(inputs[given].shape[1:]))
        h = 1e-5 * np.abs(inputs[given]).max()
        block = found.jacobian[output][given].reshape(*found.outputs[output].shape, size)
        for k in range(size):
            change = np.zeros(size)
            change[k] = h
            change = change.reshape(inputs[given].shape[1:])
            up = law.evaluate(inputs | {given: inputs[given] + change})
            down = law.evaluate(inputs | {given: inputs[given] - change})
            # Where a row takes other substeps its result is that of another discretisation.
            alike = (up.substeps == found.substeps) & (down.substeps == found.substeps)
            assert alike.sum() >= ROWS // 2
            slope = (up.outputs[output] - down.outputs[output]) / (2 * h)
            scale = np.abs(block[alike]).max()
            np.testing.assert_allclose(
                block[alike][..., k], slope[alike], atol=2e-3 * scale, err_msg=f"{output}:{given}"
            )


@laws
@pytest.mark.parametrize("options", [{"threads": 1, "max_chunk_rows": 1}, {"threads": 4, "max_chunk_rows": 7}])
def test_a_row_is_the_same_in_any_company(load, name, backend, options):
    law = load(name, backend=backend)
    inputs = inputs_of(law)
    expected = law.evaluate(inputs, jacobian=True)
    order = np.random.default_rng(3).permutation(ROWS)
    found = load(name, backend=backend, **options).evaluate(rows_of(inputs, order), jacobian=True)
    np.testing.assert_array_equal(found.substeps, expected.substeps[order])
    assert_same(found.outputs, rows_of(expected.outputs, order), backend)
    blocks = rows_of(blocks_by_row(expected.jacobian, ROWS), order)
    assert blocks
    assert_same(blocks_by_row(found.jacobian, ROWS), blocks, backend)


def test_substeps_are_said_on_the_log(load):
    from matlaw import logs

    said: list[tuple[str, str, str]] = []
    law = load("chain")
    logs.set_levels("substep=debug")
    logs.set_sink(lambda channel, level, text: said.append((channel, level, text)))
    try:
        law.evaluate(inputs_of(law))
    finally:
        logs.set_sink(None)
        logs.set_levels("substep=warn")
    summaries = [text for channel, level, text in said if (channel, level) == ("substep", "info")]
    assert len(summaries) == 1
    assert "rows took substeps" in summaries[0]
    assert "0 rows failed even so" in summaries[0]
    assert any("solved in" in text for _, level, text in said if level == "debug")
