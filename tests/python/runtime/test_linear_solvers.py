"""Linear solvers of an input file: every method against dense LU, in eager and compiled laws."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from same_rows import assert_same, rows_of

import matlaw
from matlaw import FatalError, Status
from matlaw.artifact import compile_model

E = "update.system.elasticity.E"
ROWS = 21
#: Name, options of the linear solver, preconditioner.
CASES = [
    ("gmres", "type = GMRES", ""),
    ("short-gmres", "type = GMRES\n restart = 5\n rel_tol = 1e-8", ""),
    ("bicgstab", "type = BiCGStab\n rel_tol = 1e-6", ""),
    ("jacobi", "type = GMRES\n rel_tol = 1e-2\n preconditioner = pre", "JacobiPreconditioner"),
    (
        "block-jacobi",
        "type = GMRES\n preconditioner = pre\n cache_strategy = max_its\n cache_max_its = 3",
        "BlockJacobiPreconditioner",
    ),
    ("full", "type = BiCGStab\n preconditioner = pre\n cache_strategy = none", "FullPreconditioner"),
    ("none", "type = BiCGStab\n preconditioner = pre", "NoPreconditioner"),
]


def states() -> dict[str, torch.Tensor]:
    """Rows from nothing to beyond yield, and one that is too much for the law."""
    rng = np.random.default_rng(4)
    direction = rng.normal(size=(ROWS, 6))
    scale = np.linspace(0, 2.5e-3, ROWS)[:, None] / np.linalg.norm(direction, axis=1, keepdims=True)
    scale[-1] *= 1e3
    return {
        "strain": torch.tensor(direction * scale),
        "plastic_strain~1": torch.zeros(ROWS, 6, dtype=torch.float64),
        "equivalent_plastic_strain~1": torch.tensor(rng.uniform(0, 1e-3, ROWS)),
        "t": torch.ones(ROWS, dtype=torch.float64),
        "t~1": torch.zeros(ROWS, dtype=torch.float64),
    }


@pytest.fixture(scope="module")
def law(models: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., tuple[Path, Path]]:
    """Input file and stub of the viscoplastic law with a linear solver; compiled once for each."""
    folder = tmp_path_factory.mktemp("linear")
    source = (models / "j2_viscoplastic.i").read_text()
    assert source.count("type = DenseLU") == 1
    assert source.count("  [lu]") == 1

    def build(name: str, options: str = "type = DenseLU", preconditioner: str = "", update: str = "") -> tuple:
        path, stub = folder / f"{name}.i", folder / name / "model_aoti.i"
        if not stub.exists():
            text = source.replace("type = DenseLU", options)
            text = text.replace("predictor = 'predictor'", f"predictor = 'predictor'\n{update}")
            others = "  [exact]\n type = DenseLU\n []\n  [loose]\n type = GMRES\n rel_tol = 1e-9\n []\n"
            others += f"  [pre]\n type = {preconditioner}\n []\n" if preconditioner else ""
            path.write_text(text.replace("  [lu]", f"{others}  [lu]"))
            derivatives = ("stress:strain", "plastic_strain:t", f"stress:{E}")
            compile_model(
                path, "model", stub.parent, derivatives=derivatives, parameters=(E,), backend="native", verify="quick"
            )
        return path, stub

    return build


@pytest.mark.parametrize(("name", "options", "preconditioner"), CASES, ids=[case[0] for case in CASES])
def test_a_krylov_law_gives_what_dense_lu_gives(law, name, options, preconditioner):
    expected = matlaw.load_model(law("lu")[1], "model")
    path, stub = law(name, options, preconditioner)
    compiled = matlaw.load_model(stub, "model")
    inputs = states()
    r, c, e = (m.evaluate(inputs, jacobian=True) for m in (expected, compiled, matlaw.load_model(path, "model")))
    assert r.status.tolist() == [Status.CONVERGED] * (ROWS - 1) + [Status.NOT_CONVERGED]
    assert c.status.tolist() == r.status.tolist()
    assert e.status.tolist() == r.status.tolist()
    for found in (c, e):
        for output in ("stress", "plastic_strain"):
            scale = float(r.outputs[output][:-1].abs().max())
            assert float((found.outputs[output] - r.outputs[output])[:-1].abs().max()) < 1e-7 * scale
        block, reference = found.jacobian["stress"]["strain"][:-1], r.jacobian["stress"]["strain"][:-1]
        assert float((block - reference).abs().max()) < 1e-5 * float(reference.abs().max())
    good = {k: v[:-1] for k, v in inputs.items()}
    by = [m.param_jacobian(good)["stress"][E] for m in (expected, compiled)]
    torch.testing.assert_close(by[1], by[0], rtol=1e-5, atol=1e-8 * float(by[0].abs().max()))


@pytest.mark.parametrize(
    ("name", "backend"),
    [("gmres", "native"), ("full", "native"), pytest.param("shared", "inductor", marks=pytest.mark.inductor)],
)
def test_a_row_is_the_same_in_any_order_and_chunk(law, artifact, name, backend):
    if name == "shared":
        stub = artifact("j2_krylov-both") / "model_aoti.i"
    else:
        _, options, preconditioner = next(case for case in CASES if case[0] == name)
        stub = law(name, options, preconditioner)[1]
    inputs = {k: v.repeat(5, *[1] * (v.dim() - 1)) for k, v in states().items()}
    whole = matlaw.load_model(stub, "model", backend=backend, threads=1).evaluate(inputs, jacobian=True)
    order = torch.randperm(5 * ROWS, generator=torch.Generator().manual_seed(1))
    for rows, chunk in ((order, 8), (order, 24), ([3], 24)):
        part = matlaw.load_model(stub, "model", backend=backend, max_chunk_rows=chunk)
        found = part.evaluate(rows_of(inputs, rows), jacobian=True)
        assert found.iterations.tolist() == whole.iterations[rows].tolist()
        assert_same(found.outputs, rows_of(whole.outputs, rows), backend)
        assert_same(found.jacobian["stress"], rows_of(whole.jacobian["stress"], rows), backend)


@pytest.mark.parametrize("by", ["input", "param"])
def test_sensitivities_may_be_iterative(law, by):
    path, stub = law(f"sensitive-{by}", update=f"{by}_sensitivity_solver = loose")
    metadata = json.loads((stub.parent / "model" / "metadata.json").read_text())
    segment = metadata["segments"][0]
    other = "param" if by == "input" else "input"
    assert segment[f"{by}_sensitivity"]["kind"] == "krylov"
    assert segment[f"{by}_sensitivity"]["krylov"]["rel_tol"] == 1e-9
    assert segment[f"{other}_sensitivity"] == {"kind": "direct"}
    graphs = segment["graphs"]
    assert ("solve_ift" in graphs) == (by == "param")
    assert ("solve_param" in graphs) == (by == "input")
    # Where the iterative solution is cut into blocks.
    assert graphs["jacobian_given"]["pairs"] == [
        {"output": "plastic_strain", "input": "strain", "row_offset": 0, "col_offset": 0},
        {"output": "plastic_strain", "input": "t", "row_offset": 0, "col_offset": 6},
    ]
    assert graphs["dr_dparam"]["pairs"] == [
        {"output": "plastic_strain", "parameter": E, "row_offset": 0, "col_offset": 0}
    ]
    inputs = {k: v[:-1] for k, v in states().items()}
    laws = [matlaw.load_model(p, "model") for p in (law("lu")[1], stub, path)]
    for output, given in (("stress", "strain"), ("plastic_strain", "t")):
        expected, *found = [m.jacobian(inputs)[1][output][given] for m in laws]
        for block in found:
            assert float((block - expected).abs().max()) < 1e-6 * float(expected.abs().max())
    expected, *found = [m.param_jacobian(inputs)["stress"][E] for m in laws]
    for block in found:
        assert float((block - expected).abs().max()) < 1e-6 * float(expected.abs().max())


@pytest.mark.inductor
@pytest.mark.parametrize("backend", ["native", "inductor"])
def test_methods_and_caches_on_both_kinds_of_graphs(artifact, law, backend):
    """Newton steps and derivatives by inputs are iterative, those by parameters direct."""
    stub = artifact("j2_krylov-both") / "model_aoti.i"
    expected = matlaw.load_model(law("lu")[1], "model")
    inputs = states()
    good = {k: v[:-1] for k, v in inputs.items()}
    reference, by_parameter = expected.evaluate(inputs, jacobian=True), expected.param_jacobian(good)["stress"][E]
    for settings in (
        {"method": "gmres", "restart": 40, "cache_strategy": "none"},
        {"method": "gmres", "restart": 3, "cache_strategy": "chord"},
        {"method": "gmres", "restart": 40, "cache_strategy": "max_its", "cache_max_its": 2},
        {"method": "bicgstab", "cache_strategy": "none"},
        {"method": "bicgstab", "cache_strategy": "chord"},
    ):
        compiled = matlaw.load_model(stub, "model", backend=backend)
        assert compiled.backend == backend
        compiled.set_solver_config(krylov=settings)
        found = compiled.evaluate(inputs, jacobian=True)
        assert found.status.tolist() == reference.status.tolist()
        for value, other, tolerance in (
            (found.outputs["stress"][:-1], reference.outputs["stress"][:-1], 1e-7),
            (found.jacobian["stress"]["strain"][:-1], reference.jacobian["stress"]["strain"][:-1], 1e-5),
            (compiled.param_jacobian(good)["stress"][E], by_parameter, 1e-5),
        ):
            assert float((value - other).abs().max()) < tolerance * float(other.abs().max()), settings


@pytest.mark.inductor
@pytest.mark.parametrize("backend", ["native", "inductor"])
@pytest.mark.parametrize("method", ["gmres", "bicgstab"])
def test_all_derivatives_may_be_iterative_on_both_kinds_of_graphs(artifact, law, method, backend):
    exact = matlaw.load_model(law("lu")[1], "model")
    iterative = matlaw.load_model(artifact("j2_krylov_sensitivities-both"), "model", backend=backend)
    assert iterative.backend == backend
    inputs = {k: v[:-1] for k, v in states().items()}
    seed = {"stress": torch.ones(ROWS - 1, 6, dtype=torch.float64)}

    def errors(rel_tol: float) -> list[float]:
        tolerance = {"method": method, "rel_tol": rel_tol}
        iterative.set_solver_config(input_sensitivity=tolerance, param_sensitivity=tolerance)
        found, expected = (
            [
                m.jacobian(inputs)[1]["stress"]["strain"],
                m.param_jacobian(inputs)["stress"][E],
                m.param_vjp(inputs, seed)[E],
            ]
            for m in (iterative, exact)
        )
        return [float((a - b).abs().max() / b.abs().max()) for a, b in zip(found, expected, strict=True)]

    segment = json.loads((artifact("j2_krylov_sensitivities-both") / "model" / "metadata.json").read_text())[
        "segments"
    ][0]
    assert segment["input_sensitivity"]["kind"] == segment["param_sensitivity"]["kind"] == "krylov"
    assert not {"solve_ift", "solve_param"} & set(segment["graphs"])
    # Newton steps are iterative as well, with the tolerance of the input file.
    assert max(errors(1e-12)) < 1e-6
    # What the preconditioner leaves of a derivative by a parameter lies in the direction of flow: one step solves it.
    by_strain, *by_parameter = errors(0.3)
    assert 1e-4 < by_strain < 1.0
    assert max(by_parameter) < 1e-6


def test_graphs_and_metadata_of_a_krylov_law(law):
    name, options, preconditioner = CASES[4]
    metadata = json.loads((law(name, options, preconditioner)[1].parent / "model" / "metadata.json").read_text())
    assert metadata["solver_config"]["solver_kind"] == "krylov"
    assert metadata["solver_config"]["krylov"] == {
        "method": "gmres",
        "restart": 40,
        "max_its": 1000,
        "abs_tol": 0.0,
        "rel_tol": 1e-4,
        "cache_strategy": "max_its",
        "cache_max_its": 3,
    }
    segment = metadata["segments"][0]
    assert segment["linear_solver"] == {
        "kind": "krylov",
        "preconditioner": [{"offset": 0, "size": 6}, {"offset": 6, "size": 1}],
    }
    graphs = segment["graphs"]
    assert "solve" not in graphs
    assert {"residual", "matvec", "precond_setup", "precond_apply", "jacobian", "solve_ift"} <= set(graphs)
    assert 0 < metadata["verification"]["cpu/float64/model_seg0_matvec"]["native"] < 1e-10


def test_tolerances_can_be_changed_at_run_time(law):
    loaded = matlaw.load_model(law(*CASES[0])[1], "model")
    inputs = {k: v[5:-1] for k, v in states().items()}
    assert loaded.solver_config["krylov"]["rel_tol"] == 1e-4
    assert loaded.evaluate(inputs).failed_rows == []
    loaded.set_solver_config(krylov={"rel_tol": 1e-12, "max_its": 1})
    assert loaded.solver_config["krylov"]["rel_tol"] == 1e-12
    assert loaded.solver_config["krylov"]["restart"] == 40
    failed = loaded.evaluate(inputs).failed_rows
    assert 0 < len(failed) < ROWS - 6  # those that yield need more than one product
    loaded.set_solver_config(krylov={"method": "bicgstab", "rel_tol": 1e-6, "max_its": 100})
    assert loaded.evaluate(inputs).failed_rows == []
    for wrong, message in (({"rel_tol": 2.0}, "krylov.rel_tol"), ({"tol": 1.0}, "krylov.tol"), (3, "a dict")):
        with pytest.raises(FatalError, match=message):
            loaded.set_solver_config(krylov=wrong)
    direct = matlaw.load_model(law("lu")[1], "model")
    with pytest.raises(FatalError, match="compiled with a direct linear solver"):
        direct.set_solver_config(krylov={"rel_tol": 1e-3})
