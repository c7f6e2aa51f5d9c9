"""A plate in tension with scikit-fem: two-dimensional, with a law of matlaw under plane stress.

matlaw-compile ../../models/j2_plastic.i --model model -d stress:strain
python scikit_fem_plate.py aoti/model_aoti.i
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from skfem import Basis, BilinearForm, ElementQuad1, ElementVector, LinearForm, MeshQuad, condense, solve

import matlaw

SHEAR = np.sqrt(0.5)


def mandel(gradient: Any) -> np.ndarray:
    """Strain components xx, yy, sqrt2 xy of a displacement gradient (2, 2, ...)."""
    return np.stack([gradient[0][0], gradient[1][1], SHEAR * (gradient[0][1] + gradient[1][0])])


@LinearForm
def internal_force(v: Any, w: Any) -> Any:
    """Virtual work of the stress (3, elements, points)."""
    return np.einsum("iep,iep->ep", mandel(v.grad), w["stress"])


@BilinearForm
def stiffness(u: Any, v: Any, w: Any) -> Any:
    """Tangent (3, 3, elements, points) between two strains."""
    return np.einsum("iep,ijep,jep->ep", mandel(v.grad), w["tangent"], mandel(u.grad))


class Plate:
    """Unit square, held at the left and pulled at the right edge.

    :param law: a law from :func:`matlaw.load_model`
    :param hypothesis: ``plane_stress`` or ``plane_strain``
    :param refinements: the mesh has ``4**refinements`` elements
    """

    def __init__(self, law: Any, hypothesis: str = "plane_stress", refinements: int = 3) -> None:
        self.basis = Basis(MeshQuad().refined(refinements), ElementVector(ElementQuad1()), intorder=3)
        self.points = self.basis.dx.shape
        self.batch = matlaw.QuadratureBatch(law, self.basis.dx.size, hypothesis)
        self.u = self.basis.zeros()
        self.iterations: list[int] = []
        left = self.basis.get_dofs(lambda x: x[0] == 0.0).all()
        self.right = self.basis.get_dofs(lambda x: x[0] == 1.0).all("u^1")
        self.prescribed = np.union1d(left, self.basis.get_dofs(lambda x: x[0] == 1.0).all())
        self.force = 0.0

    def law(self, u: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
        """Stress and tangent at all quadrature points, in one call of the law."""
        strain = mandel(self.basis.interpolate(u).grad)
        self.batch.set_input("strain", strain.reshape(3, -1).T)
        if "t" in self.batch.input_names:
            self.batch.set_input("t", t)
        verdict = self.batch.evaluate(tangent=True)
        if not verdict.ok:
            raise matlaw.ConvergenceError("the law did not converge", verdict.failed_rows)
        stress = self.batch.output("stress").T.reshape(3, *self.points)
        tangent = np.moveaxis(self.batch.tangent("stress", "strain"), 0, -1).reshape(3, 3, *self.points)
        return stress, tangent

    def step(self, stretch: float, t: float) -> None:
        """Newton to equilibrium with the right edge displaced by `stretch`.

        :raises ConvergenceError: the law or the iteration did not converge; the state is the old one
        """
        u = self.u.copy()
        change = self.basis.zeros()
        change[self.right] = stretch - u[self.right]
        for iteration in range(20):
            stress, tangent = self.law(u, t)
            residual = internal_force.assemble(self.basis, stress=stress)
            free = np.linalg.norm(np.delete(residual, self.prescribed))
            if iteration > 0 and free <= 1e-10 * np.linalg.norm(residual[self.prescribed]):
                break
            matrix = stiffness.assemble(self.basis, tangent=tangent)
            u += solve(*condense(matrix, -residual, x=change, D=self.prescribed))
            change[:] = 0.0
        else:
            self.batch.revert()
            raise matlaw.ConvergenceError("no equilibrium in 20 iterations", [])
        self.batch.commit()
        self.iterations.append(iteration)
        self.u = u
        self.force = float(residual[self.right].sum())


def main() -> None:
    """Pull in ten steps."""
    plate = Plate(matlaw.load_model(sys.argv[1], "model"))
    for k in range(1, 11):
        plate.step(1e-3 * k, 0.1 * k)
        print(f"stretch {1e-3 * k:.4f}  force {plate.force:10.4f}  iterations {plate.iterations[-1]}")


if __name__ == "__main__":
    main()
