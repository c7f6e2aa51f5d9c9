"""Several laws side by side: the points of a host with one law for each block of its mesh."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from matlaw import _core
from matlaw.errors import FatalError
from matlaw.host.quadrature_batch import Array, Kinematics, QuadratureBatch, handle_of, integers, saved_bytes
from matlaw.runtime.compiled import CompiledModel

if TYPE_CHECKING:
    from matlaw.eager import EagerModel


class BatchGroup:
    """Batches that share out the points ``0 ... n_points - 1`` of a host, which sees one set of arrays.

    ::

        group = BatchGroup(n_points)
        group.add("steel", steel, steel_points)
        group.add("rubber", rubber, rubber_points)
        group.set_input("strain", strain)                  # (n_points, 6)
        if group.evaluate(tangent=True).ok:
            group.output("stress")                         # (n_points, 6)
            group.commit()                                 # all batches, or none
        else:
            group.revert()

    ``group["steel"]`` is a :class:`QuadratureBatch`, for state, parameters and outputs that the other laws do not have.

    :param n_points: number of points of the host
    """

    def __init__(self, n_points: int) -> None:
        self._group = _core.BatchGroup(n_points)
        self._batches: dict[str, QuadratureBatch] = {}

    def __repr__(self) -> str:
        return f"BatchGroup({', '.join(map(repr, self._batches.values()))})"

    def add(
        self,
        name: str,
        model: CompiledModel | EagerModel,
        points: Sequence[int] | npt.NDArray[np.integer],
        kinematics: Kinematics | str = "3d",
    ) -> QuadratureBatch:
        """Give `points` a law; none of them has one yet.

        :raises FatalError: a point has a law already or does not exist, `name` is taken, or what
            :class:`QuadratureBatch` raises
        """
        if isinstance(kinematics, str):
            kinematics = Kinematics(kinematics)
        batch = self._group.add(name, handle_of(model), integers(points), *kinematics.arguments())
        self._batches[name] = QuadratureBatch.around(model, batch)
        return self._batches[name]

    @property
    def n_points(self) -> int:
        """Number of points of the host."""
        return self._group.n_points

    @property
    def names(self) -> list[str]:
        """Names of the batches."""
        return list(self._batches)

    def __getitem__(self, name: str) -> QuadratureBatch:
        try:
            return self._batches[name]
        except KeyError:
            raise FatalError(f"BatchGroup: there is no batch '{name}'; there are: {', '.join(self._batches)}") from None

    def points(self, name: str) -> npt.NDArray[np.int64]:
        """Return the host's points of a batch, in its order."""
        return self._group.points(name)

    def set_input(self, name: str, values: npt.ArrayLike) -> None:
        """Copy the values of an input to every batch whose law has it.

        :param values: ``(n_points, *shape)``, or a number for a scalar
        :raises FatalError: no law has this input, or the number of values is wrong
        """
        self._group.set_input(name, np.asarray(values, dtype=np.float64, order="C"))

    def evaluate(self, tangent: bool = False) -> _core.Verdict:
        """Evaluate every batch; the verdict is in the host's numbering.

        :raises FatalError: some point has no law, or what :meth:`QuadratureBatch.evaluate` raises
        """
        return self._group.evaluate(tangent)

    def output(self, name: str) -> Array:
        """Return an output that all laws have, ``(n_points, *sub_batch, *base)``."""
        return self._group.output(name)

    def tangent(self, output: str, given: str) -> Array:
        """Return a derivative that all laws have, ``(n_points, *out_shape, *in_base)``."""
        return self._group.tangent(output, given)

    def commit(self) -> None:
        """Accept the step in every batch.

        :raises FatalError: some point failed or was not evaluated; no batch is committed then
        """
        self._group.commit()

    def revert(self) -> None:
        """Reject the step in every batch."""
        self._group.revert()

    def save(self) -> bytes:
        """Return what :meth:`QuadratureBatch.save` does, for all batches."""
        return self._group.save()

    def restore(self, saved: bytes) -> None:
        """Take back what :meth:`save` returned, bit for bit.

        :raises FatalError: the bytes are damaged or belong to other batches, laws or points; nothing is changed then
        """
        self._group.restore(saved_bytes("BatchGroup", saved))
