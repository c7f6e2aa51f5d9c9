"""What the tests of the UMAT interface share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from umat_host import Umat

from matlaw.umat import write_plugin


@pytest.fixture
def plugin(artifact: Callable[[str], Path], tmp_path: Path) -> Callable[..., Umat]:
    """``plugin("j2_plastic-native")`` is the shared artifact as a loaded plugin, for a Fortran host."""

    def load(name: str, as_name: str = "law", host: str = "abaqus", **options: Any) -> Umat:
        stub = artifact(name) / "model_aoti.i"
        written = write_plugin(stub, "model", tmp_path / as_name, host=host, link=True, **options)
        places = {name: first - 1 for name, _, first, _ in written.mapping.statev}
        return Umat(written.shared, places | {"out of plane": written.mapping.out_of_plane - 1})

    return load


@pytest.fixture
def unsymmetric(tmp_path: Path) -> Path:
    """An elastic law with a stiffness that is not symmetric."""
    stiffness = [[200.0 + 7.0 * i * j + 11.0 * i for j in range(6)] for i in range(6)]
    path = tmp_path / "unsymmetric.i"
    path.write_text(
        f"""
[Tensors]
  [stiffness]
    type = Python
    expr = 'SSR4(torch.tensor({stiffness}, dtype=torch.float64))'
  []
  [no_turn]
    type = Python
    expr = 'MRP(torch.zeros(3, dtype=torch.float64))'
  []
[]
[Models]
  [turn]
    type = MRPConstantParameter
    value = 'no_turn'
    parameter = 'orientation'
  []
  [elasticity]
    type = GeneralElasticity
    strain = 'strain'
    stress = 'stress'
    orientation = 'orientation'
    elastic_stiffness_tensor = 'stiffness'
  []
  [model]
    type = ComposedModel
    models = 'turn elasticity'
  []
[]
"""
    )
    return path
