"""Laws that reduce a batch axis: shapes, chains of reductions, derivatives for a change in all rows alike."""

import pytest
import torch

from matlaw.artifact.plan import Planner
from matlaw.artifact.request import Request
from matlaw.eager import load_model
from matlaw.errors import CompileError, FatalError, InputError, InputFileError

MEAN = "[mean]\ntype = SR2DynamicMean\nfrom = stress\nto = mean\ndim = {dim}\n[]\n"
#: Means of 2 grad x.x, so that a derivative differs from row to row.
WEIGHTED = """[norm]
  type = SR2Invariant
  invariant_type = VONMISES
  tensor = strain
  invariant = norm
[]
[scaled]
  type = ScalarToDiagonalSR2
  input = norm
  output = stress
[]
"""


def law(write, models, name="model"):
    return load_model(write(f"[Models]\n{models}\n[]"), name)


def composed(members, more=""):
    return f"[model]\ntype = ComposedModel\nmodels = '{members}'\n{more}[]\n"


def random(*shape):
    return torch.rand(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(5)) + 0.1


@pytest.mark.parametrize("dim", [0, 1, -1, -2])
def test_result_lacks_the_axis(write, dim):
    x = random(4, 3, 6)
    found = law(write, MEAN.format(dim=dim), "mean").forward({"stress": x})["mean"]
    torch.testing.assert_close(found, x.mean(dim % 2))


def test_one_reduction_after_the_other(write):
    total = "[total]\ntype = SR2DynamicSum\nfrom = mean\nto = total\ndim = 0\n[]\n"
    x = random(4, 3, 6)
    found = law(write, MEAN.format(dim=0) + total + composed("mean total", "additional_outputs = mean\n"))
    outputs = found.forward({"stress": x})
    torch.testing.assert_close(outputs["mean"], x.mean(0))
    torch.testing.assert_close(outputs["total"], x.mean(0).sum(0))


def test_what_also_depends_on_rows_keeps_its_axes(write):
    sum_ = "[diff]\ntype = SR2LinearCombination\nfrom = 'stress mean'\nto = diff\nweights = '1 -1'\n[]\n"
    x = random(2, 5, 6)
    found = law(write, MEAN.format(dim=-1) + sum_ + composed("mean diff")).forward({"stress": x})["diff"]
    torch.testing.assert_close(found, x - x.mean(1, keepdim=True))


def test_value_without_the_axis_is_repeated(write):
    total = "[model]\ntype = SR2DynamicSum\nfrom = a\nto = total\ndim = 0\n[]\n"
    pair = "[pair]\ntype = SR2LinearCombination\nfrom = 'a b'\nto = pair\n[]\n"
    both = "[law]\ntype = ComposedModel\nmodels = 'model pair'\n[]\n"
    found = law(write, total + pair + both, "law").forward({"a": random(6), "b": random(3, 6)})
    torch.testing.assert_close(found["total"], 3.0 * random(6))
    assert found["pair"].shape == (3, 6)


def test_derivative_is_for_a_change_in_all_rows(write):
    model = law(write, WEIGHTED + MEAN.format(dim=1) + composed("norm scaled mean"))
    x = random(2, 3, 6)
    value, blocks = model.jacobian({"strain": x})
    found = blocks["mean"]["strain"]
    assert value["mean"].shape == (2, 6)
    assert found.shape == (2, 6, 6)
    for c in range(6):
        step = torch.zeros(6, dtype=torch.float64)
        step[c] = 1e-6
        sides = [model.forward({"strain": x + sign * step})["mean"] for sign in (1, -1)]
        torch.testing.assert_close(found[..., c], (sides[0] - sides[1]) / 2e-6, rtol=1e-7, atol=1e-8)
    tangent = random(2, 3, 6) - 0.5
    step = 1e-6 * tangent
    sides = [model.forward({"strain": x + sign * step})["mean"] for sign in (1, -1)]
    pushed = model.jvp({"strain": x}, {"strain": tangent})[1]["mean"]
    torch.testing.assert_close(pushed, (sides[0] - sides[1]) / 2e-6, rtol=1e-7, atol=1e-8)


def test_axis_that_is_not_there(write):
    model = law(write, MEAN.format(dim=2), "mean")
    with pytest.raises(InputFileError, match=r"dim = 2, but 'stress' has 2 batch axes in this call; expected -2 to 1"):
        model.forward({"stress": random(4, 3, 6)})
    with pytest.raises(InputFileError, match=r"has no batch axes in this call. Pass a batch"):
        model.forward({"stress": random(6)})


def test_one_bad_row_spoils_the_call(write):
    x = random(4, 6)
    x[2, 1] = torch.nan
    with pytest.raises(InputError, match=r"'stress' .* in row 2 .*all rows depend on it"):
        law(write, MEAN.format(dim=0), "mean").forward({"stress": x})


def test_no_adjoint(write):
    with pytest.raises(FatalError, match="reduces a batch axis"):
        law(write, MEAN.format(dim=0), "mean").param_vjp({"stress": random(4, 6)}, {})


RESIDUAL = """[residual]
  type = SR2LinearCombination
  from = 'x {by}'
  to = x_residual
[]
"""
UPDATE = """[update]
  type = ImplicitUpdate
  equation_system = eqs
  solver = newton
  {predictor}
[]
[]
[EquationSystems]
[eqs]
  type = NonlinearSystem
  model = {system}
  unknowns = x
[]
[]
[Solvers]
[newton]
  type = Newton
  linear_solver = lu
[]
[lu]
  type = DenseLU
[]
"""
BOTH = """[system]
  type = ComposedModel
  models = 'mean residual'
[]
"""
IN_RESIDUAL = MEAN.format(dim=0) + RESIDUAL.format(by="mean") + BOTH + UPDATE.format(predictor="", system="system")
IN_PREDICTOR = (
    MEAN.format(dim=0).replace("to = mean", "to = x")
    + RESIDUAL.format(by="stress")
    + UPDATE.format(predictor="predictor = mean", system="residual")
)


@pytest.mark.parametrize("text", [IN_RESIDUAL, IN_PREDICTOR], ids=["residual", "predictor"])
def test_not_in_an_implicit_update(write, text):
    with pytest.raises(InputFileError, match="SR2DynamicMean cannot be in an implicit update"):
        law(write, text, "update")


@pytest.mark.parametrize("text", [IN_RESIDUAL, IN_PREDICTOR], ids=["residual", "predictor"])
def test_not_compiled_in_an_implicit_update(write, text):
    path = write(f"[Models]\n{text}\n[]")
    with pytest.raises(CompileError, match="SR2DynamicMean reduces the rows of a call"):
        Planner(Request(path, "update"))
