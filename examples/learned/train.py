"""Train a network to reproduce J2 plasticity with hardening, compile it, and run both laws in matlaw-fe.

    python examples/learned/train.py [--out out/learned]

Writes the weights, the compiled law, the results of both runs and a picture of both stress-strain curves and their
tangents; takes about a minute, most of it for the compiler.
"""

from __future__ import annotations

import argparse
import csv
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import torch
from network import SHEAR, RadialReturn

import matlaw
from matlaw.artifact import compile_model

HERE = Path(__file__).resolve().parent
ANALYTIC = HERE.parent / "models" / "j2_plastic.i"


def sampled(law: matlaw.EagerModel, rows: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Trial von Mises stress, old equivalent plastic strain and von Mises stress after a step of the analytic law."""
    generator = torch.Generator().manual_seed(1)

    def uniform(*shape: int) -> torch.Tensor:
        return torch.rand(*shape, dtype=torch.float64, generator=generator)

    direction = uniform(rows, 6) - 0.5
    direction[:, :3] -= direction[:, :3].mean(-1, keepdim=True)
    trial = 1500.0 * uniform(rows)
    strain = direction * (trial / (np.sqrt(6.0) * SHEAR * direction.norm(dim=-1))).unsqueeze(-1)
    plastic = 0.15 * uniform(rows)
    zero, nothing = torch.zeros(rows, 6, dtype=torch.float64), torch.zeros(rows, dtype=torch.float64)
    stress = law.forward(
        {
            "strain": strain,
            "t": nothing + 1.0,
            "t~1": nothing,
            "plastic_strain~1": zero,
            "equivalent_plastic_strain~1": plastic,
            "flow_rate~1": nothing,
        }
    )["stress"]
    deviator = stress.clone()
    deviator[:, :3] -= stress[:, :3].mean(-1, keepdim=True)
    return trial, plastic, np.sqrt(1.5) * deviator.norm(dim=-1)


def trained(trial: torch.Tensor, plastic: torch.Tensor, reached: torch.Tensor, steps: int = 60) -> RadialReturn:
    """A module whose flow stress is what the samples reached, where they flow; above the trial stress elsewhere."""
    torch.manual_seed(2)
    module = RadialReturn()
    flows = reached < trial - 1e-6
    optimizer = torch.optim.LBFGS(module.parameters(), max_iter=20, history_size=30, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        flow = module.flow_stress(trial, plastic)
        error = torch.where(flows, flow - reached, torch.relu(trial - flow))
        value = (error / 50.0).square().mean()
        value.backward()
        return value

    for _ in range(steps):
        optimizer.step(loss)
    with torch.no_grad():
        error = (module.flow_stress(trial, plastic) - reached)[flows].abs()
    print(f"trained: flow stress off by {error.max():.3f} MPa at most, {error.mean():.4f} MPa on average")
    return module


def finite_elements(out: Path, name: str, law: Path) -> dict[str, np.ndarray]:
    """Run bar.i with a law; its postprocessors by name."""
    shutil.copy(HERE / "bar.i", out / f"{name}.i")
    command = [sys.executable, "-m", "matlaw.cli.fe", f"{name}.i", f"Matlaw/steel/input:='{law}'"]
    subprocess.run(command, cwd=out, check=True, stdout=subprocess.DEVNULL)
    with (out / f"{name}_out.csv").open() as file:
        rows = list(csv.DictReader(file))
    return {key: np.array([float(row[key]) for row in rows]) for key in ("strain_xx", "stress_xx")}


def tangents(law: matlaw.EagerModel, strains: np.ndarray) -> np.ndarray:
    """The uniaxial tangent modulus along a path of strains."""
    batch = matlaw.QuadratureBatch(law, 1, "uniaxial_stress")
    found = []
    for step, strain in enumerate(strains):
        batch.set_input("strain", np.full((1, 1), strain))
        if "t" in batch.input_names:
            batch.set_input("t", float(step + 1))
        if not batch.evaluate(tangent=True).ok:
            raise SystemExit(f"{law.name}: no solution at strain {strain}")
        found.append(float(batch.tangent("stress", "strain").ravel()[0]))
        batch.commit()
    return np.array(found)


def plot(curves: dict[str, dict[str, np.ndarray]], file: Path) -> None:
    """Stress over strain, and the tangent over the steps."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for (name, curve), style in zip(curves.items(), ("-", "--"), strict=True):
        left.plot(curve["strain_xx"], curve["stress_xx"], style, label=name)
        right.plot(curve["tangent"] / 1000.0, style, label=name)
    left.set(xlabel="strain", ylabel="stress in MPa")
    right.set(xlabel="step", ylabel="tangent in GPa")
    left.legend()
    figure.savefig(file, dpi=120)


def main() -> int:
    """Train, compile, run, compare."""
    p = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    p.add_argument("--out", default="out/learned", type=Path, help="where everything goes (default: out/learned)")
    p.add_argument("--rows", default=4000, type=int, help="number of samples")
    options = p.parse_args()
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)

    analytic = matlaw.load_model(ANALYTIC, "model")
    module = trained(*sampled(analytic, options.rows))
    for file in ("network.py", "learned_j2.i"):
        shutil.copy(HERE / file, out / file)
    matlaw.save_weights(out / "weights.safetensors", module)
    compile_model(
        out / "learned_j2.i", "model", out / "aoti", ["stress:strain"], backend="native",
        extensions=[str(out / "network.py")], external_weights=[],
    )  # fmt: skip
    learned = matlaw.load_model(out / "aoti" / "model_aoti.i", "model")

    curves = {"analytic": finite_elements(out, "analytic", ANALYTIC)}
    curves["learned"] = finite_elements(out, "learned", out / "aoti" / "model_aoti.i")
    for name, law in (("analytic", analytic), ("learned", learned)):
        curves[name]["tangent"] = tangents(law, curves[name]["strain_xx"][1:])
    off = np.abs(curves["learned"]["stress_xx"] - curves["analytic"]["stress_xx"]).max()
    print(f"stress in the finite-element runs: off by {off:.3f} MPa at most")
    plot(curves, out / "learned.png")
    print(f"wrote {out / 'learned.png'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
