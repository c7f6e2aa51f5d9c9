"""A viscoplastic history against neml2 3.1.0 (PyPI, torch 2.12.1), run on the same input (TransientDriver)."""

import torch
from driver_inputs import EXAMPLES

from matlaw.drivers import run_driver

INPUT = """
[Tensors]
  [times]
    type = Python
    expr = 'Scalar(torch.tensor([0.0, 1.0, 2.0, 4.0, 5.0]))'
  []
  [strains]
    type = Python
    expr = '
      factor = torch.tensor([0.0, 0.1, 0.2, 0.35, 0.2]).reshape(5, 1, 1)
      rows = torch.tensor([[0.01, -0.003, -0.004, 0.0, 0.001, 0.002], [0.002, -0.001, -0.001, 0.0, 0.0, 0.003]])
      result = SR2(factor * rows)
    '
  []
[]
[Drivers]
  [history]
    type = TransientDriver
    model = 'model'
    prescribed_time = 'times'
    prescribed_SR2_names = 'strain'
    prescribed_SR2_values = 'strains'
    ic_Scalar_names = 'equivalent_plastic_strain'
    ic_Scalar_values = '0.002'
  []
[]
"""
#: Solver tolerances 1e-10 in both programs.
OVERRIDES = ["Solvers/newton/abs_tol:=1e-10", "Solvers/newton/rel_tol:=1e-10", "Solvers/newton/max_its:=50"]
EQUIVALENT_PLASTIC_STRAIN = {
    1: [0.002, 0.002],
    2: [0.0026091964182017864, 0.002],
    3: [0.003975414571296843, 0.0020000004404454722],
    4: [0.003975414571296843, 0.0020000004404454722],
}
STRESS = {
    1: [188.46153846153845, -11.538461538461547, -26.923076923076927, 0.0, 15.384615384615385, 30.76923076923077],
    2: [285.25243699289956, 17.66558355871136, -2.9180205516107947, 0.0, 20.58360411032217, 41.16720822064434],
    3: [362.359011354509, 91.72932828688506, 70.91166035860627, 0.0, 20.817667928278762, 41.635335856557525],
    4: [79.66670366220137, 109.03702059457737, 111.29627574322167, 0.0, -2.2592551486443107, -4.518510297288621],
}
#: Of the second row at step 3.
SECOND = [107.69226483658838, -53.84613241829419, -53.84613241829419, 0.0, 0.0, 161.53839725488257]


def test_history_of_another_program(write):
    path = write(f"!include {EXAMPLES / 'models' / 'j2_viscoplastic.i'}\n{INPUT}")
    history = run_driver(path, "history", OVERRIDES).history
    for step, expected in EQUIVALENT_PLASTIC_STRAIN.items():
        found = history.get("output", step, "equivalent_plastic_strain")
        assert torch.allclose(found, torch.tensor(expected, dtype=torch.float64), rtol=1e-8, atol=1e-14)
    for step, expected in STRESS.items():
        found = history.get("output", step, "stress")[0]
        assert torch.allclose(found, torch.tensor(expected, dtype=torch.float64), rtol=1e-8, atol=1e-6)
    second = history.get("output", 3, "stress")[1]
    assert torch.allclose(second, torch.tensor(SECOND, dtype=torch.float64), rtol=1e-8, atol=1e-6)


def test_the_names_are_those_of_the_other_program(write):
    path = write(f"!include {EXAMPLES / 'models' / 'j2_viscoplastic.i'}\n{INPUT}")
    names = set(run_driver(path, "history", OVERRIDES).history.flat())
    assert {"input.0.t", "input.0.strain", "output.0.equivalent_plastic_strain", "input.1.t~1"} <= names
    assert {"input.2.plastic_strain~1", "output.4.stress", "output.4.plastic_strain"} <= names
    assert "output.0.stress" not in names
