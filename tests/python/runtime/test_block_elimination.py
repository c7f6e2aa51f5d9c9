"""Block elimination and several implicit updates: laws that need more of the runtime than one dense system."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from two_cubes import TWO_CUBES

import matlaw
from matlaw import Status
from matlaw.artifact import compile_model

#: Each grain relaxes towards the mean of all, which is an unknown of its own.
GRAINS = """
[Models]
  [grain]
    type = SR2LinearCombination
    from = 'x x~1 mean strain'
    to = 'x_residual'
    weights = '1.5 -1 -0.25 -0.5'
  []
  [average]
    type = SR2IntermediateMean
    from = 'x'
    to = 'average'
    reduces = 'grain'
  []
  [balance]
    type = SR2LinearCombination
    from = 'mean average strain'
    to = 'mean_residual'
    weights = '2 -1 0.125'
  []
  [system]
    type = ComposedModel
    models = 'grain average balance'
  []
  [model]
    type = ImplicitUpdate
    equation_system = 'equations'
    solver = 'newton'
  []
[]
[EquationSystems]
  [equations]
    type = NonlinearSystem
    model = 'system'
    unknowns = 'x; mean'
    structure = 'block dense'
  []
[]
[Solvers]
  [newton]
    type = Newton
    linear_solver = 'SOLVER'
  []
  [lu]
    type = DenseLU
  []
  [schur]
    type = SchurComplement
    primary_solver = 'lu'
    schur_solver = 'lu'
  []
[]
[Settings]
  [example_batch_shape]
    x = '(2; 3)'
  []
[]
"""


@pytest.fixture
def laws(tmp_path: Path) -> dict[str, Path]:
    """Stubs of the law of grains by linear solver."""
    found = {}
    for solver in ("lu", "schur"):
        path = tmp_path / f"{solver}.i"
        path.write_text(GRAINS.replace("SOLVER", solver))
        compile_model(
            path,
            "model",
            tmp_path / solver,
            derivatives=("mean:strain",),
            backend="both" if solver == "schur" else "native",
            jobs=2,
        )
        found[solver] = tmp_path / solver / "model_aoti.i"
    return found


def test_a_compiled_law_eliminates_its_grains_one_by_one(laws: dict[str, Path]) -> None:
    metadata = json.loads((laws["schur"].parent / "model" / "metadata.json").read_text())
    blocks = metadata["segments"][0]["linear_solver"]["elimination"]
    # Every component of every grain has an equation without the others: only the mean couples them.
    assert len(blocks) == 18
    assert all(len(block["rows"]) == 1 and block["rows"] == block["columns"] for block in blocks)
    torch.manual_seed(0)
    inputs = {
        "x~1": torch.rand(11, 3, 6, dtype=torch.float64),
        "strain": torch.rand(11, 6, dtype=torch.float64),
    }
    results = [
        matlaw.load_model(path, "model").evaluate(inputs, jacobian=True)
        for path in (laws["lu"], laws["schur"], laws["schur"].parent.parent / "schur.i")
    ]
    packages = matlaw.load_model(laws["schur"], "model", backend="inductor")
    assert packages.backend == "inductor"
    results.append(packages.evaluate(inputs, jacobian=True))
    for result in results[1:]:
        assert result.status.tolist() == [Status.CONVERGED] * 11
        torch.testing.assert_close(result.outputs["x"], results[0].outputs["x"])
        torch.testing.assert_close(result.outputs["mean"], results[0].outputs["mean"])
        torch.testing.assert_close(result.jacobian["mean"]["strain"], results[0].jacobian["mean"]["strain"])
    mean = results[1].outputs["mean"]
    torch.testing.assert_close(2 * mean + inputs["strain"] / 8, results[1].outputs["x"].mean(1))


CHAIN = f"""{TWO_CUBES}
[Solvers]
  [newton]
    type = Newton
    rel_tol = 1e-14
    abs_tol = 1e-13
    linear_solver = 'linear'
  []
  [linear]
    SOLVER
  []
  [diagonal]
    type = JacobiPreconditioner
  []
[]
"""


@pytest.mark.parametrize("solver", ["type = DenseLU", "type = GMRES\npreconditioner = diagonal"])
def test_two_implicit_updates_in_one_artifact(tmp_path: Path, solver: str) -> None:
    path = tmp_path / "chain.i"
    path.write_text(CHAIN.replace("SOLVER", solver))
    compile_model(path, "model", tmp_path / "aoti", derivatives=("y:a", "x:a"), backend="native")
    law = matlaw.load_model(tmp_path / "aoti" / "model_aoti.i", "model")
    a = torch.linspace(-3, 3, 23, dtype=torch.float64)
    outputs, jacobian = law.jacobian({"a": a})
    x, y = outputs["x"], outputs["y"]
    torch.testing.assert_close(x**3 + x, a)
    torch.testing.assert_close(y**3 + y, x + a)
    by_x = 1 / (3 * x**2 + 1)
    torch.testing.assert_close(jacobian["x"]["a"], by_x)
    torch.testing.assert_close(jacobian["y"]["a"], (1 + by_x) / (3 * y**2 + 1))
    eager = matlaw.load_model(path, "model").forward({"a": a})
    torch.testing.assert_close(eager["y"], y)


def test_pt2_graphs_of_an_iterative_law(tmp_path: Path) -> None:
    path = tmp_path / "cube.i"
    path.write_text(CHAIN.replace("SOLVER", "type = BiCGStab\npreconditioner = diagonal\ncache_strategy = chord"))
    compile_model(path, "update_x", tmp_path / "aoti", derivatives=("x:a",), backend="both")
    a = torch.linspace(-3, 3, 23, dtype=torch.float64)
    for backend in ("native", "inductor"):
        law = matlaw.load_model(tmp_path / "aoti" / "update_x_aoti.i", "update_x", backend=backend)
        assert law.backend == backend
        outputs, jacobian = law.jacobian({"a": a})
        x = outputs["x"]
        torch.testing.assert_close(x**3 + x, a)
        torch.testing.assert_close(jacobian["x"]["a"], 1 / (3 * x**2 + 1))
