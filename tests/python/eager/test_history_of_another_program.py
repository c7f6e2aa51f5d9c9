"""A strain history compared with another program.

Expected values: neml2 3.1.0 with torch 2.12.1, float64, tolerances 1e-12, on the same laws (one block renamed).
"""

from pathlib import Path

import pytest
import torch

from matlaw.eager import EagerModel

EXAMPLES = Path(__file__).parents[3] / "examples" / "models"

#: Uniaxial strain: t, strain xx; loading to 0.5 %, then unloading.
HISTORY = [(1.0, 1e-3), (2.0, 2e-3), (3.0, 4e-3), (4.0, 5e-3), (5.0, 4e-3), (6.0, 2e-3)]

#: Per law and step: equivalent plastic strain, plastic strain xx, stress xx and yy.
EXPECTED = {
    "j2_viscoplastic": [
        (0.0, 0.0, 269.2307692307692, 115.38461538461539),
        (0.00015326940011094797, 0.00015326940011094794, 514.8816307521619, 242.55918462391907),
        (0.0014254774796307, 0.0014254774796306996, 857.6188492875849, 571.1905753562079),
        (0.002103691469251281, 0.0021036914692512806, 1022.5090047305723, 738.7454976347141),
        (0.002103691469251281, 0.0021036914692512806, 753.2782354998031, 623.3608822500987),
        (0.002103691469251281, 0.0021036914692512806, 214.81669703826458, 392.5916514808678),
    ],
    "j2_plastic": [
        (0.0, 0.0, 269.2307692307692, 115.38461538461539),
        (0.00024785721952152345, 0.00024785721952152345, 500.3296585351502, 249.83517073242484),
        (0.001569938588617487, 0.0015699385886174873, 835.3940632896173, 582.3029683551912),
        (0.002231088955655334, 0.002231088955655334, 1002.909391437641, 748.5453042811796),
        (0.002231088955658735, 0.002231088955658735, 733.6786222063485, 633.1606888968257),
        (0.002231088955658735, 0.002231088955658735, 195.21708374481003, 402.391458127595),
    ],
}


@pytest.mark.parametrize("law", EXPECTED)
def test_uniaxial_strain(law):
    tight = ["Solvers/newton/abs_tol:=1e-12", "Solvers/newton/rel_tol:=0", "Solvers/newton/max_its:=40"]
    model = EagerModel(EXAMPLES / f"{law}.i", "model", overrides=tight)
    values = {p.old: torch.tensor(p.initial, dtype=torch.float64) for p in model.state_pairs}
    values = {name: v if v.numel() == 6 else v[0] for name, v in values.items()}
    for (t, strain), (ep, plastic, xx, yy) in zip(HISTORY, EXPECTED[law], strict=True):
        values["strain"] = torch.zeros(6, dtype=torch.float64)
        values["strain"][0] = strain
        values["t"] = torch.tensor(t, dtype=torch.float64)
        out = model.forward(values)
        expected = {
            "equivalent_plastic_strain": torch.tensor(ep, dtype=torch.float64),
            "plastic_strain": torch.tensor([plastic, -plastic / 2, -plastic / 2, 0, 0, 0], dtype=torch.float64),
            "stress": torch.tensor([xx, yy, yy, 0, 0, 0], dtype=torch.float64),
        }
        for name, value in expected.items():
            torch.testing.assert_close(out[name], value, rtol=1e-8, atol=1e-11 if name != "stress" else 1e-6)
        for pair in model.state_pairs:
            values[pair.old] = out[pair.current] if pair.role == "state" else values[pair.current]
