"""The prescribed values of all conditions together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from matlaw.fe.bcs.conditions import NodalCondition


class Constraints:
    """Which degrees of freedom are prescribed, and their values.

    :param present: the degrees of freedom that there are, ``(n_dofs,)`` bool
    :ivar dofs: prescribed degrees of freedom, ascending
    :ivar free: the others, ascending
    :ivar preset: which of the prescribed ones are set before the first iteration, ``(len(dofs),)`` bool
    """

    def __init__(self, conditions: Sequence[NodalCondition], present: np.ndarray) -> None:
        self._conditions = list(conditions)
        prescribed = np.zeros(len(present), bool)
        preset = np.zeros(len(present), bool)
        for condition in self._conditions:
            prescribed[condition.dofs] = True
            preset[condition.dofs] = condition.preset
        self.dofs = np.flatnonzero(prescribed)
        self.free = np.flatnonzero(present & ~prescribed)
        self.preset = preset[self.dofs]
        self._n_dofs = len(present)

    def values(self, t: float) -> np.ndarray:
        """Prescribed values at time ``t``, ``(len(dofs),)``; where conditions overlap the last one holds.

        :raises InputFileError: a condition gives NaN or infinity
        """
        full = np.zeros(self._n_dofs)
        for condition in self._conditions:
            full[condition.dofs] = condition.finite(condition.prescribed(t), t)
        return full[self.dofs]
