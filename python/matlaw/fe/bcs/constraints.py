"""The prescribed displacements of all conditions together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from matlaw.fe.bcs.conditions import NodalCondition


class Constraints:
    """Which degrees of freedom are prescribed, and their values.

    :ivar dofs: prescribed degrees of freedom, ascending
    :ivar free: the others, ascending
    :ivar preset: which of the prescribed ones are set before the first iteration, ``(len(dofs),)`` bool
    """

    def __init__(self, conditions: Sequence[NodalCondition], n_dofs: int) -> None:
        self._conditions = list(conditions)
        self._dofs = [3 * condition.nodes + condition.component for condition in self._conditions]
        prescribed = np.zeros(n_dofs, bool)
        preset = np.zeros(n_dofs, bool)
        for dofs, condition in zip(self._dofs, self._conditions, strict=True):
            prescribed[dofs] = True
            preset[dofs] = condition.preset
        self.dofs = np.flatnonzero(prescribed)
        self.free = np.flatnonzero(~prescribed)
        self.preset = preset[self.dofs]
        self._n_dofs = n_dofs

    def values(self, t: float) -> np.ndarray:
        """Prescribed displacements at time ``t``, ``(len(dofs),)``; where conditions overlap the last one holds.

        :raises InputFileError: a condition gives NaN or infinity
        """
        full = np.zeros(self._n_dofs)
        for dofs, condition in zip(self._dofs, self._conditions, strict=True):
            full[dofs] = condition.finite(condition.displacement(t), t)
        return full[self.dofs]
