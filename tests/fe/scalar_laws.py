"""Uniaxial tension of the laws in examples/models, reduced to one scalar equation per step and solved by bracketing.

Run as a script it writes the gold files of moose_app/test/tests; every number there comes from here, none from matlaw.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.optimize import brentq

YOUNG, POISSON = 200000.0, 0.3
YIELD, SATURATED, RATE = 250.0, 100.0, 20.0
REFERENCE, EXPONENT = 100.0, 5.0
ROOT = np.sqrt(2.0 / 3.0)


def flow_stress(p: float) -> float:
    """Yield stress after an equivalent plastic strain p (Voce)."""
    return YIELD + SATURATED * (1.0 - np.exp(-RATE * p))


def plastic_step(strain: float, plastic: float, p: float) -> tuple[float, float]:
    """Rate-independent step: plastic strain and equivalent plastic strain at its end."""
    trial = YOUNG * (strain - plastic)
    sign = np.sign(trial)
    if abs(trial) <= flow_stress(p):
        return plastic, p
    increment = brentq(lambda d: abs(trial) - YOUNG * d - flow_stress(p + d), 0.0, abs(trial) / YOUNG, xtol=1e-17)
    return plastic + sign * increment, p + increment


def viscous_step(strain: float, plastic: float, p: float, dt: float) -> tuple[float, float]:
    """Backward Euler step of Perzyna's overstress law.

    The yield function of the laws is that of the norm of the deviator, sqrt(2/3) times the uniaxial overstress; its
    slope with respect to the hardening, sqrt(2/3), is the ratio of the equivalent plastic strain to the flow.
    """
    trial = YOUNG * (strain - plastic)
    sign = np.sign(trial)
    if abs(trial) <= flow_stress(p):
        return plastic, p

    def error(increment: float) -> float:
        overstress = max(abs(trial) - YOUNG * increment - flow_stress(p + increment), 0.0)
        return increment - dt * ROOT * (ROOT * overstress / REFERENCE) ** EXPONENT

    increment = brentq(error, 0.0, abs(trial) / YOUNG, xtol=1e-17)
    return plastic + sign * increment, p + increment


def history(times: list[float], strain: Callable[[float], float], viscous: bool) -> list[dict[str, float]]:
    """Strain, stress and equivalent plastic strain at the given times, the first being the initial state."""
    rows = [{"time": times[0], "strain_xx": 0.0, "stress_xx": 0.0, "equivalent_plastic_strain": 0.0}]
    plastic = p = 0.0
    for before, now in pairwise(times):
        total = strain(now)
        plastic, p = viscous_step(total, plastic, p, now - before) if viscous else plastic_step(total, plastic, p)
        stress = YOUNG * (total - plastic)
        rows.append({"time": now, "strain_xx": total, "stress_xx": stress, "equivalent_plastic_strain": p})
    return rows


def write(path: Path, rows: list[dict[str, float]]) -> None:
    """Write rows as MOOSE does: time first, then the names in order."""
    names = ["time", *sorted(name for name in rows[0] if name != "time")]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([f"{row[name]:.14g}" for name in names] for row in rows)


def patch_rows() -> list[dict[str, float]]:
    """The patch test: Hooke's law for its strain."""
    lame = YOUNG * POISSON / ((1 + POISSON) * (1 - 2 * POISSON))
    shear = YOUNG / (2 * (1 + POISSON))
    strain = {"xx": 1e-3, "yy": -1e-3, "zz": 5e-4, "yz": -5e-4, "xz": 1.5e-3, "xy": 2e-3}
    rows = []
    for t in (0.0, 0.5, 1.0):
        volumetric = lame * sum(strain[axis] for axis in ("xx", "yy", "zz"))
        stress = {name: t * (2 * shear * e + (volumetric if name[0] == name[1] else 0.0)) for name, e in strain.items()}
        differences = [stress["xx"] - stress["yy"], stress["yy"] - stress["zz"], stress["zz"] - stress["xx"]]
        shears = [stress["yz"], stress["xz"], stress["xy"]]
        equivalent = np.sqrt(0.5 * sum(d * d for d in differences) + 3 * sum(s * s for s in shears))
        row = {"time": t, "vonmises_min": equivalent, "vonmises_max": equivalent}
        for name, value in stress.items():
            row[f"stress_{name}_min"] = row[f"stress_{name}_max"] = value
        rows.append(row)
    return rows


def pressure_rows() -> list[dict[str, float]]:
    """A block of 2 x 3 x 4 under pressure."""
    rows = []
    for t in (0.0, 1.0, 2.0):
        stress = -100.0 * t
        strain = stress / YOUNG
        rows.append(
            {
                "time": t,
                "force": stress * 12.0,
                "shortening": 2.0 * strain,
                "stress_xx": stress,
                "stress_yy_abs": 0.0,
                "widening": -3.0 * POISSON * strain,
            }
        )
    return rows


def plastic_strain_history(t: float) -> float:
    """Load of plasticity/uniaxial.i."""
    return float(np.interp(t, [0, 1, 2, 3], [0, 0.01, 0.007, 0.02]))


def jump_history(t: float) -> float:
    """Load of cutback/jump.i."""
    return float(np.interp(t, [0, 2, 3, 5], [0, 0.002, 0.022, 0.022]))


#: accepted steps of cutback/jump.i, each with the attempts that failed so far.
#: During the jump, 2 s to 3 s, steps of 0.25 s and more fail, as does the first one of 2 s; the rest are MOOSE's rules:
#: halve at failure, no growth right after it, else double.
JUMP_STEPS: list[tuple[float, int]] = [
    *((1.0, 0), (1.0, 1)),
    *((0.125, 4), (0.125, 4), (0.125, 5), (0.125, 5), (0.125, 6), (0.125, 6), (0.125, 7), (0.125, 7)),
    *((0.25, 7), (0.5, 7), (1.0, 7), (0.25, 7)),
]


def jump_rows(steps: list[tuple[float, int]]) -> list[dict[str, float]]:
    """cutback/jump.i for accepted steps, each with its size and the attempts that failed so far."""
    times = [0.0]
    for dt, _ in steps:
        times.append(times[-1] + dt)
    rows = history(times, jump_history, viscous=True)
    for row, (dt, failed) in zip(rows, [(0.0, 0), *steps], strict=True):
        row.update(dt=dt, failed=float(failed))
    return rows


def main() -> None:
    """Write the gold files."""
    tests = Path(__file__).parents[2] / "moose_app" / "test" / "tests"
    write(tests / "elasticity/gold/patch_out.csv", patch_rows())
    write(tests / "elasticity/gold/pressure_out.csv", pressure_rows())
    quarters = [0.25 * step for step in range(13)]
    write(tests / "plasticity/gold/uniaxial_out.csv", history(quarters, plastic_strain_history, viscous=False))
    seconds = [float(step) for step in range(11)]
    write(
        tests / "viscoplasticity/gold/uniaxial_out.csv", history(seconds, lambda t: 0.001 * min(t, 6.0), viscous=True)
    )
    write(tests / "cutback/gold/jump_out.csv", jump_rows(JUMP_STEPS))


if __name__ == "__main__":
    main()
