"""A cube of 20 x 20 x 20 hexahedra, ten plastic steps: where the run time goes, and the law's share of it."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from matlaw.artifact import compile_model
from matlaw.fe import run

INPUT = Path(__file__).with_name("fe_cube.i")
LAW = Path(__file__).parents[1] / "examples" / "models" / "j2_plastic.i"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=20, help="elements along an edge")
    parser.add_argument("--backend", default="native", choices=("native", "inductor", "both"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        compile_model(LAW, "model", Path(folder), derivatives=["stress:strain"], backend=options.backend)
        overrides = [f"Mesh/cube/n{axis}:={options.n}" for axis in "xyz"]
        overrides.append(f"Matlaw/steel/input:={Path(folder) / 'model_aoti.i'}")
        result = run(INPUT, overrides, folder, quiet=True)
    problem = result.problem
    steps, iterations = len(result.records), sum(record.newton_iterations for record in result.records)
    law, total = problem.law_seconds(), problem.timing.total
    points = sum(laws.n_points * laws.calls for laws in problem.laws)
    print(f"{steps} steps, {iterations} Newton iterations, {problem.discretisation.n_dofs} displacements")
    print(
        f"law: {law:.2f} s of {total:.2f} s, {100 * law / total:.1f} % of the run, {1e6 * law / points:.3f} us a point"
    )


if __name__ == "__main__":
    main()
