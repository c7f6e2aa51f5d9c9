"""Element vectors and matrices that terms of the equations add to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from matlaw.fe.assembly.unknowns import Unknowns


@dataclass
class Trial:
    """Where the equations are evaluated.

    :ivar u: trial values, ``(n_dofs,)``; ``old`` those at the end of the last step
    :ivar t: time at the end of the step of size ``dt``
    :ivar tangent: derivatives are wanted
    """

    u: np.ndarray
    old: np.ndarray
    t: float
    dt: float
    tangent: bool = True


class ElementArrays:
    """Residuals and tangent matrices of all elements.

    :ivar vectors: ``(n_elements, m)``
    :ivar matrices: ``(n_elements, m, m)``; None when no derivatives are wanted
    """

    def __init__(self, unknowns: Unknowns, tangent: bool) -> None:
        n, m = unknowns.element_dofs.shape
        self.unknowns = unknowns
        self.vectors = np.zeros((n, m))
        self.matrices = np.zeros((n, m, m)) if tangent else None

    def add_vector(self, name: str, elements: np.ndarray, local: np.ndarray) -> None:
        """Add to the equations of a variable, ``(len(elements), m)``; elements may repeat."""
        np.add.at(self.vectors[:, self.unknowns.columns[name]], elements, local)

    def add_matrix(self, name: str, by: str, elements: np.ndarray, local: np.ndarray) -> None:
        """Add the derivative of the equations of variable ``name`` by variable ``by``."""
        if self.matrices is not None:
            np.add.at(self.matrices[:, self.unknowns.columns[name], self.unknowns.columns[by]], elements, local)
