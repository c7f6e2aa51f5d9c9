"""A polycrystal over a history, with grains that start from orientations of their own."""

import pytest
import torch
from driver_inputs import EXAMPLES

from matlaw.drivers import run_driver

DRIVER = """
!include {law}

[Tensors]
  [times]
    type = Python
    expr = 'Scalar(torch.linspace(0, 4, 5))'
  []
  [rates]
    type = Python
    expr = 'SR2(torch.tensor([1e-3, -4e-4, -6e-4, 1e-4, 2e-4, 3e-4]).expand(5, 6))'
  []
  [grains]
    type = Python
    expr = 'MRP(torch.tensor([[0, 0, 0], [0.1, 0.2, 0.3], [-0.2, 0.1, 0.05], [0.3, -0.1, 0.2]]), sub_batch_ndim=1)'
  []
[]

[Drivers]
  [history]
    type = TransientDriver
    model = 'model'
    prescribed_time = 'times'
    prescribed_SR2_names = 'deformation_rate'
    prescribed_SR2_values = 'rates'
    ic_MRP_names = 'orientation'
    ic_MRP_values = 'grains'
  []
[]
"""


@pytest.mark.parametrize("declared", [True, False])
def test_grains_start_from_their_orientations(tmp_path, declared):
    """Without a declaration, the initial orientations tell how many grains there are."""
    text = (EXAMPLES / "models" / "taylor_polycrystal.i").read_text()
    if not declared:
        text = text[: text.index("[Settings]")] + text[text.index("[Tensors]") :]
    (tmp_path / "law.i").write_text(text)
    (tmp_path / "history.i").write_text(DRIVER.format(law="law.i"))
    outcome = run_driver(tmp_path / "history.i", "history")
    last = outcome.history.outputs[-1]
    assert last["orientation"].shape == (4, 3) and last["elastic_strain"].shape == (4, 6)
    assert last["mean_stress"].shape == (6,)
    assert float(last["mean_stress"].abs().max()) > 50.0
    assert torch.unique(last["slip_hardening"]).numel() == 4


def test_one_initial_value_stands_for_all_grains(tmp_path):
    (tmp_path / "law.i").write_text((EXAMPLES / "models" / "taylor_polycrystal.i").read_text())
    outcomes = []
    for grains in ("MRP(torch.tensor([0.1, 0.2, 0.3]))", "MRP(torch.tensor([[0.1, 0.2, 0.3]] * 4), sub_batch_ndim=1)"):
        text = DRIVER.format(law="law.i")
        start = text.index("'MRP(torch.tensor([[0, 0, 0]")
        end = text.index("\n", start)
        (tmp_path / "history.i").write_text(text[:start] + f"'{grains}'" + text[end:])
        outcomes.append(run_driver(tmp_path / "history.i", "history").history.outputs)
    one, each = outcomes
    assert one[-1]["orientation"].shape == (4, 3)
    assert torch.equal(one[-1]["orientation"], each[-1]["orientation"])
    assert torch.equal(one[-1]["mean_stress"], each[-1]["mean_stress"])
